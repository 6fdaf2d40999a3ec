"""How long a screen stands still in an exchange: for one that shows text alone, and for one that shows blocks."""

from collections.abc import Iterable
from itertools import pairwise
from statistics import median

from ..events import CallMoved, TextDelta
from ..turn import TurnBuilder
from .captures import Capture
from .chart import Chart, bars

TEXT, BLOCKS = "text alone", "blocks"


def changes(parts: Iterable[Capture]) -> dict[str, list[float]]:
    """When something new could be seen, for both screens: seconds since the first request, the tools taking no time.

    `parts`: the responses of one exchange, in order.
    """
    seen: dict[str, list[float]] = {TEXT: [0.0], BLOCKS: [0.0]}
    start = 0.0
    for capture in parts:
        builder = TurnBuilder(capture.tools)
        for event in capture.events():
            moved = builder.add(event)
            if isinstance(event, TextDelta) and event.text.strip():
                seen[TEXT].append(start + event.at)
                seen[BLOCKS].append(start + event.at)
            seen[BLOCKS] += [start + move.at for move in moved if isinstance(move, CallMoved)]
        seen[BLOCKS] += [start + capture.ended_at for _ in builder.end(capture.ended_at)]
        start += capture.ended_at
    return seen


def longest(moments: list[float]) -> float:
    """The longest wait between two moments, in seconds."""
    return max((later - earlier for earlier, later in pairwise(sorted(moments))), default=0.0)


def stillness_chart(exchanges: Iterable[list[Capture]]) -> Chart:
    """The longest wait without a change on the screen, median over the exchanges of each API.

    Data: {screen: {api: seconds}}.
    """
    waits: dict[str, dict[str, list[float]]] = {TEXT: {}, BLOCKS: {}}
    for parts in exchanges:
        for screen, moments in changes(parts).items():
            waits[screen].setdefault(parts[0].api, []).append(longest(moments))
    data = {screen: {api: median(values) for api, values in apis.items()} for screen, apis in waits.items()}
    return bars(data, "longest wait without a change on the screen, seconds", form="{:.2f}")
