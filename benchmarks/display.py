"""What one argument delta costs a display: the field scanner beside re-parsing everything at each delta.

    python benchmarks/display.py            all of it, some five minutes
    python benchmarks/display.py --quick    without the 2 MB texts
    python benchmarks/display.py --check    exit status 1 where a goal is missed

The scanner (`Fields`) reads every fragment of a text. Re-parsing at every delta is quadratic, so it is sampled: each parser
reads eight prefixes that lie evenly over the text, or the middle one alone where a parse takes long, and their mean is its
cost of a delta. What it costs to put a prefix together is left out, in the parsers' favour. A parser that would need longer
than PATIENCE for one parse is left out there, by name. Processor time, all in turns within one round; a ratio compares one
round with itself. The goals are judged by each cell's fastest round: what else runs on a machine can only add.
"""

import argparse
import importlib
import importlib.metadata
import json
import os
import platform
import statistics
import sys
import time

from streamkit.fields import Fields
from streamkit.preview import FieldMap, Preview

SIZES = (2_000, 20_000, 200_000, 2_000_000)
FRAGMENTS = (4, 30)
PREFIXES = 8
PATIENCE, LONG = 20.0, 0.25  # seconds for one parse: left out beyond the first, sampled once a round beyond the second
FLAT, A_FRAGMENT_OF_4, A_CHARACTER_OF_30 = 1.5, 5.0, 0.25  # the goals: a ratio, then microseconds


def records(size: int) -> str:
    """An object whose one field is a list of small records."""
    found, length = [], 14
    while length < size:
        i = len(found)
        found.append({"id": i, "name": f"Customer {i}", "note": "café\nto go", "amount": i * 1.25, "paid": i % 2 == 0})
        length += len(json.dumps(found[-1])) + 2
    return json.dumps({"records": found})


def fields(size: int) -> str:
    """An object of many short fields."""
    found, length = {}, 2
    while length < size:
        i = len(found)
        found[f"field_{i}"] = ("a short text", i, True, [i])[i % 4]
        length += 24
    return json.dumps(found)


