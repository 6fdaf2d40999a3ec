"""The preview: what is not listed never reaches the screen, nothing is obeyed, and nobody can run it."""

import copy
import json
import unicodedata
from collections.abc import Iterable, Mapping
from html.parser import HTMLParser

import pytest
from conftest import ALL_CASES
from hypothesis import given, settings
from hypothesis import strategies as st

from streamkit.events import CallDelta
from streamkit.finalise import Ready, Tools, finalise
from streamkit.lab.captures import find_captures, read_capture
from streamkit.lab.cases import turn_of_case
from streamkit.lab.paths import CAPTURES
from streamkit.preview import LONGEST, BadMap, FieldMap, Preview
from streamkit.render import to_html, to_text
from streamkit.strict import NotStrict, strict
from streamkit.turn import TurnBuilder

LETTER = {
    "name": "send_letter",
    "parameters": {
        "type": "object",
        "properties": {
            "to": {"type": "string"},
            "copies": {"type": "integer"},
            "body": {"type": "string"},
            "customer_id": {"type": "string"},
            "class": {"type": "string", "enum": ["first", "second"]},
            "day": {"type": "string", "format": "date"},
            "parts": {"type": "array"},
            "card": {"type": "string"},
        },
    },
}
SENTINEL = "QZXJVKWYQZJXKVYW"


def preview(show=None, text="", **options) -> Preview:
    drawn = Preview("send_letter", {"send_letter": FieldMap("Send a letter", show, LETTER)}, **options)
    drawn.add(text, 0.0)
    return drawn


def rows(show, text) -> list[str]:
    return preview(show, text).to_text().split("\n")[1:]


class Read(HTMLParser):
    """A page as a browser takes it: its text, and the tags that were obeyed."""

    def __init__(self, page: str):
        super().__init__(convert_charrefs=True)
        self.text, self.tags = "", set()
        self.feed(page)
        self.close()

    def handle_data(self, data):
        self.text += data

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)

    def handle_comment(self, data):
        self.tags.add("comment")


# The map


def test_fields_are_drawn_in_the_order_of_the_schema_however_they_come():
    show = {"body": "text", "copies": "text", "to": "line"}
    assert rows(show, '{"body": "Dear Ann", "to": "ann@example.com", "copies": 2}') == [
        "  to: ann@example.com",
        "  copies: 2",
        "  body: Dear Ann",
    ]


def test_a_field_shows_only_once_closed_and_holds_its_place_until_then():
    assert rows({"to": "line", "copies": "text"}, '{"to": "ann@exam') == ["  to: …", "  copies: …"]
    assert rows({"to": "line", "copies": "text"}, '{"to": "ann", "copies": 12') == ["  to: ann", "  copies: …"]
    assert rows({"to": "line", "copies": "text"}, '{"to": "ann"}') == ["  to: ann"]


def test_a_growing_field_shows_while_it_arrives():
    assert rows({"body": "text growing"}, r'{"body": "Dear Ann,\n\u00e9\ud83d') == ["  body: Dear Ann,", "    é…"]
    assert rows({"body": "line growing"}, r'{"body": "Dear Ann,\n\u00e9\ud83d') == ["  body: Dear Ann, é…"]
    assert rows({"body": "counted growing"}, r'{"body": "Dear Ann,\n\u00e9\ud83d') == ["  body: 11 characters so far"]


@pytest.mark.parametrize(
    ("how", "value", "drawn"),
    [
        ("text", '"two\\nlines"', "two\n    lines"),
        ("text", '"two\\r\\nlines"', "two\n    lines"),
        ("line", '"two\\n lines"', "two lines"),
        ("counted", '"four"', "4 characters"),
        ("counted", '"1"', "1 character"),
        ("counted", "[1, 2]", "2 items"),
        ("counted", '{"a": 1}', "1 field"),
        ("counted", "12345", "1 value"),
        ("masked", '"4242"', "•••••••• (masked)"),
        ("masked", "1", "•••••••• (masked)"),
        ("text", "1.50", "1.5"),
        ("text", "true", "true"),
        ("text", "null", "null"),
        ("line", '["é", {"a": null}]', '["é", {"a": null}]'),
    ],
)
def test_how_a_closed_field_is_drawn(how, value, drawn):
    assert "\n".join(rows({"card": how}, f'{{"card": {value} }}')) == f"  card: {drawn}"


