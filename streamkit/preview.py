"""What a screen may show of a forming call: the field map says which fields and how, a Preview draws them.

A Preview is for eyes and is no arguments: it has no keys, no items and no values, so nothing can pass one to a tool.
"""

import html
import json
import re
from collections.abc import Mapping

from .fields import Fields

LONGEST = {"text": (400, 12), "line": (80, 1)}  # characters and lines drawn of one field; the rest is counted
NAME = 60  # characters drawn of the name of a tool that has no map
HOW = ("text", "line", "counted", "masked")

IDENTIFIER = re.compile(r"(^|_)(ids?|uuid|key|token|number)$|[a-z](Ids?|ID|Uuid|UUID|Key|Token|Number)$")
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)


STYLE = "white-space:pre-wrap;overflow-wrap:anywhere;margin:.2em 0"
ROW = "padding-left:1.5em;text-indent:-1.5em"  # further lines of a value are indented, so that none passes for a field


class BadMap(ValueError):
    """A field map that cannot hold: of which tool and field, what was expected and what came."""


class FieldMap:
    """What a screen may show of one tool's calls; a field that is not listed is hidden.

    `label`: what the screen calls the tool. `show`: for each field how: "text", "line" (one line), "counted" (how long it
    is) or "masked" (that it is there). A field shows once it is closed; "growing" added to one of the first three lets a
    string show while it arrives: for prose meant for reading. `tool`: the offered tool, whose schema gives the order. What
    is listed shows whole, with all that is nested in it. Raises BadMap, also where an identifier, a number or a choice is
    to grow.
    """

    def __init__(self, label: str, show: Mapping[str, str] | None = None, tool: Mapping | None = None):
        self.label = label
        schema = ((tool or {}).get("parameters") or {}).get("properties") or {}
        listed = {}
        for field, words in (show or {}).items():
            how, _, growing = words.partition(" ")
            if how not in HOW or growing not in ("", "growing") or (growing and how == "masked"):
                fault = f"{', '.join(HOW)} was expected, the first three also with growing, and {words!r} came"
            elif schema and field not in schema:
                fault = f"a field of the schema was expected: {', '.join(schema)}"
            elif growing and not _prose(field, schema.get(field, {})):
                fault = "only prose may grow on the screen, and this is an identifier, a number or a choice"
            else:
                listed[field] = (how, bool(growing))
                continue
            raise BadMap(f"{label}, field {field}: {fault}")
        self.show = {field: listed[field] for field in [*schema, *listed] if field in listed}


class Preview:
    """One forming call on a screen: its label and, in the map's order, the fields that the map lets through.

    `maps`: a FieldMap for each tool's name; without one the call shows its name only. `add` takes a fragment and the time it
    came at, and says whether it is time to draw: something visible changed, and the last drawing is at least `every` seconds
    old. When the text has ended, `end` and draw once more. A fragment costs the same however much came before it; a drawing
    costs what it shows, and that is capped (LONGEST).
    """

    __slots__ = ("_changed", "_drawn_at", "_ended", "_fields", "_label", "_rows", "changes", "drawings", "every")

    def __init__(self, name: str, maps: Mapping[str, FieldMap] | None = None, every: float = 0.05):
        known = (maps or {}).get(name)
        self._label = visible(known.label) if known else _cut(name, len(name), NAME, 1) or "a tool without a name"
        self._rows = {field: _Row(*how) for field, how in known.show.items()} if known else {}
        self._fields = Fields()
        self._ended = False
        self._changed, self._drawn_at = True, float("-inf")
        self.every, self.changes, self.drawings = every, 1, 0

    def add(self, fragment: str, at: float) -> bool:
        """Take a fragment (text) that came at `at` (seconds); True when it is time to draw."""
        for kind, key, value in self._fields.feed(fragment):
            row = self._rows.get(key)
            if row.take(kind, value) if row else kind == "wrong" and self._rows:
                self._changed = True
                self.changes += 1
        return self.due(at)

    def due(self, at: float) -> bool:
        """True when it is time to draw, for a caller who looks between two fragments. It counts as drawn then."""
        if not self._changed or at - self._drawn_at < self.every:
            return False
        self._changed, self._drawn_at = False, at
        self.drawings += 1
        return True

    def end(self) -> None:
        """No more text comes: what has not arrived is no longer waited for, and what has not closed is said to be cut off."""
        self._ended = True

    @property
    def pace(self) -> str:
        """What the throttle left out, in one sentence."""
        return f"{self.changes:,} changes, {self.drawings:,} drawings: at most one every {self.every:g} s"

    def to_text(self, labelled: bool = True) -> str:
        """The preview for a terminal, a paragraph a field; `labelled`: with the tool's label as its first line."""
        rows = [f"  {name}: {shown}".replace("\n", "\n    ") for name, shown in self._drawn()]
        return "\n".join([self._label, *rows] if labelled else rows)

    def to_html(self, labelled: bool = True) -> str:
        """The preview for a page: everything escaped, and closed to typesetting as mathematics."""
        label = f"<b>{html.escape(self._label)}</b>" if labelled else ""
        rows = "".join(
            f'<div style="{ROW}"><i>{html.escape(name)}</i>: {html.escape(shown)}</div>'
            for name, shown in self._drawn()
        )
        return f'<div class="streamkit-preview tex2jax_ignore mathjax_ignore" style="{STYLE}">{label}{rows}</div>'

    def _repr_mimebundle_(self, **_) -> dict[str, str]:
        return {"text/plain": self.to_text(), "text/html": self.to_html()}

    def _drawn(self) -> list[tuple[str, str]]:
        """Name and drawing of each row; a field still to come holds its place until the text has ended."""
        wrong = self._fields.wrong
        over = self._ended or self._fields.closed or wrong is not None
        rows = [(visible(field), row.draw(over)) for field, row in self._rows.items() if row.begun or not over]
        if wrong and self._rows:
            rows.append(("✗", f"unreadable after {_number(wrong.position, 'character')}"))
        return rows


