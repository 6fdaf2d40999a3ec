"""The time line of one response as SVG: announcement, first parse and completion of each call, on one axis of seconds.

Drawn in the colour of the text around it, so that it stands on any theme; shapes and words tell the marks apart.
"""

from math import floor, log10

from .player_view import many, safe, state
from .timeline import Moments, TimeLine

WIDTH, LEFT, RIGHT, ROW, TOP = 940, 150, 20, 30, 18  # in units of the drawing, about a pixel each
ROWS = 8  # calls drawn


class Axis:
    """Seconds to places on the drawing."""

    def __init__(self, ended: float):
        self.ended = ended or 1.0

    def x(self, at: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * min(max(at / self.ended, 0), 1), 1)

    def ticks(self) -> list[float]:
        """Round numbers of seconds, five to ten of them."""
        rough = self.ended / 6
        unit = 10 ** floor(log10(rough))
        step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough)
        return [number * step for number in range(int(self.ended / step) + 1)]


class Drawing:
    """The time line, and over it a pointer at any moment. Drawn once; a new pointer costs the same for any capture."""

    def __init__(self, line: TimeLine):
        self.axis = Axis(max([line.ended, *(call.completed or 0 for call in line.calls)]))
        rows = [("text", line.text)] if line.text else []
        rows += [("thinking", line.thinking)] if line.thinking else []
        calls = line.calls[:ROWS]
        self.height = TOP + ROW * (len(rows) + len(calls)) + 34
        parts = [self._words(row, name) + self._ticks(row, times) for row, (name, times) in enumerate(rows)]
        parts += [self._call(row, call) for row, call in enumerate(calls, len(rows))]
        parts += [self._scale(), self._finish(line)]
        label = safe(sentence(line))
        self._head = (
            f'<svg class="sk-line" viewBox="0 0 {WIDTH} {self.height}" role="img" aria-label="{label}" '
            f'xmlns="http://www.w3.org/2000/svg">{"".join(parts)}'
        )
        more = len(line.calls) - ROWS
        self._tail = "</svg>" + (
            f'<div class="sk-small">{many(more, "more call")} not drawn.</div>' if more > 0 else ""
        )

    def at(self, seconds: float | None) -> str:
        """The drawing with its pointer at `seconds`; None: without."""
        if seconds is None:
            return self._head + self._tail
        x, bottom = self.axis.x(seconds), self.height - 34
        pointer = f'<g class="sk-head"><path d="M{x} 6 V{bottom}"/><path d="M{x - 6} 0 h12 l-6 9 z"/></g>'
        return self._head + pointer + self._tail

    def _middle(self, row: int) -> int:
        return TOP + ROW * row + ROW // 2

    def _words(self, row: int, text: str) -> str:
        short = text if len(text) <= 22 else text[:21] + "…"
        return f'<text x="{LEFT - 10}" y="{self._middle(row) + 4}" text-anchor="end">{safe(short)}</text>'

    def _ticks(self, row: int, times: list[float]) -> str:
        """One stroke a delta; deltas on the same place of the drawing share one."""
        y = self._middle(row)
        places = dict.fromkeys(round(self.axis.x(at)) for at in times)
        return f'<path class="sk-ticks" d="{"".join(f"M{x} {y - 5}v10" for x in places)}"/>'

    def _call(self, row: int, call: Moments) -> str:
        y, parts = self._middle(row), [self._words(row, f"{call.ordinal}: {call.tool or '(no name)'}")]
        begin = call.announced if call.announced is not None else 0
        last = max([begin, *call.fragments[-1:], *([call.completed] if call.completed is not None else [])])
        parts.append(f'<path class="sk-thin" d="M{self.axis.x(begin)} {y}H{self.axis.x(last)}"/>')
        parts.append(self._ticks(row, call.fragments))
        if call.gap is not None:
            x, end = self.axis.x(call.first_parse), self.axis.x(call.completed)
            parts.append(f'<path class="sk-gap" d="M{x} {y + 10}H{end}"/>')
            if end - x > 90:
                parts.append(
                    f'<text class="sk-tiny" x="{(x + end) / 2}" y="{y - 7}" text-anchor="middle">gap {call.gap:.3f} s</text>'
                )
        shapes = [("announced", call.announced), ("first parse", call.first_parse)]
        shapes.append(
            (
                "completed" if call.completed is not None else "cut",
                call.completed if call.completed is not None else last,
            )
        )
        return "".join(parts + [mark(shape, self.axis.x(at), y) for shape, at in shapes if at is not None])

    def _scale(self) -> str:
        y = self.height - 34
        parts = [f'<path class="sk-thin" d="M{LEFT} {y}H{WIDTH - RIGHT}"/>']
        for at in self.axis.ticks():
            x = self.axis.x(at)
            parts.append(
                f'<path class="sk-thin" d="M{x} {y}v4"/><text class="sk-tiny" x="{x}" y="{y + 16}" text-anchor="middle">{at:g}</text>'
            )
        return "".join(parts) + f'<text class="sk-tiny" x="{LEFT - 10}" y="{y + 16}" text-anchor="end">seconds</text>'

    def _finish(self, line: TimeLine) -> str:
        at = line.ended if line.finished is None else line.finished
        return f'<path class="sk-finish" d="M{self.axis.x(at)} {TOP - 4}V{self.height - 34}"/>'