@pytest.mark.parametrize("field", ["customer_id", "copies", "class", "day", "parts"])
@pytest.mark.parametrize("how", ["text", "line", "counted"])
def test_identifiers_numbers_and_choices_never_grow(field, how):
    FieldMap("Send", {field: how}, LETTER)
    with pytest.raises(BadMap, match=f"Send, field {field}: only prose may grow"):
        FieldMap("Send", {field: how + " growing"}, LETTER)


def test_numbers_and_literals_never_grow_even_where_no_schema_says_what_they_are():
    maps = {"t": FieldMap("T", {"body": "text growing"})}
    for forming in ("12", "tru", "[1, 2", '{"a": 1'):
        drawn = Preview("t", maps)
        drawn.add('{"body": ' + forming, 0.0)
        assert drawn.to_text() == "T\n  body: …"


@pytest.mark.parametrize("how", ["", "shown", "masked growing", "text  growing", "text growing fast", "growing"])
def test_a_map_says_what_it_does_not_understand(how):
    with pytest.raises(BadMap, match="Send, field to: text, line, counted, masked was expected"):
        FieldMap("Send", {"to": how}, LETTER)


def test_a_map_refuses_a_field_that_the_tool_does_not_have():
    with pytest.raises(BadMap, match="Send, field bodi: a field of the schema was expected: to, copies"):
        FieldMap("Send", {"bodi": "text"}, LETTER)


def test_a_tool_without_a_map_shows_its_name_and_nothing_else():
    for text in ('{"to": "ann", "copies": 1}', "not JSON"):
        drawn = Preview("send_letter")
        drawn.add(text, 0.0)
        assert drawn.to_text() == "send_letter"
        assert Read(drawn.to_html()).text == "send_letter"
        assert not drawn.add("more", 9.0), "nothing to draw again"
    assert Preview("").to_text() == "a tool without a name"


# What must not be seen


def arguments_of_cases_and_captures() -> list[dict]:
    """The arguments of every call; of one that was cut what it would be if it were closed there."""
    turns = [turn_of_case(case) for case in ALL_CASES]
    turns += [read_capture(path).turn() for path in find_captures(CAPTURES)]
    found = []
    for text in [call.text for turn in turns for call in turn.calls]:
        for end in ("", "}", '"}', "]}", '"]}'):
            try:
                found.append(strict(text + end))
            except NotStrict:
                continue
            break
    found = {
        json.dumps(arguments): arguments for arguments in found
    }  # the same call was often recorded over several APIs
    return [arguments for arguments in found.values() if isinstance(arguments, dict) and arguments]


def seen_over_every_prefix(text: str, show: dict) -> bool:
    """Whether any four letters of the sentinel ever stand in the page, drawn after each character."""
    drawn = Preview("tool", {"tool": FieldMap("A tool", show)})
    seen = False
    for character in text:
        drawn.add(character, 0.0)
        page = drawn.to_html() + drawn.to_text() + repr(drawn) + drawn.pace
        seen = seen or SENTINEL[:4] in page
    return seen


@pytest.mark.parametrize("wrap", [lambda secret: secret, lambda secret: {"in": [secret]}], ids=["text", "nested"])
def test_a_hidden_field_is_never_on_the_page_and_the_same_field_listed_is(wrap):
    documents = arguments_of_cases_and_captures()
    assert len(documents) > 50
    for arguments in documents:
        for field in arguments:
            secret = json.dumps(arguments | {field: wrap(SENTINEL)})
            others = {other: "text" for other in arguments if other != field}
            assert not seen_over_every_prefix(secret, others)
            assert seen_over_every_prefix(secret, others | {field: "text"})
            for how in ("masked", "counted"):
                assert not seen_over_every_prefix(secret, others | {field: how})


