"""What one delta costs a display, by the length of the text so far: reading all of it again, or going on where one was."""

import time
from collections.abc import Callable, Sequence

from partial_json_parser import Allow, loads

from ..fields import Fields
from .chart import COLOURS, LINES, MARKERS, Chart, axes, styled

PIECE = 4  # characters a delta
AGAIN, ON = "reading all of it again", "the scanner"


def document(size: int) -> str:
    """An argument text of about `size` characters: many short fields."""
    fields = [f'"field_{n}": "a value of {n}"' for n in range(size // 27 + 1)]
    return "{" + ", ".join(fields) + "}"


def read_again(fragments: Sequence[str]) -> None:
    """The display that joins what it holds and parses it, at every delta."""
    held = ""
    for fragment in fragments:
        held += fragment  # quadratic, as the display is that this shows
        loads(held, Allow.ALL)


def read_on(fragments: Sequence[str]) -> None:
    """The display that feeds each delta to the field scanner."""
    scanner = Fields()
    for fragment in fragments:
        scanner.feed(fragment)


def cost(display: Callable[[Sequence[str]], None], size: int) -> float:
    """Microseconds a delta over a whole text of `size` characters, the better of two runs."""
    text = document(size)
    fragments = [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
    spent = []
    for _ in range(2):
        begin = time.perf_counter()
        display(fragments)
        spent.append(time.perf_counter() - begin)
    return min(spent) / len(fragments) * 1e6


def cost_chart(short: Sequence[int] = (250, 500, 1000, 2000), long: Sequence[int] = (8000, 32_000, 128_000)) -> Chart:
    """Cost of a delta against the length of the text, both axes logarithmic; the long texts for the scanner alone.

    Data: {display: {size in characters: microseconds a delta}}.
    """
    data = {
        AGAIN: {size: cost(read_again, size) for size in short},
        ON: {size: cost(read_on, size) for size in [*short, *long]},
    }
    with styled():
        figure, ax = axes()
        for n, (name, costs) in enumerate(data.items()):
            ax.plot(
                list(costs),
                list(costs.values()),
                color=COLOURS[1 - n],
                linestyle=LINES[1 - n],
                marker=MARKERS[n],
                label=name,
            )
        ax.set(xscale="log", yscale="log", xlabel="characters of the argument text", ylabel="microseconds a delta")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter("{x:,.0f}")  # the kit's look parses no mathtext, which powers of ten are
        ax.legend(fontsize=9)
    said = "; ".join(
        f"{name}: {', '.join(f'{size:,} characters {value:.0f} µs' for size, value in costs.items())}"
        for name, costs in data.items()
    )
    return Chart(figure, data, f"Cost of one delta of {PIECE} characters. {said}.")
