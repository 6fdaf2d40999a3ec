"""Faults of a stream, made on purpose: it ends where you say, in the way you say. (Those of a process are in child.py.)

A stream is its reads, [(at, bytes)], `at` in seconds since the request was sent; `api` is one of streamkit.wire.APIS.
"""

import json
import re
from collections.abc import Iterable
from typing import NamedTuple

from streamkit.lab.problem import Problem

Reads = list[tuple[float, bytes]]

HOWS = {  # how a stream breaks off → the ending that a reader is told
    "reset": "disconnect",
    "silence": "timeout",
    "cancel": "cancel",
    "error": "error",
    "close": "clean",  # the body ends as if all were well
}
IDLE = 30.0  # seconds of silence after which a client gives up
EVENT_END = re.compile(rb"(?:\r\n|\r(?!\n)|\n){2,}")  # of server-sent events: an empty line
LINE_END = re.compile(rb"\n")  # of newline-delimited JSON
WORDS = "The service is overloaded."
ERRORS = {  # an error after the stream has begun, in each API's own form: the event's name and its data
    "openai-chat": ("", {"error": {"message": WORDS, "type": "server_error", "param": None, "code": None}}),
    "openai-responses": ("error", {"type": "error", "code": "server_error", "message": WORDS, "param": None}),
    "anthropic-messages": ("error", {"type": "error", "error": {"type": "overloaded_error", "message": WORDS}}),
    "gemini": ("", {"error": {"code": 503, "message": WORDS, "status": "UNAVAILABLE"}}),
    "ollama": ("", {"error": WORDS}),
}


class Broken(NamedTuple):
    """A stream with its fault: the reads, the ending as `Reader.close` is told it, and when it ended (seconds)."""

    reads: Reads
    ending: str
    ended_at: float


def break_off(reads: Iterable, api: str, how: str, *, idle: float = IDLE, **place: float | None) -> Broken:
    """The stream up to a place (at=, event= or byte=, as for `cut`), and then a fault: one of HOWS.

    "silence" ends `idle` seconds after the last byte. "error" adds the API's own error event at that moment; since a server
    sends whole events, an event that the place cuts in two is left out then. Raises Problem.
    """
    if how not in HOWS:
        raise Problem(f"expected a fault out of {', '.join(HOWS)}; got {how!r}")
    kept = cut(reads, api, **place)
    last = kept[-1][0] if kept else 0.0
    moment = last + idle if how == "silence" else place.get("at") or last
    if how == "error":
        whole = boundaries(b"".join([data for _, data in kept]), api)
        kept = _first(kept, whole[-1] if whole else 0)
        kept.append((moment, error_event(api, len(whole))))
    return Broken(kept, HOWS[how], moment)


def cut(
    reads: Iterable, api: str, *, at: float | None = None, event: int | None = None, byte: int | None = None
) -> Reads:
    """The reads up to one place: those that had come `at` seconds, the first `event` events, or the first `byte` bytes."""
    reads = [(read_at, data) for read_at, data in reads]
    places = {"at": at, "event": event, "byte": byte}
    given = {name: place for name, place in places.items() if place is not None}
    if len(given) != 1:
        raise Problem(f"expected one place to cut at: at=, event= or byte=; got {', '.join(given) or 'none'}")
    if at is not None:
        return [(read_at, data) for read_at, data in reads if read_at <= at]
    body = b"".join([data for _, data in reads])
    ends = [0, *boundaries(body, api)] if event is not None else range(len(body) + 1)
    [(name, place)] = given.items()
    if not 0 <= place < len(ends):
        raise Problem(f"expected {name} from 0 to {len(ends) - 1}, which is all of this stream; got {place}")
    return _first(reads, ends[place])


def boundaries(body: bytes, api: str) -> list[int]:
    """Where each event of a body ends: byte offsets after its empty line; for newline-delimited JSON, after its line."""
    return [end.end() for end in (LINE_END if _known(api) == "ollama" else EVENT_END).finditer(body)]


def error_event(api: str, number: int = 0) -> bytes:
    """An error as this API sends it once the stream has begun. `number`: the events before it."""
    name, payload = ERRORS[_known(api)]
    if api == "openai-responses":
        payload = {**payload, "sequence_number": number}
    data = json.dumps(payload, separators=(",", ":"))
    if api == "ollama":
        return f"{data}\n".encode()
    end = "\r\n" if api == "gemini" else "\n"
    return f"{f'event: {name}{end}' if name else ''}data: {data}{end}{end}".encode()


def _first(reads: Reads, size: int) -> Reads:
    kept = []
    for at, data in reads:
        if size <= 0:
            break
        kept.append((at, data[:size]))
        size -= len(data)
    return kept


def _known(api: str) -> str:
    if api not in ERRORS:
        raise Problem(f"expected an API out of {', '.join(ERRORS)}; got {api!r}")
    return api
