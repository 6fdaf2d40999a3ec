"""Fuzzing the readers, the judges and the screens with damaged streams: plain mutation, seeded, and promises that are checked.

    python benchmarks/fuzz.py                                  20,000 inputs, about a minute
    python benchmarks/fuzz.py --inputs 1000000 --out failures  the long run
    python benchmarks/fuzz.py --again failures/0.json          one input that failed, with its traceback

Starts from data/captures, data/cases and, where STREAMKIT_CORPUS names a folder of recorded streams, from those. Fails (exit
status 1) on an exception that no docstring names, a broken promise (fuzzing/turns.py and texts.py say which), or processor time that an
input's size does not explain. A failing input is cut down and written to a file of its own.
"""

import argparse
import base64
import gc
import json
import platform
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

from fuzzing.mutate import damaged
from fuzzing.seeds import Seeds
from fuzzing.texts import Targets

from streamkit.wire import APIS

SHARES = {  # target → how many of a hundred inputs
    **{f"wire {api}": 7 for api in APIS},
    **{f"render {api}": 2 for api in APIS},
    **{f"history {api}": 2 for api in APIS},
    **{"problems": 8, "frames": 8, "fields": 10, "previews": 4, "strict": 9, "captures": 4, "tables": 2},
}
FLOOR, RATE = 0.03, 20e-6  # seconds an input may take, and more for each byte: 20 µs
SLOW = "too slow"


def generated(target: str, chance: random.Random, seeds: Seeds) -> bytes:
    """One input for a target."""
    name, _, api = target.partition(" ")
    if api:
        return damaged(chance, seeds.body(chance, api), seeds.bodies[chance.choice((api, *APIS))])
    if name == "frames":
        return damaged(chance, seeds.body(chance, chance.choice(APIS)), seeds.bodies["openai-chat"])
    pool = {"captures": seeds.files, "tables": seeds.tables, "problems": seeds.histories}.get(name, seeds.texts)
    return damaged(chance, chance.choice(pool), pool)


def run(targets: Targets, target: str, data: bytes, seed: int) -> float:
    """Seconds of processor time. Raises what the target raises."""
    name, _, api = target.partition(" ")
    chance, began = random.Random(seed), time.process_time()
    getattr(targets, name)(data, chance, *([api] if api else []))
    return time.process_time() - began


def fault(targets: Targets, target: str, data: bytes, seed: int) -> tuple[str | None, float]:
    """What is wrong with one input, in a few words; None where nothing is. And its processor time."""
    try:
        took = run(targets, target, data, seed)
        if took > FLOOR + RATE * len(data):
            took = min(took, *(run(targets, target, data, seed) for _ in range(3)))
        return (SLOW if took > FLOOR + RATE * len(data) else None), took
    except AssertionError as error:
        return f"promise: {error}", 0.0
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} in {Path(where.filename).name}, {where.name}", 0.0


def smaller(targets: Targets, target: str, data: bytes, seed: int, wrong: str) -> bytes:
    """The same fault in fewer bytes, as far as leaving out pieces goes within ten seconds."""
    until, size = time.monotonic() + 10, max(1, len(data) // 2)
    while size and time.monotonic() < until:
        place, found = 0, False
        while place < len(data) and time.monotonic() < until:
            less = data[:place] + data[place + size :]
            if fault(targets, target, less, seed)[0] == wrong:
                data, found = less, True
            else:
                place += size
        size = size if found and size > 1 else size // 2
    return data


def again(targets: Targets, path: Path) -> int:
    kept = json.loads(path.read_text("utf-8"))
    data = base64.b64decode(kept["data64"])
    print(data[:2_000])
    print(f"{run(targets, kept['target'], data, kept['seed']):.4f} s, nothing raised")
    return 0


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--inputs", type=int, default=20_000)
    options.add_argument("--seconds", type=float, default=float("inf"), help="stop after this long")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", metavar="TARGET", help="targets whose name begins so")
    options.add_argument("--out", type=Path, help="folder for inputs that fail (default: a temporary one)")
    options.add_argument("--again", type=Path, metavar="FILE", help="run one input that failed")
    chosen = options.parse_args()
    seeds = Seeds()
    targets = Targets(seeds.tools)
    if chosen.again:
        return again(targets, chosen.again)
    names = [name for name in SHARES if name.startswith(chosen.only or "")]
    weights = [SHARES[name] for name in names]
    counts, errors, slowest, size = Counter(), Counter(), (0.0, ""), 0
    began = time.monotonic()
    for number in range(chosen.inputs):
        if time.monotonic() - began > chosen.seconds:
            break
        seed = chosen.seed << 32 | number
        chance = random.Random(seed)
        target = chance.choices(names, weights)[0]
        data = generated(target, chance, seeds)
        wrong, took = fault(targets, target, data, seed)
        counts[target] += 1
        size += len(data)
        if len(data) >= 1_000:
            slowest = max(slowest, (took / len(data) * 1e6, target))
        if wrong:
            errors[f"{target}: {wrong}"] += 1
            if errors[f"{target}: {wrong}"] == 1:
                chosen.out = keep(chosen.out, len(errors), targets, target, data, seed, wrong)
        if number % 20_000 == 19_999:
            print(
                f"{number + 1:,} inputs, {time.monotonic() - began:,.0f} s, {errors.total()} failures",
                file=sys.stderr,
                flush=True,
            )
            gc.collect()
    seconds, total = time.monotonic() - began, counts.total()
    print(
        f"Python {platform.python_version()}, {seeds.found}, seed {chosen.seed}: {total:,} inputs, {size / 1e6:,.0f} MB,"
    )
    print(
        f"{seconds:,.0f} s, {total / seconds:,.0f} inputs/s; slowest of 1,000 bytes or more {slowest[0]:.1f} µs/byte ({slowest[1]})"
    )
    print("inputs: " + ", ".join(f"{name} {counts[name]:,}" for name in names))
    print("failures: " + ("; ".join(f"{count} × {name}" for name, count in errors.most_common()) or "none"))
    return 1 if errors else 0


def keep(folder: Path | None, number: int, targets: Targets, target: str, data: bytes, seed: int, wrong: str) -> Path:
    """The input, cut down, as a file; it is said where."""
    folder = folder or Path(tempfile.mkdtemp(prefix="fuzz-"))
    folder.mkdir(parents=True, exist_ok=True)
    data = smaller(targets, target, data, seed, wrong)
    path = folder / f"{number}.json"
    plain = {"target": target, "seed": seed, "wrong": wrong, "data64": base64.b64encode(data).decode()}
    path.write_text(json.dumps(plain, indent=1) + "\n", "utf-8")
    print(f"{target}: {wrong}: {data[:300]!r} → {path}", file=sys.stderr, flush=True)
    return folder


if __name__ == "__main__":
    sys.exit(main())
