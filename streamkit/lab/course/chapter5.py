"""Chapter 5, displaying a call as it forms: what a screen may show, and what of a text can no longer change."""

from collections.abc import Iterator

from streamkit.fields import Fields
from streamkit.lab.answers import preview_lines, stable_fields
from streamkit.lab.captures import load
from streamkit.lab.exercises.record import Case, Exercise, Wrong, definition

NAMES = ("chat-scope-last", "chat-nested-transfer", "chat-escapes", "messages-hidden-card", "responses-two-searches")
PAGES = (  # label, show, fields, pointer
    ("Save a card", {}, {}, "label"),
    ("Save a card", {"customer": "text"}, {"customer": "Cleo"}, "listed"),
    ("Save a card", {"customer": "text"}, {"customer": "Cleo", "card_number": "4000 5555"}, "hidden"),
    ("Save a card", {"customer": "text", "label": "text"}, {"customer": "Cleo"}, "missing"),
    ("Save a card", {"label": "text", "customer": "text"}, {"customer": "Cleo", "label": "work"}, "order"),
    ("Save a card", {"card_number": "masked"}, {"card_number": "4000 5555"}, "masked"),
    ("Write a note", {"text": "counted"}, {"text": "twelve marks"}, "counted"),
    ("Write a note", {"text": "line"}, {"text": "one\n  two\tthree "}, "line"),
    ("Pay back", {"amount": "text"}, {"amount": 50.5}, "json"),
    ("Pay back", {"notify": "text", "tags": "line"}, {"notify": True, "tags": ["a", "b"]}, "json"),
    ("Pay back", {"reason": "text"}, {"reason": "a\x1b[2Jb"}, "escape"),
    ("Pay\x07", {}, {}, "escape"),
)


def lines(piece, given) -> list:
    """What a preview shows of (label, show, fields)."""
    return list(piece(*given))


def show_page(given) -> list[str]:
    label, show, fields = given
    return [f"label={label!r}", f"show={show!r}", f"fields={fields!r}"]


def preview_cases() -> Iterator[Case]:
    for label, show, fields, pointer in PAGES:
        given = (label, show, fields)
        yield Case(given, lines(preview_lines, given), pointer, "hand-made calls")
    show = {"customer": "text", "card_number": "masked", "query": "line", "title": "line", "text": "counted"}
    for name in NAMES:
        for call in load(name).turn().calls:
            given = (call.name, show, call.arguments)
            yield Case(given, lines(preview_lines, given), "order", "recorded calls")


HAND = (  # text, pointer
    ("", "nothing"),
    ("{", "nothing"),
    ('{"a"', "nothing"),
    ('{"a":', "nothing"),
    ('{"a": 1', "number"),
    ('{"a": 10', "number"),
    ('{"a": 100,', "closed"),
    ('{"a": tr', "literal"),
    ('{"a": "on', "string"),
    ('{"a": "one"', "closed"),
    ('{"a": "\\ud83d', "escape"),
    ('{"a": "x\\', "escape"),
    ('{"a": [1, 2', "container"),
    ('{"a": [1, 2]', "closed"),
    ('{"a": {"b": "c"', "object"),
    ('{"a": {"b": "c"}, "d": 1,', "closed"),
    ('{"a": {"b": 1}}', "whole"),
    ('{"a": 1}', "whole"),
    ("{}", "whole"),
)


def settled(text: str) -> dict:
    """The closed fields that the package's scanner gives for a text."""
    return {key: value for kind, key, value in Fields().feed(text) if kind == "value"}


def stable_cases() -> Iterator[Case]:
    for text, pointer in HAND:
        yield Case(text, stable_fields(text), pointer, "hand-made texts")
    for name in NAMES:
        for call in load(name).turn().calls:
            whole = call.text
            for end in range(1, len(whole), 2):
                prefix = whole[:end]
                # where an object has just closed, a piece may know it at once or one field later: both are right
                if stable_fields(prefix) == settled(prefix):
                    yield Case(prefix, settled(prefix), "prefix", "prefixes of recorded arguments")


def stable_fault(given, expected, got) -> str | None:
    """The fault where it shows in what came out, whatever the case was made for."""
    if isinstance(got, Exception) and not expected:
        return "nothing"
    if not isinstance(got, dict):
        return None
    for key, value in got.items():
        if key not in expected:
            kinds = {bool: "literal", int: "number", float: "number", str: "string", list: "container", dict: "object"}
            half = isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value)
            return "escape" if half or given.endswith("\\") else kinds.get(type(value))
    return "closed" if len(got) < len(expected) else None