def prose(size: int) -> str:
    """An object whose one field is one long text, with escapes."""
    sentence = 'The lamp is "as good as new", the customer says.\nShe paid 40 € for it. '
    return json.dumps({"text": sentence * (size // (len(sentence) + 9) + 1)})


SHAPES = {"records": records, "short fields": fields, "one long text": prose}


def parsers() -> dict:
    """Name and parse function (text to value) of every parser that is installed, None for one that is not."""

    def partial_json_parser():
        module = importlib.import_module("partial_json_parser")
        return module.loads

    def jiter():
        module = importlib.import_module("jiter")
        return lambda text: module.from_json(text.encode(), partial_mode="trailing-strings")

    def pydantic_core():
        module = importlib.import_module("pydantic_core")
        return lambda text: module.from_json(text, allow_partial="trailing-strings")

    found = {}
    for make in (partial_json_parser, jiter, pydantic_core):
        name = make.__name__.replace("_", "-")
        try:
            found[name] = make()
        except ImportError:
            found[name] = None
    return found


def time_fields(fragments: list[str]) -> float:
    """Microseconds a fragment of the scanner alone, over the whole text; a short text several times."""
    times = max(1, 10_000 // len(fragments))
    begin = time.process_time()
    for _ in range(times):
        scanner = Fields()
        for fragment in fragments:
            scanner.feed(fragment)
    spent = time.process_time() - begin
    assert scanner.closed, scanner.wrong
    return spent / len(fragments) / times * 1e6


def time_preview(fragments: list[str], fields: list[str]) -> tuple[float, int, int]:
    """Microseconds a fragment of a preview that draws a page whenever it is due (one fragment every 10 ms); the number of
    drawings; the length of the longest page."""
    preview = Preview("tool", {"tool": FieldMap("A tool", dict.fromkeys(fields, "text growing"))})
    longest, now = 0, 0.0
    begin = time.process_time()
    for fragment in fragments:
        now += 0.01
        if preview.add(fragment, now):
            longest = max(longest, len(preview.to_html()))
    spent = time.process_time() - begin
    return spent / len(fragments) * 1e6, preview.drawings, longest


def time_parser(parse, text: str, prefixes: int) -> float:
    """Microseconds a parse, over prefixes that lie evenly in the text; a short text several times."""
    places = [max(1, int(len(text) * (i + 0.5) / prefixes)) for i in range(prefixes)]
    times, spent = max(1, 20_000 // len(text)), 0.0
    for place in places:
        prefix = text[:place]
        begin = time.process_time()
        for _ in range(times):
            parse(prefix)
        spent += time.process_time() - begin
    return spent / len(places) / times * 1e6


def measure(texts: list[str], peers: dict, rounds: int) -> tuple[dict, dict]:
    """Microseconds a fragment by (length, fragment), microseconds a parse by (parser, length): a value a round for each.
    A round goes over all the lengths, so that what else the machine does falls on all of them."""
    ours = {(len(text), k): [] for text in texts for k in FRAGMENTS}
    theirs = {(name, len(text)): [] for name in peers for text in texts}
    for _ in range(rounds):
        took = {name: [] for name in peers}  # microseconds a parse in this round, on the shorter texts
        for text in texts:
            assert {key: value for kind, key, value in Fields().feed(text) if kind == "value"} == json.loads(text)
            for k in FRAGMENTS:
                ours[len(text), k].append(time_fields([text[i : i + k] for i in range(0, len(text), k)]))
            for name, parse in peers.items():
                foreseen = took[name][-1] * max(took[name][-1] / took[name][-2], 10) / 1e6 if len(took[name]) > 1 else 0
                if foreseen < PATIENCE:
                    took[name].append(time_parser(parse, text, PREFIXES if foreseen < LONG else 1))
                    theirs[name, len(text)].append(took[name][-1])
    return ours, theirs


def spread(values: list[float], digits: str = ",.2f") -> str:
    """Median, and lowest to highest."""
    return f"{statistics.median(values):{digits}} ({min(values):{digits}} to {max(values):{digits}})"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--quick", action="store_true", help="leave out the 2 MB texts")
    options.add_argument("--check", action="store_true", help="exit status 1 where a goal is missed")
    options.add_argument("--rounds", type=int, default=5)
    chosen = options.parse_args()
    peers = parsers()
    missing = [name for name, parse in peers.items() if parse is None]
    peers = {name: parse for name, parse in peers.items() if parse}
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in peers)
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {versions}")
    print("".join(f"Not installed and left out: {name}\n" for name in missing), end="")
    print(
        f"Median of {chosen.rounds} rounds (lowest to highest). Re-parsing is sampled: {PREFIXES} prefixes a round, or one.\n"
    )
    print(
        f"| text | characters | a fragment | streamkit µs a delta | {' | '.join(f'{name} µs | times' for name in peers)} |"
    )
    print("|" + "---|" * (4 + 2 * len(peers)))
    fastest = {}
    for shape, make in SHAPES.items():
        texts = [make(size) for size in (SIZES[:-1] if chosen.quick else SIZES)]
        ours, theirs = measure(texts, peers, chosen.rounds)
        for text in texts:
            for k in FRAGMENTS:
                mine = ours[len(text), k]
                fastest[shape, k, len(text)] = min(mine)
                row = [shape, f"{len(text):,}", str(k), spread(mine)]
                for name in peers:
                    seen = theirs[name, len(text)]
                    ratios = [a / b for a, b in zip(seen, mine, strict=False)]
                    row += [spread(seen, ",.0f"), spread(ratios, ",.0f")] if seen else ["left out: too slow", ""]
                print(f"| {' | '.join(row)} |", flush=True)
    met = goals(fastest)
    print("\nWhat is drawn: a preview with every field listed, a fragment of 4 characters every 10 ms.\n")
    print(
        "| text | characters | µs a delta | drawings of fragments | longest page, characters |\n|---|---|---|---|---|"
    )
    for shape in ("records", "one long text"):
        for size in SIZES[:-1] if chosen.quick else SIZES:
            text = SHAPES[shape](size)
            fragments = [text[i : i + 4] for i in range(0, len(text), 4)]
            cost, drawings, longest = time_preview(fragments, list(json.loads(text)))
            print(f"| {shape} | {len(text):,} | {cost:.2f} | {drawings:,} of {len(fragments):,} | {longest:,} |")
    return 0 if met or not chosen.check else 1


def goals(costs: dict) -> bool:
    """Print each goal with what was measured; whether all are met."""
    flat = {}
    for (shape, k, _), cost in costs.items():
        flat.setdefault((shape, k), []).append(cost)
    dearest, at = max((max(seen) / min(seen), f"{shape}, {k}") for (shape, k), seen in flat.items())
    four = max(cost for (_, k, _), cost in costs.items() if k == 4)
    thirty = max(cost for (_, k, _), cost in costs.items() if k == 30) / 30
    print()
    met = True
    for goal, value, limit in (
        (f"cost of a delta, dearest size to cheapest ({at} characters)", dearest, FLAT),
        ("µs a fragment of 4 characters", four, A_FRAGMENT_OF_4),
        ("µs a character in fragments of 30", thirty, A_CHARACTER_OF_30),
    ):
        met = met and value <= limit
        print(f"{'met' if value <= limit else 'MISSED'}: {goal}: {value:.2f}, at most {limit}")
    return met


if __name__ == "__main__":
    sys.exit(main())
