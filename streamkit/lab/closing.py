"""What closing a cut argument text would run: each prefix of a finished call, closed by a tolerant parser and validated."""

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from partial_json_parser import Allow
from partial_json_parser import loads as tolerant

from ..events import Call
from ..finalise import Tools
from .captures import Capture
from .chart import COLOURS, LINES, Chart, axes, styled

WRONG, RIGHT, REFUSED = (
    "another call than the model made",
    "the model's own call",
    "refused by the schema, or no object",
)
BINS = 20


class Closed(NamedTuple):
    """One prefix, at a fragment's end: how much of the text it is (0 to 1), and what closing it would give."""

    share: float
    verdict: str
    arguments: object


def close(text: str) -> object:
    """The value that partial-json-parser makes of a cut text, all its `Allow` flags on; None where it gives up."""
    try:
        return tolerant(text, Allow.ALL)
    except Exception:  # of five types, documented and not
        return None


def closed_prefixes(call: Call, tools: Tools) -> Iterator[Closed]:
    """Every proper prefix of a ready call's text that ends with a fragment, closed."""
    whole, upto, text = json.dumps(call.arguments, sort_keys=True), "", call.text
    for fragment in call.fragments[:-1]:
        upto += fragment.text  # quadratic, as the client is that this shows
        if upto == text:
            return
        value = close(upto)
        if not isinstance(value, dict) or tools.complaints(call.name, value):
            verdict = REFUSED
        else:
            verdict = RIGHT if json.dumps(value, sort_keys=True) == whole else WRONG
        yield Closed(len(upto) / len(text), verdict, value)


def ready_calls(captures: Iterable[Capture]) -> Iterator[tuple[Call, Tools]]:
    """The ready calls of captures, each with the tools that were offered."""
    for capture in captures:
        tools = Tools(capture.tools)
        yield from ((call, tools) for call in capture.turn().calls if call.outcome == "ready")


def closing_chart(captures: Iterable[Capture]) -> Chart:
    """How many calls, cut at each share of their text and closed, would run as another call.

    Data: {"calls", "shares": right edge of each bin, "wrong", "right": share of calls, "counts": prefixes by verdict}.
    """
    calls, counts = 0, dict.fromkeys((REFUSED, WRONG, RIGHT), 0)
    seen = {WRONG: [0] * BINS, RIGHT: [0] * BINS}
    for call, tools in ready_calls(captures):
        calls += 1
        bins: dict[int, str] = {}
        for share, verdict, _ in closed_prefixes(call, tools):
            counts[verdict] += 1
            bins[min(int(share * BINS), BINS - 1)] = verdict
        state = REFUSED
        for number in range(BINS):
            state = bins.get(number, state)
            if state in seen:
                seen[state][number] += 1
    edges = [(number + 1) / BINS for number in range(BINS)]
    data = {
        "calls": calls, "shares": edges, "counts": counts,
        "wrong": [n / calls for n in seen[WRONG]], "right": [n / calls for n in seen[RIGHT]],
    }  # fmt: skip
    with styled():
        figure, ax = axes()
        for n, (name, key) in enumerate(((WRONG, "wrong"), (RIGHT, "right"))):
            ax.step(edges, data[key], where="mid", label=name, color=COLOURS[1 - n], linestyle=LINES[n])
        ax.set(
            xlabel="share of the argument text that had arrived when it was cut",
            ylabel=f"share of {calls} calls",
            ylim=(0, 1),
            xlim=(0, 1),
        )
        ax.legend(title="closed by a tolerant parser, the schema lets through", fontsize=9)
    peak = max(range(BINS), key=data["wrong"].__getitem__)
    alt = (
        f"Share of {calls} calls that would run if their text were cut and closed, against how much had arrived. Another call "
        f"than the model made: at most {data['wrong'][peak]:.0%} of them, when {edges[peak]:.0%} had arrived. The model's own call: "
        f"{data['right'][-1]:.0%} at the end."
    )
    return Chart(figure, data, alt)