def test_a_growing_neighbour_and_the_name_of_a_hidden_field_show_nothing_of_it():
    text = json.dumps({"body": "Dear Ann", SENTINEL: SENTINEL, "card": SENTINEL + "\ud83d" + SENTINEL})
    assert not seen_over_every_prefix(text, {"body": "text growing"})


def test_a_field_that_comes_twice_is_taken_back():
    text = '{"to": "ann", "body": "Dear'
    assert rows({"to": "line", "body": "text growing"}, text + '", "to": "bob", "body": "Bob') == [
        "  to: not shown: a key came twice",
        "  body: not shown: a key came twice",
    ]


def test_wrong_text_is_said_to_be_unreadable_and_what_closed_before_it_stays():
    drawn = preview({"to": "line", "body": "text growing"}, '{"to": "ann", "body": "Dear \\x')
    assert drawn.to_text() == "Send a letter\n  to: ann\n  body: Dear … (cut off)\n  ✗: unreadable after 28 characters"


def test_at_the_end_nothing_is_waited_for():
    drawn = preview({"to": "line", "body": "text growing", "card": "masked"}, '{"body": "Dear')
    assert drawn.to_text() == "Send a letter\n  to: …\n  body: Dear…\n  card: …"
    drawn.end()
    assert drawn.to_text() == "Send a letter\n  body: Dear… (cut off)"
    drawn = preview({"body": "counted growing"}, '{"body": "Dear')
    drawn.end()
    assert drawn.to_text() == "Send a letter\n  body: 4 characters (cut off)"


def test_a_call_block_shows_its_preview_below_its_state_and_its_label_once():
    fragments = ['{"body": "Dear <Ann>,\\nhow are you?", "card": "', SENTINEL, '"}']
    builder, drawn = TurnBuilder(), preview({"body": "text growing"})
    for fragment in fragments:
        builder.add(CallDelta(0.0, 0, "call_1", "send_letter", fragment))
        drawn.add(fragment, 0.0)
    labels, previews = {"send_letter": "Send a letter"}, {0: drawn}
    assert to_text(builder.blocks, labels, previews) == (
        "[… Send a letter: preparing]\n  body: Dear <Ann>,\n    how are you?"
    )
    page = Read(to_html(builder.blocks, labels, previews))
    assert page.text == "… Send a letter: preparingbody: Dear <Ann>,\nhow are you?"
    assert to_text(builder.blocks, labels, {0: preview()}) == "[… Send a letter: preparing]"


# What must not be obeyed

TURNS = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")

HOSTILE = (
    st.text(alphabet=st.sampled_from("<>&\"'`$\\{}/!-=\x1b\x07\x00\r\n\t\u202e\u2066\u2028\U000e0041ab é")) | st.text()
)


@given(HOSTILE, HOSTILE, st.sampled_from(["text growing", "text", "line", "line growing"]), st.booleans())
@settings(max_examples=300)
def test_nothing_that_a_model_wrote_is_obeyed(name, value, how, closed):
    text = json.dumps({"field<u>": value, "n": [value, {value: 1}]})
    for drawn in (Preview(name), Preview("t", {"t": FieldMap(name, {"field<u>": how, "n": how.split()[0]})})):
        drawn.add(text if closed else text[:-2], 0.0)
        page, plain = drawn.to_html(), drawn.to_text()
        assert Read(page).tags <= {"div", "b", "i"}
        for character in set(plain + page + Read(page).text) - set("\n\t"):
            assert unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp")
            assert unicodedata.bidirectional(character) not in TURNS
        plain.encode(), page.encode()


def test_mathematics_is_not_typeset():
    assert "tex2jax_ignore mathjax_ignore" in preview({"body": "text"}, '{"body": "$x$"}').to_html()


