"""Chapter 4, dispatching on partial arguments: what the checks run, and how a fault is told."""

import json
from collections.abc import Iterator

from streamkit.lab.answers import first_parse
from streamkit.lab.captures import load
from streamkit.lab.exercises.record import Case
from streamkit.warm import Warmer

NAMES = (
    "chat-scope-last",
    "messages-two-searches",
    "chat-nested-transfer",
    "responses-optional-listed-first",
    "chat-hidden-card",
)


def recorded() -> Iterator[tuple[list[str], dict, list[str]]]:
    """Of some recorded calls: the fragments, the arguments, the required fields."""
    for name in NAMES:
        capture = load(name)
        required = {tool["name"]: tool["parameters"]["required"] for tool in capture.tools}
        for call in capture.turn().calls:
            yield [fragment.text for fragment in call.fragments], call.arguments, required[call.name]


PARSES = (  # fragments, required, pointer
    ([], ["a"], "never"),
    (['{"a": 1}'], ["a"], "whole"),
    (['{"a"', ": ", "1", "}"], ["a"], "begun"),
    (['{"a": "x', 'y"}'], ["a"], "begun"),
    (['{"a": 1, ', '"b": 2}'], ["a", "b"], "all"),
    (['{"b": 2, ', '"a": 1', ', "c": 3}'], ["a"], "order"),
    (['{"c": 3', "}"], ["a"], "never"),
    (["", '{"a": ', "tru", "e}"], ["a"], "begun"),
    (["{", "}"], [], "none"),
    (["[", '{"a": 1}', "]"], ["a"], "object"),
    (['["a"', "]"], ["a"], "object"),
    (['"a', '"'], ["a"], "object"),
    (["[", "]"], [], "object"),
)


def parsed(piece, given):
    """What a piece says of (fragments, required)."""
    fragments, required = given
    return piece(list(fragments), set(required))


def show_parse(given) -> list[str]:
    fragments, required = given
    return [f"fragments={fragments!r}"[:160], f"required={required!r}"]


def parse_fault(given, expected, got) -> str | None:
    """The fault where it shows in what came out, whatever the case was made for."""
    return "whole" if got == 0 and expected == 1 else None


def parse_cases() -> Iterator[Case]:
    for fragments, required, pointer in PARSES:
        given = (fragments, required)
        yield Case(given, parsed(first_parse, given), pointer, "hand-made calls")
    for fragments, _, required in recorded():
        given = (fragments, required)
        yield Case(given, parsed(first_parse, given), "begun", "recorded calls")
        again = (list("".join(fragments)), required)
        yield Case(again, parsed(first_parse, again), "begun", "calls cut into single characters")


WARM = (  # fields, fragments, final arguments, pointer
    (["q"], ['{"q": "lamp"', "}"], {"q": "lamp"}, "early"),
    (["q"], ['{"q": "lam', 'p"', "}"], {"q": "lamp"}, "stable"),
    (["n"], ['{"n": 1', "00", "}"], {"n": 100}, "stable"),
    (["a", "b"], ['{"b": 1, ', '"a": 2, ', '"c": 3}'], {"a": 2, "b": 1, "c": 3}, "all"),
    (["q"], ['{"q": "a", ', '"r": 1', "}"], {"q": "a", "r": 1}, "once"),
    (["q"], ['{"r": 1}'], {"r": 1}, "never"),
    (["q"], ['{"q": "a"}'], {"q": "b"}, "fits"),
    (["q"], ['{"q": 1, ', "}"], {"q": True}, "types"),
    (["q"], ['{"q": "a", ', '"r": 1}'], {"r": 1, "q": "a"}, "others"),
)


def warmed(piece, given) -> dict:
    """What a warmer says at each fragment, and at the end of the final arguments."""
    fields, fragments, final = given
    warmer = piece(fields)
    told = [warmer.feed(fragment) for fragment in fragments]
    return {"told": told, "fits": bool(warmer.fits(final)) if any(told) else None}


def show_warm(given) -> list[str]:
    fields, fragments, final = given
    return [f"fields={fields!r}", f"fragments={fragments!r}"[:160], f"final={json.dumps(final)}"[:120]]


def warm_fault(given, expected, got) -> str | None:
    """The fault where it shows in what came out, whatever the case was made for."""
    if not isinstance(got, dict):
        return None
    return "once" if sum(told is not None for told in got["told"]) > 1 else None


def warm_cases() -> Iterator[Case]:
    for fields, fragments, final, pointer in WARM:
        given = (fields, fragments, final)
        yield Case(given, warmed(Warmer, given), pointer, "hand-made calls")
    for fragments, final, required in recorded():
        given = (required, fragments, final)
        yield Case(given, warmed(Warmer, given), "stable", "recorded calls")