EXERCISES = [
    Exercise(
        name="preview_lines",
        title="The field map",
        defines="preview_lines",
        answer=definition("streamkit.lab.answers", "preview_lines"),
        given="import json\nfrom streamkit.preview import visible\n",
        cases=preview_cases,
        run=lines,
        show=show_page,
        pointers={
            "label": "The first line is the label, always: it is known before any field is.",
            "listed": "A listed field that is there shows as `name: value`.",
            "hidden": "A field that is not listed is hidden, whatever it holds (“Break it”).",
            "missing": "A listed field that has not come shows nothing yet.",
            "order": "The lines stand in the order of `show`, not in that in which the model wrote the fields.",
            "masked": "masked: three dots •••, so that one sees that it is there. Not one character of it, nor its length.",
            "counted": "counted: `N characters`, with the length of the text.",
            "line": "line: all runs of white space become one space, so that it stays one line.",
            "json": "What is no text is shown as JSON: `json.dumps(value)`, which says true and not True.",
            "escape": "A model may write what a screen obeys. `visible` belongs around labels and values.",
        },
        hints=(
            "Go through `show.items()`, not through the fields: that gives the order, and what is not listed cannot slip in.",
            "First make text of the value: `value if isinstance(value, str) else json.dumps(value)`. Then let `how` change it: masked, counted, line, or as it is.",
            'masked: "•••". counted: f"{len(text)} characters". line: " ".join(text.split()). Then `f"{name}: {visible(text)}"`.',
        ),
        wrong=(
            Wrong(
                "shows all that came",
                "hidden",
                swap=(("for name, how in show.items():", "for name in fields:\n        how = show.get(name, 'text')"),),
            ),
            Wrong(
                "the model's order",
                "order",
                swap=(
                    (
                        "for name, how in show.items():",
                        "for name in [n for n in fields if n in show]:\n        how = show[name]",
                    ),
                ),
            ),
            Wrong("masks all but the end", "masked", swap=(('"•••"', 'text[-4:].rjust(len(text), "•")'),)),
            Wrong("trusts the model's text", "escape", swap=(("{visible(text)}", "{text}"),)),
            Wrong("Python's way of writing", "json", swap=(("json.dumps(value)", "str(value)"),)),
            Wrong(
                "empty lines for what is to come",
                "missing",
                swap=(("            continue", '            lines.append(f"{name}: ")\n            continue'),),
            ),
            Wrong("cuts at the first line break", "line", swap=(('" ".join(text.split())', "text.splitlines()[0]"),)),
        ),
        why="A list of what may be shown fails safe: a new field, or a secret one, stays hidden until someone decides.",
    ),
    Exercise(
        name="stable_fields",
        title="Stable fields, by reading again",
        defines="stable_fields",
        answer=definition("streamkit.lab.answers", "stable_fields"),
        given="import json\nfrom partial_json_parser import Allow, MalformedJSON, loads\n",
        cases=stable_cases,
        diagnose=stable_fault,
        pointers={
            "nothing": "No field has come yet: an empty dict, and no exception (MalformedJSON is what `loads` raises for an empty text).",
            "number": "Another digit may follow. A number is stable when something stands behind it.",
            "literal": "`tr` is no value. A literal is stable with its last letter.",
            "string": "A string is stable at its closing quote.",
            "escape": "An escape may still become another character: the string is not closed.",
            "container": "A list is stable at its bracket.",
            "object": "An object inside may still grow: hold the last field back while it is an object and the whole is not closed.",
            "closed": "What is closed is given out: it can no longer change.",
            "whole": "A text that parses whole is all there: everything in it is stable.",
            "prefix": "Every field given out must be there with that value at the end, and every closed one must be given out.",
        },
        hints=(
            '`loads(text, Allow.ALL)` gives too much: try it on `{"limit": 1`. The flags say which open things count: with `Allow.OBJ` alone only an open object does.',
            "The one trap of `Allow.OBJ` is an object *inside* that is still open. If the last value is a dict, take it out: `fields.popitem()`.",
            "Ask first whether the text is whole (`json.loads`, and return that); then `loads(text, Allow.OBJ)`; an empty dict for MalformedJSON.",
        ),
        wrong=(
            Wrong("allows everything", "number", swap=(("Allow.OBJ", "Allow.ALL"),)),
            Wrong("allows open numbers", "number", swap=(("Allow.OBJ", "Allow.OBJ | Allow.NUM"),)),
            Wrong("allows open strings", "string", swap=(("Allow.OBJ", "Allow.OBJ | Allow.STR"),)),
            Wrong("allows open lists", "container", swap=(("Allow.OBJ", "Allow.OBJ | Allow.ARR"),)),
            Wrong(
                "forgets the object inside", "object", swap=(("isinstance(list(fields.values())[-1], dict)", "False"),)
            ),
            Wrong(
                "waits for the end",
                "closed",
                text="def stable_fields(text):\n    try:\n        return json.loads(text)\n    except ValueError:\n        return {}\n",
            ),
            Wrong(
                "holds back the last field always",
                "closed",
                swap=(("fields and isinstance(list(fields.values())[-1], dict)", "fields"),),
            ),
        ),
        why="What is shown and then changes was read, and may have been believed.",
    ),
]
