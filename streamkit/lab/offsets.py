"""Where in an argument text each top-level field begins and closes: one pass of the standard library's own scanner.

With the offsets the moment of any field is a bisection over the fragments' lengths, so first parse costs one parse a
call, not one a delta.
"""

import json
import re
from bisect import bisect_left
from itertools import accumulate
from json.decoder import scanstring
from typing import NamedTuple

WHITE = " \t\n\r"
AFTER_A_NUMBER = WHITE + ",}"
SPACE = re.compile(f"[{WHITE}]*").match
SCAN = json.JSONDecoder(strict=False).scan_once


class Field(NamedTuple):
    """One top-level field. Offsets count characters: `begun`, with the first character of its value; `closed`, with the
    last one that could change it (a number closes with the character after it), None where the text ends before."""

    key: str
    start: int  # where the value starts
    begun: int
    closed: int | None


def fields_of(text: str) -> list[Field]:
    """The top-level fields of a JSON object's text, in order, repeated keys each time; [] where it is no object.

    Of a text that is cut or malformed, the fields up to that place. A field that is still open has `closed` None.
    """
    fields: list[Field] = []
    at = SPACE(text, 0).end()
    if text[at : at + 1] != "{":
        return fields
    at = SPACE(text, at + 1).end()
    try:
        while text[at] == '"':
            key, at = scanstring(text, at + 1, False)
            if text[at] in WHITE:
                at = SPACE(text, at).end()
            if text[at] != ":":
                break
            start = SPACE(text, at + 1).end()
            first = text[start]
            begun = start + (2 if first == "-" else 1)
            fields.append(Field(key, start, begun, None))  # what stands if the scan fails
            _, at = SCAN(text, start)
            number = first in "-0123456789"
            if number and text[at] not in AFTER_A_NUMBER:  # the scanner stops in front of the point of a cut "0."
                break
            fields[-1] = Field(key, start, begun, at + 1 if number else at)
            if text[at] in WHITE:
                at = SPACE(text, at).end()
            if text[at] != ",":
                break
            at = SPACE(text, at + 1).end()
    except (ValueError, IndexError, StopIteration, RecursionError):
        pass  # cut or malformed here: what came before stands
    return fields


def first_parse(fragments: list[str], at: list[float], required: set[str]) -> tuple[float | None, float | None]:
    """When all `required` fields had begun, and when all were closed (seconds; None: never).

    `fragments`: the argument deltas as text; `at`: when each arrived. Where nothing is required both are the moment of
    the object's first character.
    """
    text = "".join(fragments)
    begun, closed = offsets(text, required)
    ends = list(accumulate(map(len, fragments)))
    return moment(begun, ends, at), moment(closed, ends, at)


def offsets(text: str, required: set[str], fields: list[Field] | None = None) -> tuple[int | None, int | None]:
    """The number of characters after which all `required` fields have begun, and after which all are closed."""
    first: dict[str, Field] = {}
    for field in fields_of(text) if fields is None else fields:
        if field.key in required:
            first.setdefault(field.key, field)
    if not required:
        brace = text.find("{")
        return (None, None) if brace < 0 else (brace + 1, brace + 1)
    if len(first) < len(required):
        return None, None
    closed = [field.closed for field in first.values()]
    return max(field.begun for field in first.values()), None if None in closed else max(closed)


def moment(offset: int | None, ends: list[int], at: list[float]) -> float | None:
    """When the fragment arrived that brought character number `offset`; `ends`: characters after each fragment."""
    return None if offset is None else at[bisect_left(ends, offset)]
