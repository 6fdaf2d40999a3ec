"""First parse over a million deltas: one scan a call beside re-parsing at every delta.

    python benchmarks/first_parse.py            a million deltas of each shape, about a minute
    python benchmarks/first_parse.py --check    exit status 1 where a goal is missed

`short`: 13 fragments a call, the median shape of recorded streams. `long`: 2,000 fragments a call. Re-parsing is quadratic, so
the parsers read a sample of the calls, and of a long call only its first tenth; that is in their favour, and it is said.
All run in turns within one round; a ratio compares one round with itself. The answers are compared on the sample.
"""

import argparse
import importlib.metadata
import json
import os
import platform
import random
import statistics
import sys
import time

from partial_json_parser import Allow
from partial_json_parser import loads as tolerant

from streamkit.lab.offsets import first_parse

DELTAS = 1_000_000
SHAPES = {"short": 13, "long": 2000}  # fragments a call
GOALS = {"short": 1_200_000, "long": 4_000_000}  # deltas a second
SAMPLE = 40  # calls that the parsers read a round
REQUIRED = {"query", "limit"}


def calls(fragments: int, number: int) -> list[tuple[list[str], list[float]]]:
    """Calls of about `fragments` fragments of 4 characters each, with times. Some hundred differ, the rest repeat them."""
    chance, made = random.Random(fragments), []
    for n in range(min(number, 200 if fragments < 100 else 4)):
        words = " ".join(chance.choice(("lamp", "shade", "glass", "brass")) for _ in range(max(1, fragments * 4 // 7)))
        text = json.dumps({"query": words[: max(4, fragments * 4 - 36)], "limit": n, "scope": "all"})
        pieces = [text[at : at + 4] for at in range(0, len(text), 4)]
        made.append((pieces, [0.02 * at for at in range(len(pieces))]))
    return [made[n % len(made)] for n in range(number)]


def by_scan(some) -> list:
    return [first_parse(pieces, at, REQUIRED)[0] for pieces, at in some]


def by_parser(parse):
    """First parse the slow way: the whole text so far, after every fragment."""

    def run(some) -> list:
        found = []
        for pieces, at in some:
            text, moment = "", None
            for piece, when in zip(pieces, at, strict=True):
                text += piece
                if set(parse(text) or ()) >= REQUIRED:
                    moment = when
                    break
            found.append(moment)
        return found

    return run


def quietly(parse):
    def run(text: str):
        try:
            value = parse(text)
        except Exception:  # each parser has its own
            return None
        return value if isinstance(value, dict) else None

    return run


def peers() -> dict:
    """Name → first parse with that parser, for those that are installed."""
    found = {"partial-json-parser": by_parser(quietly(lambda text: tolerant(text, Allow.ALL)))}
    try:
        import jiter

        found["jiter"] = by_parser(
            quietly(lambda text: jiter.from_json(text.encode(), partial_mode="trailing-strings"))
        )
    except ImportError:
        print("Not installed and left out: jiter")
    return found


def rate(run, some) -> tuple[float, list]:
    """Deltas a second, and the answers."""
    begin = time.perf_counter()
    answers = run(some)
    return sum(len(pieces) for pieces, _ in some) / (time.perf_counter() - begin), answers


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--check", action="store_true")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--deltas", type=int, default=DELTAS)
    chosen = options.parse_args()
    others, missed = peers(), False
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in others)
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {versions}\n")
    print(
        "| shape | deltas | streamkit deltas a second | goal | "
        + " | ".join(f"{name} deltas a second | times slower" for name in others)
        + " |"
    )
    print("|" + "---|" * (4 + 2 * len(others)))
    for shape, fragments in SHAPES.items():
        whole = calls(fragments, chosen.deltas // fragments)
        sample = [
            (p[: len(p) if fragments < 100 else len(p) // 10], at[: len(p) if fragments < 100 else len(p) // 10])
            for p, at in whole[:SAMPLE]
        ]
        sample = sample if fragments < 100 else sample[:2]
        ours, theirs, ratios = [], {name: [] for name in others}, {name: [] for name in others}
        for _ in range(chosen.rounds):
            ours.append(rate(by_scan, whole)[0])
            right = by_scan(sample)
            for name, run in others.items():
                speed, answers = rate(run, sample)
                assert answers == right, f"{name} gives other moments"
                theirs[name].append(speed)
                ratios[name].append(ours[-1] / speed)
        middle = statistics.median(ours)
        missed |= middle < GOALS[shape]
        cells = [shape, f"{sum(len(p) for p, _ in whole):,}", f"{middle:,.0f} ({min(ours):,.0f} to {max(ours):,.0f})"]
        cells.append(f"{GOALS[shape]:,}: {'met' if middle >= GOALS[shape] else 'MISSED'}")
        for name in others:
            cells += [
                f"{statistics.median(theirs[name]):,.0f}",
                f"{statistics.median(ratios[name]):,.0f} ({min(ratios[name]):,.0f} to {max(ratios[name]):,.0f})",
            ]
        print(f"| {' | '.join(cells)} |", flush=True)
    return 1 if missed and chosen.check else 0


if __name__ == "__main__":
    sys.exit(main())
