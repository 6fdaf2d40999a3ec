"""What one more fragment costs, in a buffer that holds more and more: `+=` on an attribute against a list that is joined once."""

import time
from collections.abc import Iterable

from .chart import COLOURS, Chart, axes, styled


class GrowsAString:
    """The slow way: `+=` on an attribute copies all that is held, at every fragment."""

    def __init__(self):
        self.text = ""

    def add(self, fragment: str) -> None:
        self.text += fragment


class GrowsAList:
    """The way of the kit: append to a list, join once at the end."""

    def __init__(self):
        self.pieces: list[str] = []

    def add(self, fragment: str) -> None:
        self.pieces.append(fragment)

    @property
    def text(self) -> str:
        return "".join(self.pieces)


def cost_of_a_fragment(sizes: Iterable[int], fragment: str = "lamp", count: int = 200) -> dict:
    """Seconds that one more fragment takes in a buffer that holds `sizes` characters: the best of five times `count`."""
    data: dict = {"held": list(sizes), "+= on an attribute": [], "list and join": []}
    for size in data["held"]:
        for name, kind in (("+= on an attribute", GrowsAString), ("list and join", GrowsAList)):
            data[name].append(min(_timed(kind, size, fragment, count) for _ in range(5)))
    return data


def filled(kind, size: int, fragment: str):
    """A buffer of this kind that holds `size` characters already."""
    buffer = kind()
    if isinstance(buffer, GrowsAString):
        buffer.text = fragment * (size // len(fragment))
    else:
        buffer.pieces = [fragment] * (size // len(fragment))
    return buffer


def _timed(kind, size: int, fragment: str, count: int) -> float:
    buffer = filled(kind, size, fragment)
    begun = time.perf_counter()
    for _ in range(count):
        buffer.add(fragment)
    return (time.perf_counter() - begun) / count


def cost_chart(data: dict) -> Chart:
    """Both costs against what the buffer holds already, on logarithmic axes. Data: as measured."""
    with styled():
        figure, ax = axes(8.0, 3.4)
        for name, line, marker, colour in (
            ("+= on an attribute", "--", "s", COLOURS[1]),
            ("list and join", "-", "o", COLOURS[0]),
        ):
            ax.plot(data["held"], [1e6 * one for one in data[name]], line, marker=marker, color=colour, label=name)
        ax.set(xscale="log", yscale="log", xlabel="characters held already", ylabel="microseconds a fragment")
        for axis, form in (
            (ax.xaxis, "{x:,.0f}"),
            (ax.yaxis, "{x:g}"),
        ):  # powers of ten would be mathematics, which is off
            axis.set_major_formatter(form)
        ax.legend()
    ratio = [slow / quick for slow, quick in zip(data["+= on an attribute"], data["list and join"], strict=True)]
    said = f"At {data['held'][-1]:,} characters += on an attribute takes {ratio[-1]:,.0f} times as long as an append to a list"
    return Chart(figure, data, f"What one more fragment costs. {said}; at {data['held'][0]:,}, {ratio[0]:.1f} times.")