def mark(shape: str, x: float, y: float) -> str:
    """A mark at a place: a triangle, a diamond, a square, or a cross where the call was cut off."""
    path = {
        "announced": f"M{x - 5} {y - 7}l10 7l-10 7z",
        "first parse": f"M{x} {y - 7}l7 7l-7 7l-7 -7z",
        "completed": f"M{x - 6} {y - 6}h12v12h-12z",
        "cut": f"M{x - 6} {y - 6}l12 12m0 -12l-12 12",
    }[shape]
    return f'<path class="sk-{shape.replace(" ", "-")}" d="{path}"/>'


def legend() -> str:
    """The marks in words."""
    names = {
        "announced": "announcement: name and id",
        "first parse": "first parse: the required fields are closed",
        "completed": "completion",
        "cut": "cut off",
    }
    parts = [
        f'<span><svg class="sk-mark" viewBox="0 0 20 20" aria-hidden="true">{mark(shape, 10, 10)}</svg> {name}</span>'
        for shape, name in names.items()
    ]
    bands = [
        ("sk-ticks", "M10 5v10", "a delta"),
        ("sk-gap", "M2 10H18", "gap"),
        ("sk-finish", "M10 2V18", "the turn's finish"),
    ]
    parts += [
        f'<span><svg class="sk-mark" viewBox="0 0 20 20" aria-hidden="true"><path class="{kind}" d="{path}"/></svg> {name}</span>'
        for kind, path, name in bands
    ]
    return f'<div class="sk-legend">{" ".join(parts)}</div>'


def sentence(line: TimeLine) -> str:
    """The time line in words, for who cannot see it."""
    said = [f"Time line of {line.ended:.3f} seconds, {many(len(line.calls), 'call')}."]
    for call in line.calls[:ROWS]:
        moments = [
            f"{word} at {at:.3f} s" if at is not None else f"{word} never"
            for word, at in (
                ("announced", call.announced),
                ("first parse", call.first_parse),
                ("completed", call.completed),
            )
        ]
        said.append(f"Call {call.ordinal}, {call.tool[:60] or 'without a name'}: {', '.join(moments)}.")
    return " ".join([*said, f"The turn is {line.verdict}: {line.reason[:80]}."])


def table(line: TimeLine) -> str:
    """The moments of the calls as a table of seconds."""
    heads = ("call", "announced", "first parse", "completed", "gap", "fragments", "in the end")
    rows = []
    for call in line.calls[:ROWS]:
        times = [number(at) for at in (call.announced, call.first_parse)]
        times.append(number(call.completed) + ("" if call.own or call.completed is None else " (turn)"))
        cells = [f"{call.ordinal}: {safe(call.tool[:60])}", *times, number(call.gap), f"{len(call.fragments):,}"]
        rows.append([*cells, state(call.outcome)])
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<table class="sk-table"><tr>{"".join(f"<th>{head}</th>" for head in heads)}</tr>{body}</table>'


def number(at: float | None) -> str:
    return "–" if at is None else f"{at:.3f} s"
