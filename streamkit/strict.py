"""The one parse, at completion: strict JSON (RFC 8259), or a reason and a position.

Refused beyond what Python's own parser refuses: repeated keys, NaN and Infinity, numbers beyond double range, integers
of more than 4,300 digits, lone surrogates, nesting deeper than DEPTH (cases 028 to 036).
"""

import json
import re
from typing import Any

DEPTH = 100
DIGITS = 4300
TOKEN = re.compile(
    r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]:,]|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|-?[A-Za-z]+', re.DOTALL
)
CALM = re.compile(
    r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[^\[\]{}"]+', re.DOTALL
)  # all that opens and closes no container
ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
SURROGATE = re.compile("[\ud800-\udfff]")


class NotStrict(ValueError):
    """`reason`: a word or a few; `position`: characters from the start of the text to the fault."""

    def __init__(self, reason: str, position: int):
        super().__init__(f"{reason} at character {position}")
        self.reason, self.position = reason, position


class Refused(ValueError):
    """What a hook of the parse saw; the position is found afterwards, since hooks are not told it."""


def strict(text: str) -> Any:
    """The value of a JSON text. Raises NotStrict."""
    try:
        if text.count("[") + text.count("{") > DEPTH and levels(text) > DEPTH:
            locate(text, "nested too deep")
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float, parse_int=_int
        )
    except json.JSONDecodeError as error:
        raise NotStrict("not JSON" if text else "empty", error.pos) from None
    except Refused as refused:
        locate(text, str(refused))
        raise NotStrict(str(refused), 0) from None
    if ESCAPED_SURROGATE.search(text) or SURROGATE.search(text):
        locate(text, "lone surrogate")
    return value


def levels(text: str) -> int:
    """How deep a text nests, at a fraction of what a walk over its tokens costs."""
    level = deepest = 0
    for bracket in CALM.sub("", text):
        level += 1 if bracket in "[{" else -1
        deepest = max(deepest, level)
    return deepest


def _object(pairs: list) -> dict:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Refused("repeated key")
    return found


def _constant(word: str):
    raise Refused("not a JSON number")


def _float(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise Refused("number out of range")
    return value


def _int(digits: str) -> int:
    if len(digits.lstrip("-")) > DIGITS:
        raise Refused("number too long")
    return int(digits)


def locate(text: str, reason: str) -> None:
    """Walk the tokens of a text to the first fault that `reason` names, and raise NotStrict there. Linear."""
    keys: list = []  # for each open container the keys seen, None for an array
    at_key = False
    for token in TOKEN.finditer(text):
        word, first = token.group(), token.group()[0]
        fault = None
        if first in "{[":
            keys.append(set() if first == "{" else None)
            fault = "nested too deep" if len(keys) > DEPTH else None
        elif first in "}]" and keys:
            keys.pop()
        elif first == '"' and reason in ("repeated key", "lone surrogate"):
            value = json.loads(word, strict=False)
            if SURROGATE.search(value):
                fault = "lone surrogate"
            elif at_key and keys and keys[-1] is not None:
                fault = "repeated key" if value in keys[-1] else None
                keys[-1].add(value)
        elif word.lstrip("-").startswith(("NaN", "Infinity")):  # Python's parser stops there, whatever follows
            fault = "not a JSON number"
        elif first in "-0123456789" and word[-1].isdigit():
            fault = _number_fault(word)
        at_key = first in "{,"
        if fault == reason:
            raise NotStrict(reason, token.start())


def _number_fault(word: str) -> str | None:
    if any(sign in word for sign in ".eE"):
        return "number out of range" if abs(float(word)) == float("inf") else None
    return "number too long" if len(word.lstrip("-")) > DIGITS else None
