"""What all charts share, and two kinds that anyone can fill: one look, alt text beside every picture, and the plotted data, so that it can be tested.

Series are told apart by shape, line and hatch too, so that grey paper and colour-blind eyes lose nothing.
"""

import base64
import io
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from statistics import median
from typing import Any

from ..preview import visible
from .problem import Problem

# Okabe and Ito's colours, in an order in which neighbours differ as greys too, the pale ones last
COLOURS = ("#0072B2", "#D55E00", "#000000", "#009E73", "#CC79A7", "#E69F00")
LINES = ("-", "--", ":", "-.", (0, (6, 2, 1, 2, 1, 2)), (0, (1, 3)))
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "+++")
MARKERS = ("o", "s", "D", "^", "v", "P")
LOOK = {
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.titlelocation": "left",
    "grid.color": "0.88",
    "hatch.linewidth": 0.8,
    "text.parse_math": False,  # a `$` in a model's text is a dollar
    "text.usetex": False,
    "legend.frameon": False,
}
SHOWN, DRAWN = 88, 160  # pixels an inch: as shown, and as drawn, for fine screens and for paper


@dataclass(frozen=True, slots=True, eq=False)  # no tuple: IPython prints those its own way, whatever the bundle says
class Chart:
    """A matplotlib figure, what it plots as plain data, and the sentence that stands for it where it cannot be seen.

    As the last line of a cell it shows itself: an image/png for every reader of notebooks, the same picture as HTML, since
    that is where JupyterLab takes alt text from, and in text its sentence.
    """

    figure: Any
    data: Any
    alt: str

    def png(self) -> bytes:
        """The picture in at most 64 colours, without a date or version in it."""
        from PIL import Image

        drawn, small = io.BytesIO(), io.BytesIO()
        with styled():
            self.figure.savefig(drawn, format="png", dpi=DRAWN, facecolor="white")
        Image.open(drawn).convert("RGB").quantize(64, dither=Image.Dither.NONE).save(small, "PNG", optimize=True)
        return small.getvalue()

    def _repr_mimebundle_(self, **_) -> tuple[dict, dict]:
        png, alt = base64.b64encode(self.png()).decode(), visible(self.alt)
        width = round(self.figure.get_figwidth() * SHOWN)
        html = f'<img alt="{escape(alt)}" width="{width}" src="data:image/png;base64,{png}">'
        return {"image/png": png, "text/html": html, "text/plain": alt}, {"image/png": {"alt": alt, "width": width}}


@contextmanager
def styled():
    """matplotlib's settings in the kit's look, for as long as a chart is made."""
    import matplotlib

    with matplotlib.rc_context(LOOK):
        yield


def axes(width: float = 9.0, height: float = 3.6, rows: int = 1, columns: int = 1):
    """A figure (inches) and its axes, to be used inside `styled()`. It belongs to no one: a cell shows it once, as a Chart."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns)


def words(text: Any, longest: int = 40) -> str:
    """Foreign text for a label: one line, cut, nothing in it that a screen or matplotlib would obey."""
    line = " ".join(visible(str(text)).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def ecdf(
    series: Mapping[str, Sequence[float]], label: str, title: str = "", reference: tuple[float, str] | None = None
) -> Chart:
    """For each named series the share of its values that are at most x, with the median marked.

    `label`: of the x axis, with its unit. `reference`: a value from elsewhere and what it is. Data: for each name {"x":
    sorted values, "y": shares, "median"}. Raises Problem for a series without values.
    """
    data = {}
    with styled():
        figure, ax = axes()
        for n, (name, values) in enumerate(series.items()):
            xs = sorted(map(float, values))
            if not xs:
                raise Problem(f"values to draw were expected for {name!r}, none came")
            ys, middle = [(place + 1) / len(xs) for place in range(len(xs))], median(xs)
            data[name] = {"x": xs, "y": ys, "median": middle}
            look = {"color": COLOURS[n % len(COLOURS)], "linestyle": LINES[n % len(LINES)]}
            ax.step(
                [xs[0], *xs],
                [0, *ys],
                where="post",
                label=f"{words(name)} (n = {len(xs):,}, median {middle:.3g})",
                **look,
            )
            ax.plot([middle], [0.5], marker=MARKERS[n % len(MARKERS)], color=look["color"], linestyle="")
        if reference:
            ax.axvline(reference[0], color="0.25", linestyle=(0, (1, 1)), linewidth=2)
            ax.annotate(reference[1], (reference[0], 0.03), (5, 0), textcoords="offset points", fontsize=9)
        ax.set(xlabel=label, ylabel="share at most this", ylim=(0, 1.03), title=title)
        ax.legend(fontsize=9)
    said = "; ".join(
        f"{name}: median {got['median']:.3g}, from {got['x'][0]:.3g} to {got['x'][-1]:.3g}"
        for name, got in data.items()
    )
    beside = f" For reference, {reference[1]}: {reference[0]:.3g}." if reference else ""
    return Chart(figure, data, f"{title or 'Cumulative distribution'} ({label}). {said}.{beside}")


def bars(groups: Mapping[str, Mapping[str, float]], label: str, title: str = "", form: str = "{:g}") -> Chart:
    """Labelled bars: for each series (told apart by hatch) a value for each name, written beside its bar.

    `groups`: series → {name: value}; a name that a series lacks has no bar there. `label`: of the values' axis, with its
    unit. `form`: how a value is written. Data: the groups as plain dicts. Raises Problem where there is nothing to draw.
    """
    data = {series: dict(values) for series, values in groups.items()}
    names = list(dict.fromkeys(name for values in data.values() for name in values))
    if not names:
        raise Problem("at least one value to draw was expected, none came")
    shared = {name for name in names if sum(name in values for values in data.values()) > 1}
    thick = 0.8 / len(data)
    with styled():
        figure, ax = axes(height=1.3 + 0.3 * len(names) * max(1.0, 0.8 * len(data)))
        for n, (series, values) in enumerate(data.items()):
            aside = (n - (len(data) - 1) / 2) * thick  # from the tick, where the name has a bar of another series too
            places = [(names.index(name) + (aside if name in shared else 0), value) for name, value in values.items()]
            drawn = ax.barh(
                [y for y, _ in places],
                [value for _, value in places],
                thick * 0.9,
                color="white" if n % 2 else COLOURS[n % len(COLOURS)],
                edgecolor=COLOURS[n % len(COLOURS)],
                hatch=HATCHES[n % len(HATCHES)],
                label=words(series),
            )
            ax.bar_label(drawn, [form.format(value) for _, value in places], padding=3, fontsize=9)
        ax.set_yticks(range(len(names)), [words(name) for name in names])
        ax.set(ylim=(len(names) - 0.45, -0.55), xlabel=label, title=title)
        ax.margins(x=0.12)
        ax.grid(visible=False, axis="y")
        if len(data) > 1:
            figure.legend(loc="outside lower center", ncols=4, fontsize=9)
    said = "; ".join(
        f"{series}: {', '.join(f'{name} {form.format(value)}' for name, value in values.items())}"
        for series, values in data.items()
    )
    return Chart(figure, data, f"{title or 'Bars'} ({label}). {said}.")
