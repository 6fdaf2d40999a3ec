"""What the readers of the five APIs share: frames in, events out, and the end of the stream.

A frame that cannot be decoded, nests deeper than DEPTH, or has another shape than its API gives it, fails the turn:
skipping it could leave head and tail of one argument text, which may be valid JSON and the wrong command (case 071).
"""

import json
from contextlib import suppress
from typing import Any

from ..events import TurnBroken, TurnFinished
from ..strict import levels
from .sse import ServerSentEvent, SSEDecoder, TooLong

raw_decode = json.JSONDecoder().raw_decode
INTERRUPTED = {"disconnect": "disconnect", "timeout": "timeout", "cancel": "cancelled"}
BODY = 2**30  # bytes of one response: an answer of a million tokens has a third of it
STEP = 2**16  # bytes decoded at once, far fewer than an event may hold: then an event too long takes no other with it
DEPTH = 200  # levels of JSON in one frame: what goes deeper could be read, and then neither stored nor shown
MISSHAPEN = (ValueError, TypeError, AttributeError, KeyError, IndexError, RecursionError)


class Reader:
    """One response of one API: `feed` bytes with their time, then `close`. No I/O, no clock.

    Any cut of the bytes gives the same events, but for their times.
    """

    decoder = SSEDecoder

    def __init__(self):
        self.over = False  # logically at its end: a client may stop reading
        self._frames = self.decoder()
        self._frame = ""
        self._room = BODY
        self._checked = False  # the frame in hand has no repeated key
        self._finished = False
        self._broken = False
        self._done = False

    def feed(self, data: bytes, at: float) -> list:
        """The events that these bytes complete. `at`: seconds since the request was sent.

        A frame of more than sse.LIMIT bytes, or a response of more than BODY, fails the turn.
        """
        events: list = []
        if len(data) > STEP:
            return [event for start in range(0, len(data), STEP) for event in self.feed(data[start : start + STEP], at)]
        if self._broken:
            return events
        self._room -= len(data)
        try:
            for frame in self._frames.feed(data if self._room >= 0 else data[: self._room]):
                self._take(frame, at, events)
                if self._broken:
                    break
            if self._room < 0 and not self._broken:
                raise TooLong(f"a response of more than {BODY} bytes")
        except TooLong:
            self.fail(events, at, "protocol_error")
        return events

    def close(self, ending: str, at: float) -> list:
        """The last events. `ending`: "clean", "error", "disconnect", "timeout" or "cancel".

        An unterminated last frame counts only if it parses whole, since such a frame is no cut of a longer one
        (cases 093, 094). Without the provider's own end this adds the reason that the client gives.
        """
        events: list = []
        if not self._broken:
            with suppress(TooLong):  # half a frame, which counts for nothing
                if (frame := self._frames.rest()) is not None and self._whole(frame):
                    self._take(frame, at, events)
        if not self._broken and not self._finished:
            reason = INTERRUPTED.get(ending) or ("done_without_finish" if self._done else "eof_without_finish")
            self.leave(events, at)
            events.append(TurnBroken(at, "interrupted", reason))
        self.over = True
        return events

    def read(self, payload: dict, at: float, events: list) -> None:
        """One decoded frame of the API, its events appended to `events`."""
        raise NotImplementedError

    def leave(self, events: list, at: float) -> None:
        """A last word before an interruption, where the API has something held back."""

    def finish(self, events: list, at: float, reason: str) -> None:
        self._finished = True
        events.append(TurnFinished(at, text(reason)))

    def fail(self, events: list, at: float, reason: str) -> None:
        self._broken = self.over = True
        self._frames = self.decoder()  # what it held is not needed any more
        events.append(TurnBroken(at, "failed", reason))

    def whole_object(self, value: dict) -> str:
        """Arguments that came as an object, serialised once. Raises ValueError where a key is repeated in the frame."""
        if not self._checked:  # once a frame, however many calls are in it
            json.loads(self._frame, object_pairs_hook=refuse_repeats)
            self._checked = True
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def _take(self, frame: ServerSentEvent, at: float, events: list) -> None:
        if not frame.data or frame.data.isspace():
            return
        if frame.data == "[DONE]":
            self._done = self.over = True
            return
        try:
            if not frame.intact:
                raise ValueError("the frame is not UTF-8")
            self._frame, self._checked = frame.data, False
            payload = decode(frame.data)
            if len(frame.data) > 2 * DEPTH and nests_deep(frame.data):
                raise ValueError("nested too deep")
            if frame.event == "error" or payload.get("error"):
                self.fail(events, at, provider_error(payload.get("error") or payload))
            else:
                self.read(payload, at, events)
        except MISSHAPEN:
            self.fail(events, at, "protocol_error")

    @staticmethod
    def _whole(frame: ServerSentEvent) -> bool:
        try:
            return frame.data == "[DONE]" or isinstance(json.loads(frame.data), dict)
        except (ValueError, RecursionError):
            return False


def decode(data: str) -> Any:
    """As json.loads, which looks at every call for white space that a frame hardly ever has around it. Raises ValueError."""
    try:
        value, end = raw_decode(data)
    except ValueError:
        return json.loads(data)
    return value if end == len(data) else json.loads(data)


def text(value: Any) -> str:
    """`value` as text; null says nothing. Raises TypeError for anything else, which fails the turn."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"text was expected, {type(value).__name__} came")
    return value


def key(value: Any) -> int | str | None:
    """`value` as an index. Raises TypeError where it can be none."""
    if value is None or isinstance(value, int | str):
        return value
    raise TypeError(f"an index was expected, {type(value).__name__} came")


def provider_error(error: Any) -> str:
    """`provider_error` with the error's code, else its type, else its status."""
    if isinstance(error, dict):
        for word in (error.get("code"), error.get("type"), error.get("status")):
            if isinstance(word, str | int) and word not in ("", "error"):
                return f"provider_error:{word}"
    return "provider_error"


def nests_deep(frame: str) -> bool:
    """Whether JSON text has more than DEPTH levels; few frames have so many brackets that it must be looked at closely."""
    return frame.count("[") + frame.count("{") > DEPTH and levels(frame) > DEPTH


def refuse_repeats(pairs: list) -> dict:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is repeated")
    return found
