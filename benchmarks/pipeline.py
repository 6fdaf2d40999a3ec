"""The whole way from bytes to a judged turn, beside the published clients' own stream loops.

    python benchmarks/pipeline.py            some five minutes
    python benchmarks/pipeline.py --check    exit status 1 where a goal is missed

First the recorded captures whose turn is complete and holds a call, in the reads in which they came. Then one call of 1,000,
10,000 and 100,000 fragments, a frame a read, once a size: the exponent says how time grows (1.0 in step with the fragments, 2.0
with their square). A client for which the next size would take longer than PATIENCE seconds is left out there, by name.

What they do differs: the raw streams hand over typed chunks and collect nothing; the others collect the calls, and re-parse
them meanwhile or at the end; streamkit ends with calls that are parsed strictly and held against the tools' schemas.
"""

import argparse
import math
import statistics
import sys
import time

from clients import PACKAGES, installed
from side_by_side import CAPTURES, about, goal, in_turns, one_call, ratio, table

from streamkit.finalise import Tools
from streamkit.lab.captures import Capture, find_captures, read_capture
from streamkit.turn import TurnBuilder
from streamkit.wire import reader

APIS = ("openai-chat", "anthropic-messages")
GOALS = {
    "openai, raw stream": 10,
    "openai, `.stream`": 25,
    "anthropic, raw stream": 3,
    "anthropic, `messages.stream`": 8,
}
SIZES = (1_000, 10_000, 100_000)
PATIENCE = 90.0  # seconds


def ours(api: str, responses: list[list[bytes]], tools: list[Tools] | None = None):
    """The whole pipeline for each response; how many calls are ready."""
    ready = 0
    for place, reads in enumerate(responses):
        wire, builder = reader(api), TurnBuilder(tools and tools[place])
        for read in reads:
            for event in wire.feed(read, 0.0):
                builder.add(event)
        for event in wire.close("clean", 0.0):
            builder.add(event)
        builder.end()
        ready += sum(call.outcome == "ready" for call in builder.turn.calls)
    return ready


def whole(api: str) -> list[Capture]:
    """The recorded captures of an API whose turn may run: complete, with calls that are all ready (some peers raise at others)."""
    found = [capture for capture in map(read_capture, find_captures(CAPTURES)) if capture.api == api]
    return [capture for capture in found if capture.turn().next == "run"]


def recorded(clients: dict, rounds: int) -> bool:
    """The captures, a line for each client. Whether every goal was met."""
    rows, met = [], True
    for api in APIS:
        captures = whole(api)
        responses = [[read.data for read in capture.reads] for capture in captures]
        tools = [Tools(capture.tools) for capture in captures]  # compiled once, as a client holds them
        reads = sum(map(len, responses))
        runners = {"streamkit": lambda api=api, responses=responses, tools=tools: ours(api, responses, tools)}
        for name, (speaks, run) in clients.items():
            if speaks == api:
                runners[name] = lambda run=run, responses=responses: run(responses)
        times = in_turns(runners, rounds)
        speed = statistics.median(reads / seconds for seconds in times["streamkit"])
        rows.append([api, "streamkit", f"{1e6 / speed:,.1f}", "1", ""])
        for name in list(runners)[1:]:
            middle, words = ratio(times, name)
            each = statistics.median(times[name]) / reads * 1e6
            rows.append([api, name, f"{each:,.1f}", words, goal(middle, GOALS[name]) if name in GOALS else ""])
            met &= middle >= GOALS.get(name, 0)
        print(
            f"{api}: {len(responses)} captures, {reads:,} reads, {sum(len(r) for one in responses for r in one):,} bytes\n"
        )
    table(["API", "", "µs a read", "times as long", "goal"], rows)
    return met


def growing(clients: dict, sizes: list[int]) -> None:
    """One call of more and more fragments: seconds and exponent."""
    rows = []
    for api in APIS:
        runners = {"streamkit": lambda reads, api=api: ours(api, [reads])}
        runners |= {
            name: lambda reads, run=run: run([reads]) for name, (speaks, run) in clients.items() if speaks == api
        }
        for name, run in runners.items():
            seconds, cells = [], []
            for size in sizes:
                if seconds and (soon := seconds[-1] * 10 ** max(1.0, slope(seconds))) > PATIENCE:
                    cells.append(f"left out: some {soon:,.0f}")
                    continue
                reads = [frame + b"\n\n" for frame in one_call(api, size).split(b"\n\n") if frame]
                begin = time.process_time()
                run(reads)
                seconds.append(time.process_time() - begin)
                cells.append(f"{seconds[-1]:,.3f}")
            rows.append([api, name, *cells, f"{slope(seconds):.2f}"])
    table(["API", "", *(f"{size:,} fragments, s" for size in sizes), "exponent, last step"], rows)


def slope(seconds: list[float]) -> float:
    """The exponent between the last two sizes, which differ by ten."""
    return math.log10(seconds[-1] / seconds[-2]) if len(seconds) > 1 else 1.0


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--check", action="store_true")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--most", type=int, default=SIZES[-1], help="fragments of one call")
    chosen = options.parse_args()
    clients = installed()
    print(about(*PACKAGES) + "\n")
    met = recorded(clients, chosen.rounds)
    growing(clients, [size for size in SIZES if size <= chosen.most])
    return 0 if met or not chosen.check else 1


if __name__ == "__main__":
    sys.exit(main())
