"""When things happened in one response: its text, the moments of each call, and its end.

All times are seconds since the request was sent; None where a thing never happened.
"""

from bisect import bisect_left
from itertools import accumulate
from typing import NamedTuple

from ..events import Call, TextDelta, ThinkingDelta, Turn, TurnFinished
from ..turn import turn_of
from .captures import Capture
from .offsets import moment, offsets


class Moments(NamedTuple):
    """The moments of one call.

    `first_parse`: all required fields of the tool are closed, by one scan of the whole text (offsets.py); None where the
    tool is unknown too. `fragment`: the number of the fragment that brought it, counted from 0. `completed`: the
    completion event, or the turn's good finish where the call has none (`own` False).
    """

    ordinal: int
    tool: str
    announced: float | None
    fragments: list[float]
    first_parse: float | None
    fragment: int | None
    completed: float | None
    own: bool
    outcome: str

    @property
    def gap(self) -> float | None:
        """Seconds from first parse to completion."""
        return None if self.first_parse is None or self.completed is None else self.completed - self.first_parse


class TimeLine(NamedTuple):
    """One response: when visible text came, when thinking came, the calls, the provider's finish, and the end."""

    text: list[float]
    thinking: list[float]
    calls: list[Moments]
    finished: float | None
    ended: float
    verdict: str
    reason: str


def time_line(capture: Capture, events: list | None = None, turn: Turn | None = None) -> TimeLine:
    """The time line of a capture; `events` and `turn` where they are at hand. Linear in the capture."""
    events = capture.events() if events is None else events
    turn = turn_of(events, tools=capture.tools or None) if turn is None else turn
    finished = max((event.at for event in events if isinstance(event, TurnFinished)), default=None)
    good = finished if turn.verdict == "complete" else None
    known = {tool["name"]: tool for tool in capture.tools}
    return TimeLine(
        [event.at for event in events if isinstance(event, TextDelta) and event.text],
        [event.at for event in events if isinstance(event, ThinkingDelta) and event.text],
        [_moments(call, known.get(call.name), good) for call in turn.calls],
        finished,
        capture.ended_at,
        turn.verdict,
        turn.reason,
    )


def _moments(call: Call, tool: dict | None, finished: float | None) -> Moments:
    texts, times = [fragment.text for fragment in call.fragments], [fragment.at for fragment in call.fragments]
    parsed, ends = None, list(accumulate(map(len, texts)))
    if tool is not None and call.kind == "client":
        required = (tool.get("parameters") or {}).get("required") or ()
        _, parsed = offsets("".join(texts), set(required))
    own = call.finished_at is not None
    return Moments(
        call.ordinal,
        call.name,
        call.announced_at,
        times,
        moment(parsed, ends, times),
        None if parsed is None else bisect_left(ends, parsed),
        call.finished_at if own else finished,
        own,
        call.outcome,
    )
