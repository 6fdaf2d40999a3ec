"""The idempotency key of a call: what makes two calls the same effect.

The key is SHA-256 over the canonical JSON (RFC 8785) of `["v1", conversation, turn, tool, arguments, pointers, occurrence]`.
The provider's call id is not in it: a retry brings a new one. Nor is the argument text: a retry may order and space it anew.

RFC 8785 writes numbers as doubles, so that two integers past 2^53 could share a text. They are written as digits in a
string, and `pointers` lists where (JSON Pointer, RFC 6901, in order of code points): digits that came as text are not
listed, and so never share a key with the number. 1.0 and 1, -0 and 0, 1e20 and its digits are one number and one key.
Unicode is not normalised: two spellings that look alike are two texts.
"""

import hashlib
from collections.abc import Callable
from typing import Any

import rfc8785

EXACT = 2**53  # from here on a double no longer tells neighbouring integers apart


class Unkeyable(ValueError):
    """A value that has no canonical JSON: such a call cannot be claimed, and so it must not run."""


def idempotency_key(conversation: str, turn: int, tool: str, arguments: Any, occurrence: int = 0) -> str:
    """The key of one effect, 64 hexadecimal characters; sent downstream as `Idempotency-Key`.

    `turn` is the index of the model request in the conversation, not the attempt at it. `occurrence` numbers equal calls
    of one turn, for tools that ask for that; 0 makes them one effect. Raises Unkeyable.
    """
    for what, name in ((conversation, "conversation"), (tool, "tool")):
        if not isinstance(what, str) or not what:
            raise Unkeyable(f"{name}: expected a name, got {what!r}; without one, strangers would share a key")
    for what, name in ((turn, "turn"), (occurrence, "occurrence")):
        if type(what) is not int or not 0 <= what < EXACT:
            raise Unkeyable(f"{name}: expected a count from 0, got {what!r}")
    document = _strictly(lambda: rfc8785.dumps(["v1", conversation, turn, tool, *spell(arguments), occurrence]))
    return hashlib.sha256(document).hexdigest()


def canonical(arguments: Any) -> str:
    """The arguments as the key sees them: keys in order, no spaces, numbers in one spelling. Raises Unkeyable."""
    return _strictly(lambda: rfc8785.dumps(spell(arguments)[0])).decode()


def spell(value: Any) -> tuple[Any, list[str]]:
    """The value with its integers past 2^53 as digits, and the JSON pointers to them, sorted."""
    pointers: list[str] = []

    def walk(value: Any, pointer: str) -> Any:
        if isinstance(value, dict):
            return {name: walk(item, f"{pointer}/{_token(name)}") for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [walk(item, f"{pointer}/{place}") for place, item in enumerate(value)]
        if isinstance(value, int | float) and EXACT <= abs(value) < float("inf") and value == int(value):
            pointers.append(pointer)
            return str(int(value))
        return value

    return walk(value, ""), sorted(pointers)


def _token(name: Any) -> str:
    if not isinstance(name, str):
        raise ValueError(f"a name that is no text: {name!r}")
    return name.replace("~", "~0").replace("/", "~1")


def _strictly(write: Callable[[], bytes]) -> bytes:
    """What `write` gives; Unkeyable for NaN, infinity, half a surrogate pair, no JSON at all, too deep or too long."""
    try:
        return write()
    except (ValueError, RecursionError) as error:
        raise Unkeyable(f"expected values as the strict parse gives them, got {error}") from None
