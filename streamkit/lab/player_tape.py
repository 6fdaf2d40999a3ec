"""The steps of one response, and what a client holds after each: the player's film, without a screen."""

import re
from bisect import bisect_right
from typing import NamedTuple

from ..accumulator import Accumulator
from ..events import Call, CallFinished, TurnFinished
from ..finalise import Tools
from ..turn import TurnBuilder
from ..wire import READERS, reader
from ..wire.sse import TooLong
from .captures import Capture
from .timeline import time_line

LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|$)")


class Step(NamedTuple):
    """One event on the wire as it came: `raw` bytes and, decoded, the events of the vocabulary (none, one or several).

    `at`: seconds since the request was sent, of network read number `read` (counted from 1) that completed it. `calls`:
    beside each event the ordinal of its call, or None. The last step is the end of the stream, with `ending` ("" before),
    and what the stream left unterminated as `raw`.
    """

    at: float
    read: int
    raw: bytes
    events: tuple
    calls: tuple[int | None, ...] = ()
    ending: str = ""


class Moment(NamedTuple):
    """`what` ("announced", "first parse" or "completed") happened to call number `call` with step number `step`."""

    step: int
    what: str
    call: int


class Tape:
    """A capture step by step. `state(n)` is the TurnBuilder after `n` steps: 0 before anything came, `len(tape)` at the end.

    Going on from where the tape stands costs what the new steps hold; going back replays from the start.
    """

    def __init__(self, capture: Capture):
        self.capture = capture
        self.steps = list(_steps(capture))
        self._times = [step.at for step in self.steps]
        self._tools = Tools(capture.tools) if capture.tools else None
        self._rewind()
        builder = self.state(len(self))
        self.line = time_line(capture, [event for step in self.steps for event in step.events], builder.turn)
        self.moments = self._moments(builder.calls)

    def __len__(self) -> int:
        return len(self.steps)

    def state(self, number: int) -> TurnBuilder:
        """What a client holds after `number` steps; the last one judges the calls. Not to be changed."""
        if number < self._at:
            self._rewind()
        for step in self.steps[self._at : number]:
            for event in step.events:
                self._builder.add(event)
        self._at = number
        if number == len(self) and self._builder.turn is None:
            self._builder.end(self.capture.ended_at)
        return self._builder

    def arrived(self, at: float) -> int:
        """How many steps had come by `at` (seconds)."""
        return bisect_right(self._times, at)

    def _rewind(self) -> None:
        self._builder, self._at = TurnBuilder(self._tools), 0

    def _moments(self, calls: list[Call]) -> list[Moment]:
        first: dict[int, int] = {}  # ordinal → the step it appeared in
        closed: dict[int, int] = {}  # … and the step of its completion event
        brought: dict[int, int] = {}  # identity of a fragment → its step
        finish = len(self)
        for number, step in enumerate(self.steps, 1):
            for event, ordinal in zip(step.events, step.calls, strict=True):
                if ordinal is not None:
                    first.setdefault(ordinal, number)
                    brought[id(event)] = number
                    if type(event) is CallFinished:
                        closed[ordinal] = number
                elif type(event) is TurnFinished:
                    finish = number
        found = []
        for call, line in zip(calls, self.line.calls, strict=True):
            found.append(Moment(first[call.ordinal], "announced", call.ordinal))
            if line.fragment is not None:
                fragment = call.fragments[line.fragment]
                # a completion event that brought the text is no fragment of its own
                number = brought.get(id(fragment), closed.get(call.ordinal, len(self)))
                found.append(Moment(number, "first parse", call.ordinal))
            if line.completed is not None:
                number = closed[call.ordinal] if line.own else finish
                found.append(Moment(number, "completed", call.ordinal))
        return sorted(found, key=lambda moment: moment.step)


def _steps(capture: Capture):
    """Every wire event with the bytes that made it, and the end. Any cut of the bytes gives the same (wire/reader.py)."""
    wire, frames, held = reader(capture.api), READERS[capture.api].decoder(), Accumulator()
    raw: list[bytes] = []
    events: list = []
    for number, (at, data) in enumerate(capture.reads, 1):
        for line in filter(None, LINE.findall(data)):
            raw.append(line)
            events += wire.feed(line, at)
            if _whole(frames, line) or events:
                yield _step(held, at, number, raw, events)
                raw, events = [], []
    events += wire.close(capture.ending, capture.ended_at)
    yield _step(held, capture.ended_at, len(capture.reads), raw, events)._replace(ending=capture.ending)


def _whole(frames, line: bytes) -> bool:
    try:
        return bool(frames.feed(line))
    except TooLong:  # the reader has failed the turn by then
        return False


def _step(held: Accumulator, at: float, number: int, raw: list[bytes], events: list) -> Step:
    calls = [held.add(event) for event in events]
    ordinals = tuple(None if call is None else call.ordinal for call in calls)
    return Step(at, number, b"".join(raw), tuple(events), ordinals)