class _Row:
    """One listed field on its way to the screen."""

    __slots__ = ("_closed", "_count", "_growing", "_how", "_kept", "_pieces", "begun")

    def __init__(self, how: str, growing: bool):
        self._how, self._growing = how, growing
        self._pieces, self._kept, self._count = [], 0, 0  # the head of a growing string, and how long all of it is
        self._closed: str | None = None
        self.begun = False

    def take(self, kind: str, value) -> bool:
        """One event of the field; True where it changes what is drawn."""
        if kind == "text" and not self._growing:
            return False
        self.begun = True
        if kind == "withdrawn":
            self._closed, self._pieces = "not shown: a key came twice", []
        elif kind == "value":
            self._closed, self._pieces = _closed(self._how, value), []
        else:
            self._count += len(value)
            head = value[: LONGEST["text"][0] - self._kept]
            if head:
                self._pieces.append(head)
                self._kept += len(head)
        return True

    def draw(self, over: bool) -> str:
        if self._closed is not None:
            return self._closed
        if not self.begun:
            return "…"
        if self._how == "counted":
            return f"{_number(self._count, 'character')} {'(cut off)' if over else 'so far'}"
        self._pieces = ["".join(self._pieces)]
        return _cut(self._pieces[0], self._count, *LONGEST[self._how]) + ("… (cut off)" if over else "…")


def _closed(how: str, value) -> str:
    """A closed value as its map says; numbers, literals and containers as JSON."""
    if how == "masked":
        return "•••••••• (masked)"  # as many dots whatever they stand for
    if how == "counted":
        if isinstance(value, str | list | dict):
            return _number(len(value), {str: "character", list: "item", dict: "field"}[type(value)])
        return "1 value"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return _cut(text, len(text), *LONGEST[how])


def _cut(head: str, count: int, characters: int, lines: int) -> str:
    """The head of a text of `count` characters, in no more characters and lines than these, with a word on the rest."""
    shown = "\n".join(head[:characters].split("\n")[:lines]) if lines > 1 else head[:characters]
    left = count - len(shown)
    shown = visible(shown if lines > 1 else " ".join(shown.split()))
    return f"{shown} … {_number(left, 'more character')}" if left else shown


def _number(count: int, of: str) -> str:
    return f"{count:,} {of}" + ("" if count == 1 else "s")


def _prose(field: str, schema: Mapping | bool) -> bool:
    """Whether a field may hold text meant for reading, by its name and by its schema."""
    if IDENTIFIER.search(field) or not isinstance(schema, Mapping):
        return False
    types = schema.get("type", "string")
    text = types == "string" or (isinstance(types, list) and "string" in types)
    return text and not {"enum", "const", "format", "pattern"} & set(schema)


def visible(text: str) -> str:
    """The text with all that a screen would obey instead of show (control characters, turns of direction) as escapes."""
    return UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text.replace("\r\n", "\n"))