# What is drawn is capped and throttled


@pytest.mark.parametrize("how", ["text", "line", "text growing", "line growing"])
@pytest.mark.parametrize("character", ["x", "\n", " ", "\x1b"])
def test_a_drawing_is_capped_and_says_how_much_is_left(how, character):
    longest, lines = LONGEST[how.split()[0]]
    for length in (longest, longest + 1, 100_000):
        drawn = preview({"body": how}, json.dumps({"body": character * length})[: None if length % 2 else -1])
        for page in (drawn.to_html(), drawn.to_text()):
            assert len(page) < 400 + 6 * longest + 10 * lines
            assert ("more character" in page) == (length > longest or (character == "\n" and lines > 1))
    drawn = preview({"body": how}, json.dumps({"body": "x" * 100_000}))
    assert f" … {100_000 - longest:,} more characters" in drawn.to_text()


def test_a_cap_counts_what_it_leaves_out_over_small_fragments():
    drawn = preview({"body": "text growing"})
    for character in json.dumps({"body": "x" * 1234})[:-2]:
        drawn.add(character, 0.0)
    assert drawn.to_text().endswith("x … 834 more characters…")


def test_no_more_of_a_growing_field_is_kept_than_can_be_drawn():
    for size in (1, 7, 5000):
        drawn = preview({"body": "text growing"}, '{"body": "')
        for _ in range(10_000 // size):
            drawn.add("x" * size, 0.0)
        kept = drawn._rows["body"]._pieces
        assert len(kept) <= len("".join(kept)) <= LONGEST["text"][0]


def test_drawing_is_throttled_by_the_time_it_is_given():
    drawn = preview({"body": "text growing"}, every=0.5)
    assert drawn.add('{"body": "', 0.375) is False, "nothing visible changed"
    assert drawn.add("a", 0.375) is False, "too early"
    assert drawn.due(0.5) is True, "what changed before is drawn now"
    assert drawn.due(9.0) is False, "and not again"
    assert drawn.add("b", 9.0) is True
    assert [drawn.add("c", 9.0 + i / 8) for i in range(1, 9)].count(True) == 2
    assert drawn.pace == "11 changes, 5 drawings: at most one every 0.5 s"


def test_what_is_hidden_is_no_change():
    drawn = preview({"to": "line"})
    assert not any(drawn.add(character, 1.0) for character in '{"card": "4242", "body": "Dear Ann", "to": "an')
    assert drawn.add('n"', 1.0) is True


# It is no arguments


def test_nothing_can_pass_a_preview_to_a_tool():
    drawn = preview({"to": "line", "body": "text"}, '{"to": "ann", "body": "Dear Ann"}')
    ran = []

    def tool(*args, **arguments):
        ran.append((args, arguments))

    for misuse in (
        lambda: tool(**drawn),
        lambda: tool(*drawn),
        lambda: tool(**vars(drawn)),
        lambda: dict(drawn),
        lambda: list(drawn),
        lambda: {} | drawn,
        lambda: {}.update(drawn),
        lambda: drawn["to"],
        lambda: json.dumps(drawn),
        lambda: json.loads(drawn),
        lambda: finalise(drawn, "send_letter", Tools([LETTER])),
        lambda: len(drawn),
        lambda: "to" in drawn,
    ):
        with pytest.raises((TypeError, AttributeError)):
            misuse()
    assert ran == []
    assert not isinstance(drawn, Mapping | Iterable | str)
    assert not isinstance(finalise(str(drawn), "send_letter", Tools([LETTER])), Ready)
    assert not isinstance(finalise(drawn.to_text(), "send_letter", Tools([LETTER])), Ready)
    offered = {name: getattr(drawn, name) for name in dir(drawn) if not name.startswith("_")}
    assert not any(isinstance(value, Mapping | list | tuple) for value in offered.values())
    with pytest.raises(TypeError):
        copy.copy(drawn) | {}
