"""Chapter 6, finalising: what the checks run, and how a fault is told."""

import json
from collections.abc import Iterator

from streamkit.finalise import Tools, finalise
from streamkit.lab.answers import strict_parse
from streamkit.lab.captures import load
from streamkit.lab.exercises.record import Case

TEXTS = (
    (
        "whole",
        ('{"a": 1}', "[]", '"text"', "null", "-0.5", ' {"a": [1, {"b": "c"}]} ', '{"a": {"b": 1}, "c": {"b": 2}}'),
    ),
    ("cut", ('{"a": 1', '{"a": "b', '{"a":', "{", "")),
    ("after", ('{"a": 1} x', '{}""', "{}{}")),
    ("repeated", ('{"to": "a", "to": "b"}', '{"x": {"to": "a", "t\\u006f": "b"}}', '[{"a": 1, "a": 1}]')),
    ("constant", ('{"level": NaN}', "[Infinity]", '{"a": -Infinity}')),
    ("range", ('{"a": 1e400}', "[-1e999]")),
    ("half", ('{"text": "\\ud83d"}', '{"text": "ok \\ude00!"}')),
    ("pair", ('{"text": "\\ud83d\\ude00"}',)),
    ("deep", ("[" * 100_000,)),
)
NAMES = (
    "chat-scope-last",
    "messages-two-searches",
    "chat-no-arguments",
    "chat-half-a-pair",
    "responses-limit-completed",
)


def texts() -> Iterator[tuple[str, str]]:
    """The argument texts of some captures, as (capture, text)."""
    for name in NAMES:
        yield from ((name, call.text) for call in load(name).turn().calls)


def parsed(piece, text: str):
    """What a strict parse makes of a text: ("value", canonical text) or "refused"."""
    try:
        value = piece(text)
    except ValueError:
        return "refused"
    return "value", json.dumps(value)


def parse_cases() -> Iterator[Case]:
    for pointer, some in TEXTS:
        for text in some:
            yield Case(text, parsed(strict_parse, text), pointer, "hand-made texts")
    for _, text in texts():
        for end in range(len(text) + 1):
            yield Case(
                text[:end],
                parsed(strict_parse, text[:end]),
                "cut" if end < len(text) else "whole",
                "prefixes of recorded arguments",
            )


TOOLS = [
    {
        "name": "create_refund",
        "parameters": {
            "type": "object",
            "properties": {"order_id": {"type": "string"}, "amount": {"type": "number"}},
            "required": ["order_id", "amount"],
            "additionalProperties": False,
        },
    },
    {"name": "list_open_tickets", "parameters": {"type": "object", "properties": {}}},
]
COMPILED = Tools(TOOLS)
REFUND = '{"order_id": "A-1003", "amount": 50}'
CALLS = (  # text, name, complete, pointer
    (REFUND, "create_refund", True, "ready"),
    ("", "list_open_tickets", True, "nothing"),
    ("null", "list_open_tickets", True, "nothing"),
    ("", "create_refund", True, "schema"),
    (REFUND, "create_refund", False, "unfinished"),
    ("", "list_open_tickets", False, "unfinished"),
    (REFUND[:-5], "create_refund", True, "unparseable"),
    ('{"order_id": "A", "order_id": "B", "amount": 5}', "create_refund", True, "unparseable"),
    ('{"order_id": "A-1003", "amount": "50"}', "create_refund", True, "schema"),
    ('{"amount": true}', "create_refund", True, "schema"),
    (REFUND, "create_refunds", True, "name"),
    (REFUND, "", True, "name"),
    ("[1]", "create_refund", True, "object"),
    ('"{}"', "list_open_tickets", True, "object"),
    ("  ", "list_open_tickets", True, "blank"),
    (" null ", "list_open_tickets", True, "blank"),
)
UNTOLD = (
    (REFUND, "anything", "untold"),
    ("{}", "", "nameless"),
    ("[1]", "anything", "object"),
)  # no tools: text, name, pointer


def said(piece, given) -> dict:
    """What a finaliser says of (text, name, offered, complete), as plain data."""
    text, name, offered, complete = given
    final = piece(text, name, COMPILED if offered else None, complete)
    seen = {"type": type(final).__name__}
    for field in ("arguments", "text", "answerable"):
        if hasattr(final, field):
            seen[field] = getattr(final, field)
    if hasattr(final, "complaints"):
        seen["complaints"] = len(final.complaints)
    return seen


def finalise_cases() -> Iterator[Case]:
    for text, name, complete, pointer in CALLS:
        given = (text, name, True, complete)
        yield Case(given, said(finalise, given), pointer, "hand-made calls")
    for text, name, pointer in UNTOLD:
        given = (text, name, False, True)
        yield Case(given, said(finalise, given), pointer, "hand-made calls")
    for _, text in texts():
        for end in range(1, len(text)):
            given = (text[:end], "create_refund", True, True)
            yield Case(given, said(finalise, given), "unparseable", "prefixes of recorded arguments")


def show(given) -> list[str]:
    text, name, offered, complete = given
    shown = text if len(text) <= 60 else text[:57] + "…"
    return [f"text={shown!r}", f"name={name!r}, tools={'offered' if offered else None}, complete={complete}"]


def finalise_fault(given, expected, got) -> str | None:
    """The fault where what came out names it better than the case does."""
    if not isinstance(got, dict):
        return None
    if not given[1] and got["type"] == "Invalid":
        return "name"
    if given[0] not in ("", "null"):
        return None
    return "nothing" if got["type"] == "Unparseable" else None
