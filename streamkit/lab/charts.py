"""The charts that several chapters use. Each gives a Chart: .figure, .data (what is plotted) and .alt (its sentence)."""

from .captures import Capture
from .chart import COLOURS, Chart, axes, bars, ecdf, styled, words
from .player_words import sentence
from .timeline import Moments, time_line

__all__ = ["Chart", "axes", "bars", "ecdf", "styled", "timeline", "words"]

ROWS = 24  # calls drawn of one turn
SHAPES = {"announced": ">", "first parse": "D", "completed": "s", "cut off": "X"}
SHADES = dict(zip(SHAPES, (COLOURS[0], COLOURS[1], COLOURS[2], COLOURS[2]), strict=True))
SECONDS = "seconds since the request was sent"


def timeline(capture: Capture) -> Chart:
    """The time line of one turn: its deltas, and announcement, first parse and completion of each call.

    Data: {"text", "thinking": seconds of the deltas, "calls": a dict a call (timeline.Moments, and its gap), "finished",
    "ended"}; seconds since the request was sent.
    """
    line = time_line(capture)
    calls, name = line.calls[:ROWS], named(capture)
    lanes = [("text", line.text)] + ([("thinking", line.thinking)] if line.thinking else [])
    first = len(lanes)
    lanes += [(f"{call.ordinal}: {words(call.tool, 20)}", call.fragments) for call in calls]
    with styled():
        figure, ax = axes(height=1.7 + 0.45 * len(lanes))
        rows = range(len(lanes))
        ax.eventplot([times for _, times in lanes], lineoffsets=rows, linelengths=0.4, colors="0.35", linewidths=0.9)
        for row, call in enumerate(calls, first):
            _gap(ax, row, call)
        for kind, places in _places(calls, first).items():
            _mark(ax, kind, places)
        finished, ended = (
            line.finished is not None,
            "turn's finish" if line.finished is not None else "end of the stream",
        )
        ax.axvline(line.finished if finished else line.ended, color="black", linestyle="--", linewidth=1, label=ended)
        ax.set_yticks(rows, [lane for lane, _ in lanes])
        ax.set(ylim=(len(lanes) - 0.4, -0.6), xlim=(0, None), xlabel=SECONDS, title=name)
        figure.legend(loc="outside lower center", ncols=5, fontsize=9)
    data = {"text": line.text, "thinking": line.thinking, "finished": line.finished, "ended": line.ended}
    data["calls"] = [call._asdict() | {"gap": call.gap} for call in line.calls]
    return Chart(figure, data, f"{name}. {sentence(line)}")


def _gap(ax, row: int, call: Moments) -> None:
    if call.gap is None:
        return
    ax.barh(row + 0.34, call.gap, 0.16, call.first_parse, color="white", edgecolor=COLOURS[0], hatch="////")
    paper = {"facecolor": "white", "edgecolor": "none", "pad": 1}
    middle, text = (call.first_parse + call.completed) / 2, f"gap {call.gap:.2f} s"
    ax.text(middle, row + 0.34, text, ha="center", va="center", fontsize=9, bbox=paper)


def _places(calls: list[Moments], first: int) -> dict[str, list[tuple[float, int]]]:
    """Where the marks of each kind stand: (seconds, row)."""
    places = {"announced": [], "first parse": [], "completed": [], "cut off": []}
    for row, call in enumerate(calls, first):
        last = max([call.announced or 0.0, *call.fragments[-1:]])
        cut = last if call.completed is None else None
        moments = (call.announced, call.first_parse, call.completed, cut)
        for kind, at in zip(places, moments, strict=True):
            places[kind] += [] if at is None else [(at, row)]
    return places


def _mark(ax, kind: str, places: list[tuple[float, int]]) -> None:
    if places:
        xs, ys = zip(*places, strict=True)
        look = {"color": SHADES[kind], "edgecolor": "black", "linewidth": 0.8, "zorder": 3, "clip_on": False}
        ax.scatter(xs, ys, marker=SHAPES[kind], s=58, label=kind, **look)


def named(capture: Capture) -> str:
    """The capture's name for a chart, and whether it is derived from a recorded one."""
    return words(capture.name) + (" (derived)" if capture.header.get("derived") else "")
