"""The time line of one response as SVG: announcement, first parse and completion of each call, on one axis of seconds.

Drawn in the colour of the text around it, so that it stands on any theme; shapes and words tell the marks apart.
"""

from math import ceil, floor, log10

from .player_words import ROWS, many, safe, sentence
from .timeline import Moments, TimeLine

WIDTH, LEFT, RIGHT, ROW, TOP = 940, 150, 20, 34, 18  # in units of the drawing, about a pixel each
LATE = 0.3  # share of the response's time
NAMES = {  # of the marks
    "announced": "announcement",
    "first parse": "first parse: required fields closed",
    "completed": "completion",
    "cut": "cut off",
}
BANDS = [  # class, path in a box of 20 by 20, name
    ("sk-ticks", "M10 5v10", "a delta"),
    ("sk-gap", "M2 10H18", "gap"),
    ("sk-finish", "M10 2V18", "turn's finish"),
]


class Axis:
    """Seconds to places on the drawing. It begins at 0, or at the first sign of life where that came late."""

    def __init__(self, begun: float, ended: float):
        self.ended = ended or 1.0
        self.begun = begun if self.ended * LATE < begun < self.ended else 0.0

    def x(self, at: float) -> float:
        share = (at - self.begun) / (self.ended - self.begun)
        return round(LEFT + (WIDTH - LEFT - RIGHT) * min(max(share, 0), 1), 1)

    def ticks(self) -> list[float]:
        """Round numbers of seconds, five to ten of them."""
        rough = (self.ended - self.begun) / 6
        unit = 10 ** floor(log10(rough))
        step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough)
        return [number * step for number in range(ceil(self.begun / step), int(self.ended / step) + 1)]


class Drawing:
    """The time line, and over it a pointer at any moment. Drawn once; a new pointer costs the same for any capture."""

    def __init__(self, line: TimeLine):
        signs = [
            *line.text[:1],
            *line.thinking[:1],
            *(call.announced for call in line.calls if call.announced is not None),
        ]
        self.axis = Axis(min(signs, default=0.0), line.ended)
        rows = [("text", line.text)] if line.text else []
        rows += [("thinking", line.thinking)] if line.thinking else []
        calls = line.calls[:ROWS]
        self.height = TOP + ROW * (len(rows) + len(calls)) + 40
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
        """The drawing with its pointer at `seconds`, and the time in figures; None: without."""
        if seconds is None:
            return self._head + self._tail
        x, bottom = self.axis.x(seconds), self.height - 34
        pointer = f'<g class="sk-head"><path d="M{x} 6 V{bottom}"/><path d="M{x - 6} 0 h12 l-6 9 z"/></g>'
        clock = f'<text x="{LEFT - 10}" y="12" text-anchor="end">at {seconds:.3f} s</text>'
        return self._head + pointer + clock + self._tail

    def _middle(self, row: int) -> int:
        return TOP + ROW * row + ROW // 2

    def _words(self, row: int, text: str) -> str:
        short = text if len(text) <= 20 else text[:19] + "…"
        return f'<text x="{LEFT - 10}" y="{self._middle(row) + 4}" text-anchor="end">{safe(short)}</text>'

    def _ticks(self, row: int, times: list[float]) -> str:
        """One stroke a delta; where they stand as close as the drawing can show, one box for all of them."""
        top, boxes = self._middle(row) - 5, []
        for x in sorted({round(self.axis.x(at)) for at in times}):
            if boxes and x - boxes[-1][1] <= 1:
                boxes[-1][1] = x
            else:
                boxes.append([x, x])
        strokes = [f"M{x} {top}v10" if x == to else f"M{x} {top}h{to - x}v10h{x - to}z" for x, to in boxes]
        return f'<path class="sk-ticks" d="{"".join(strokes)}"/>'

    def _call(self, row: int, call: Moments) -> str:
        y, parts = self._middle(row), [self._words(row, f"{call.ordinal}: {call.tool or '(no name)'}")]
        begin = call.announced if call.announced is not None else 0
        last = max([begin, *call.fragments[-1:], *([call.completed] if call.completed is not None else [])])
        parts.append(f'<path class="sk-thin" d="M{self.axis.x(begin)} {y}H{self.axis.x(last)}"/>')
        parts.append(self._ticks(row, call.fragments))
        if call.gap is not None:
            x, end = self.axis.x(call.first_parse), self.axis.x(call.completed)
            parts.append(f'<path class="sk-gap" d="M{x} {y + 13}H{end}"/>')
            if end - x > 90:
                middle = (x + end) / 2
                parts.append(f'<rect class="sk-paper" x="{middle - 38:.1f}" y="{y + 7}" width="76" height="13"/>')
                text = f'x="{middle:.1f}" y="{y + 17}" text-anchor="middle">gap {call.gap:.3f} s'
                parts.append(f'<text class="sk-tiny" {text}</text>')
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
    parts = [
        f'<span><svg class="sk-mark" viewBox="0 0 20 20" aria-hidden="true">{drawn}</svg> {name}</span>'
        for drawn, name in [
            *((mark(shape, 10, 10), name) for shape, name in NAMES.items()),
            *((f'<path class="{kind}" d="{path}"/>', name) for kind, path, name in BANDS),
        ]
    ]
    return f'<div class="sk-legend">{" ".join(parts)}</div>'
