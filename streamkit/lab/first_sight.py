"""When a user could first see that a step has begun: the first call of a response, under three ways of showing it."""

from collections.abc import Iterable, Iterator
from statistics import median
from typing import NamedTuple

from ..accumulator import Accumulator
from ..events import CallFinished, TurnFinished
from ..wire import reader
from .captures import Capture
from .chart import COLOURS, Chart, axes, styled, words
from .problem import Problem
from .proxy import SIZE, held_back


class Sight(NamedTuple):
    """Seconds since the request was sent. `finished`: the call's completion event, or the finish where the API has none."""

    capture: str
    api: str
    announced: float  # the name arrives, and the screen may say that something is being prepared
    held_back: float  # the same, behind a proxy that holds back `size` bytes at a time: computed from the reads
    finished: float  # for a screen that shows a call only when it is whole


def moments(api: str, reads: Iterable, ending: str, ended_at: float) -> tuple[float, float] | None:
    """(announced, finished) of the first call in these reads; None where no call came, or it never finished."""
    wire, held, announced = reader(api), Accumulator(), None
    events = [event for at, data in reads for event in wire.feed(data, at)] + wire.close(ending, ended_at)
    for event in events:
        held.add(event)
        if held.calls and announced is None:
            announced, first = event.at, held.calls[0]
        if announced is not None and (
            isinstance(event, TurnFinished) or (isinstance(event, CallFinished) and first.finished_at is not None)
        ):
            return announced, event.at
    return None


def sights(captures: Iterable[Capture], size: int = SIZE) -> Iterator[Sight]:
    """One for each capture whose first call finished; `size`: bytes that the proxy holds back."""
    for capture in captures:
        api, ending, ended_at = capture.api, capture.ending, capture.ended_at
        direct = moments(api, capture.reads, ending, ended_at)
        if direct:
            late = moments(api, held_back(capture.reads, ended_at, size), ending, ended_at)
            yield Sight(capture.name, api, direct[0], late[0], direct[1])


KINDS = {  # field of Sight → what the chart calls it, its marker and colour
    "announced": ("the name, as it arrives", "o", COLOURS[0]),
    "held_back": ("the name, held back by a buffering proxy", "^", COLOURS[1]),
    "finished": ("the call, once it is finished", "s", COLOURS[2]),
}
TICKS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300)  # seconds


def sight_chart(sights: Iterable[Sight]) -> Chart:
    """For each API a panel, for each capture a line in it with three marks, sorted by the time of the name. Data: the
    sights by API. Raises Problem where there is none.
    """
    data: dict[str, list[Sight]] = {}
    for sight in sorted(sights, key=lambda sight: sight.announced):
        data.setdefault(sight.api, []).append(sight)
    if not data:
        raise Problem("captures with a call that finished were expected, none came")
    seconds = [second for rows in data.values() for row in rows for second in row[2:]]
    first, last = min(seconds) * 0.8, max(seconds) * 1.25  # one scale for all panels
    ticks = [tick for tick in TICKS if first <= tick <= last]
    with styled():
        figure, _ = axes(9.0, 4.4, columns=len(data))
        for panel, (api, rows) in zip(figure.axes, sorted(data.items()), strict=True):
            ys = range(len(rows))
            panel.hlines(ys, [row.announced for row in rows], [row.finished for row in rows], color="0.75", linewidth=1)
            for field, (label, marker, colour) in KINDS.items():
                xs = [getattr(row, field) for row in rows]
                hollow = "none" if field == "finished" else colour
                panel.plot(xs, ys, marker, color=colour, markerfacecolor=hollow, markersize=4, label=label)
            panel.set(xscale="log", title=words(api), yticks=[], xlabel="seconds since the request", xlim=(first, last))
            panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
            panel.set_xticks([], minor=True)
        figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=9)
    said = "; ".join(
        f"{api}: "
        + ", ".join(f"{label} {median(getattr(r, field) for r in rows):.2f} s" for field, (label, *_) in KINDS.items())
        for api, rows in sorted(data.items())
    )
    return Chart(figure, data, f"When a user could first see that a step has begun, medians over captures. {said}.")
