"""What fuzz.py asks of a text, a page, a value, and how it cuts."""

import re
from html.parser import HTMLParser
from itertools import pairwise

from streamkit.fields import Fields
from streamkit.preview import UNSEEN, FieldMap, Preview

OBEYED = re.compile(UNSEEN.pattern)  # compiled here, so that a test may take the kit's own away
TAGS = {"div", "p", "b", "i"}
WAYS = ("text", "line", "counted", "masked")


def cut(chance, data, most: int = 12) -> list:
    """The same bytes or characters in pieces, single ones now and then."""
    if chance.random() < 0.1 and len(data) < 3_000:
        return [data[place : place + 1] for place in range(len(data))]
    places = [0, *sorted(chance.randrange(len(data) + 1) for _ in range(chance.randrange(most))), len(data)]
    return [data[begin:end] for begin, end in pairwise(places)]


def same(one, other) -> bool:
    """By what is written of them: NaN is NaN, and 1 is not True."""
    return repr(one) == repr(other)


def on_terminal(text: str) -> None:
    assert not OBEYED.search(text), "a terminal would obey it"


class Page(HTMLParser):
    """A page of the kit's own elements and nothing else."""

    def handle_starttag(self, tag, attrs):
        assert tag in TAGS and {name for name, _ in attrs} <= {"style", "class"}, "a stranger's element on the page"

    def handle_decl(self, decl):
        raise AssertionError("a declaration on the page")

    handle_pi = unknown_decl = handle_comment = handle_decl


def on_page(text: str) -> None:
    on_terminal(text)
    page = Page()
    page.feed(text)
    page.close()


def map_of(tool: dict) -> FieldMap:
    """Every field of a tool, each shown in another way."""
    fields = list((tool.get("parameters") or {}).get("properties") or {})
    return FieldMap(tool["name"], {field: WAYS[place % 4] for place, field in enumerate(fields)}, tool)


def previewed(text: str, name: str, maps: dict, chance) -> Preview:
    preview = Preview(name, maps)
    for number, piece in enumerate(cut(chance, text, 6)):
        preview.add(piece, number * 0.02)
    preview.end()
    return preview


def settled(pieces: list[str]) -> tuple[dict, dict, list, tuple | None, bool]:
    """What the field scanner gives, whatever the cut: values, strings as streamed, withdrawn keys, the fault, whether it closed."""
    fields, values, streamed, withdrawn, wrong = Fields(), {}, {}, [], None
    for piece in pieces:
        for kind, key, value in fields.feed(piece):
            if kind == "text":
                streamed.setdefault(key, []).append(value)
            elif kind == "value":
                assert key not in values, "a field closed twice"
                values[key] = value
            elif kind == "withdrawn":
                withdrawn.append(key)
            else:
                wrong = tuple(value)
    return values, {key: "".join(parts) for key, parts in streamed.items()}, withdrawn, wrong, fields.closed


def plainly(data: bytes) -> list[tuple[str, str]]:
    """The events of a whole body, as slowly and plainly as section 9.2.6 of WHATWG HTML says it."""
    events, event, held = [], b"", []
    *lines, _ = re.split(rb"\r\n|\r|\n", data.removeprefix(b"\xef\xbb\xbf"))
    for line in lines:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if not line:
            if held:
                text = b"\n".join(held).decode("utf-8", "replace")
                events.append((event.decode("utf-8", "replace") or "message", text))
            event, held = b"", []
        elif name == b"data":
            held.append(value)
        elif name == b"event":
            event = value
    return events
