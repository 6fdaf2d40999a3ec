"""Early dispatch over many calls: what it would have run, and what warming would have saved instead."""

from collections.abc import Iterable
from typing import Any

from .chart import COLOURS, LINES, Chart, axes, bars, styled

KINDS = ("value extended", "escape resolved", "optional field added", "key repeated", "several")
RIGHT = "nothing: it was whole by then"
PUBLISHED = (0.210, "published median of a provider, 210 ms")


def damage(frame: Any) -> dict[str, dict[str, int]]:
    """Calls by what still changed after their first parse: for a client that goes at *begun*, and one that waits for *stable*.

    `frame`: the DataFrame of `latency.gaps`.
    """
    found = {}
    for client, column in (
        ("required fields begun", "how"),
        ("required fields closed", "changed_after_stable"),
    ):
        counts = frame[column].fillna("").value_counts()
        found[client] = {kind: int(counts[kind]) for kind in KINDS if kind in counts}
        found[client][RIGHT] = int(counts.get("", 0))
    return found


def damage_chart(frame: Any) -> Chart:
    """Data: {client: {kind of change: calls}}."""
    counts = damage(frame)
    kinds = [kind for kind in (*KINDS, RIGHT) if any(kind in client for client in counts.values())]
    return bars(
        {client: {kind: client_counts.get(kind, 0) for kind in kinds} for client, client_counts in counts.items()},
        f"calls, of {len(frame)}",
        "What still changed after an early dispatch",
    )


def saved(gaps: Iterable[float], cost: float) -> list[float]:
    """What warming saves of a preparation that costs `cost` seconds: all of it where the gap is longer, else the gap."""
    return [min(gap, cost) for gap in gaps]


def warming_chart(gaps: Iterable[float], longest: float = 2.0, steps: int = 41) -> Chart:
    """The mean saving of warming, and of early dispatch, over the cost of what can be prepared (seconds).

    Early dispatch saves the whole gap whatever the tool costs; that is its upper limit. Data: {"cost": [...], "warming":
    [...], "early": seconds}.
    """
    gaps = list(gaps)
    costs = [longest * step / (steps - 1) for step in range(steps)]
    means = [sum(saved(gaps, cost)) / len(gaps) for cost in costs]
    early = sum(gaps) / len(gaps)
    with styled():
        figure, ax = axes()
        ax.plot(
            costs,
            means,
            color=COLOURS[0],
            linestyle=LINES[0],
            label="warming: no effect, no answer, thrown away where it does not fit",
        )
        ax.axhline(
            early, color=COLOURS[1], linestyle=LINES[1], label="early dispatch: the whole gap, and the wrong calls"
        )
        ax.set(
            xlabel="seconds that the tool takes before it needs the whole call",
            ylabel="seconds saved, mean",
            xlim=(0, longest),
            ylim=(0, None),
        )
        ax.legend(fontsize=9, loc="lower right")
    half = means[costs.index(0.5)] if 0.5 in costs else None
    alt = (
        f"Mean saving over {len(gaps)} calls. Early dispatch would save {early:.2f} s of waiting. Warming saves "
        + (f"{half:.2f} s where 0.5 s can be prepared, and " if half is not None else "")
        + f"{means[-1]:.2f} s where {longest:g} s can."
    )
    return Chart(figure, {"cost": costs, "warming": means, "early": early}, alt)
