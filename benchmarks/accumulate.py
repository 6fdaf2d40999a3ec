"""Accumulating fragments: events a second, and how the time grows with the number of fragments of one call.

    python benchmarks/accumulate.py            about a minute
    python benchmarks/accumulate.py --check    exit status 1 where a goal is missed

`ready-made`: the events exist before the clock starts. `built`: each CallDelta is made while it runs, as a wire reader does.
`collector off` is the same without Python's garbage collector, as `timeit` measures: a call keeps its fragments, and the collector
looks at every kept one again and again, which costs more than the accumulating.
The exponent says how time grows: 1.0 is in step with the fragments, 2.0 is with their square.
"""

import argparse
import gc
import math
import statistics
import sys
from functools import partial

from side_by_side import about, goal, in_turns, spread, table

from streamkit.accumulator import Accumulator
from streamkit.events import CallDelta, TurnFinished
from streamkit.turn import TurnBuilder

SIZES = (1_000, 10_000, 100_000, 1_000_000)
READY, BUILT, EXPONENT = (
    3_000_000,
    1_200_000,
    1.1,
)  # the goals: events a second (the last at most; 1.0 with the noise of a clock)


def accumulate(events: list) -> None:
    add = Accumulator().add
    for event in events:
        add(event)


def accumulate_built(number: int) -> None:
    add = Accumulator().add
    for _ in range(number):
        add(CallDelta(0.0, 0, None, None, "four"))


def whole_turn(events: list) -> None:
    builder = TurnBuilder()
    for event in events:
        builder.add(event)
    builder.end()


def appended(events: list) -> None:
    """What the fragments cost alone: a list and one join."""
    "".join([event.text for event in events])


def often(repeat: int, run, given) -> None:
    for _ in range(repeat):
        run(given)


def uncollected(repeat: int, run, given) -> None:
    gc.disable()
    try:
        often(repeat, run, given)
    finally:
        gc.enable()


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--check", action="store_true")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--most", type=int, default=SIZES[-1], help="fragments")
    chosen = options.parse_args()
    rows, seconds, speeds = [], {}, {}
    for size in [size for size in SIZES if size <= chosen.most]:
        text = (
            '{"text":"' + "x" * (4 * (size - 2) - 11) + '"}'
        )  # with announcement and finish `size` events, which a turn may have
        events = [
            CallDelta(0.0, 0, "call_1", "note"),
            *(CallDelta(0.0, 0, None, None, text[at : at + 4]) for at in range(0, len(text), 4)),
        ]
        closed = [*events, TurnFinished(0.0, "tool_calls")]
        repeat = max(1, 200_000 // size)  # short ones often enough for a clock
        runners = {
            "ready-made": partial(often, repeat, accumulate, events),
            "built": partial(often, repeat, accumulate_built, size),
            "built, collector off": partial(uncollected, repeat, accumulate_built, size),
            "a whole turn, parsed once": partial(often, repeat, whole_turn, closed),
            "one join": partial(often, repeat, appended, events),
        }
        times = in_turns(runners, chosen.rounds)
        cells = [f"{size:,}"]
        for name, found in times.items():
            speeds[name] = statistics.median(size * repeat / one for one in found)
            seconds.setdefault(name, []).append((size, statistics.median(found) / repeat))
            cells.append(spread([size * repeat / one / 1e6 for one in found]))
        rows.append(cells)
    print(about() + "\n\nMillion events a second:\n")
    table(["fragments of one call", *seconds], rows)
    exponents = {name: exponent(found) for name, found in seconds.items()}
    good = [
        [
            "ready-made, events a second, the longest call",
            f"{speeds['ready-made']:,.0f}",
            goal(speeds["ready-made"], READY),
        ],
        *(
            [f"{name}, events a second, the longest call", f"{speeds[name]:,.0f}", goal(speeds[name], BUILT)]
            for name in ("built", "built, collector off")
        ),
        *(
            [f"{name}: exponent", f"{value:.2f}", f"at most {EXPONENT}: {'met' if value <= EXPONENT else 'MISSED'}"]
            for name, value in exponents.items()
        ),
    ]
    table(["", "measured", "goal"], good)
    return 1 if chosen.check and any("MISSED" in row[2] for row in good) else 0


def exponent(found: list[tuple[int, float]]) -> float:
    """The slope of log time over log size, from the first size to the last."""
    (small, fast), (large, slow) = found[0], found[-1]
    return math.log(slow / fast) / math.log(large / small) if large > small else 1.0


if __name__ == "__main__":
    sys.exit(main())
