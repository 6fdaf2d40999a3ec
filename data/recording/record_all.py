"""Record data/captures again:  python data/recording/record_all.py   (extra `record`; about ten minutes; nothing else should run)

Each scenario is recorded once for each of its APIs, one request at a time. The seed starts at 1 and is raised until the response
shows what the scenario's name says; the seed that did is in the request, the number of tries in the header.
"""

import argparse
import json
import time
from pathlib import Path

from model import Fault, Server, cancel, capture, quietly
from scenarios import SCENARIOS, Scenario, Seen
from talk import SHORT, body, result, says

OUT = Path(__file__).parents[1] / "captures"
PORT, DOOMED_PORT = 8091, 8092
SILENCE = 3.0  # seconds after which the client gives up on a server that may be killed or stopped


def seen(captured) -> Seen:
    """What the response says, by the package's own reading."""
    turn = captured.turn()
    return Seen(turn.text, [(call.name, call.text) for call in turn.calls], turn.reason, captured.ending)


def attempt(scenario: Scenario, api: str, seed: int, server: Server | None, path: Path, header: dict):
    """One recording. A fault that kills or stops the server gets a server of its own."""
    request = body(api, scenario.system, scenario.turns, scenario.offered(), limit=scenario.limit, choice=scenario.choice,
                   single=scenario.single, temperature=scenario.temperature, seed=seed)  # fmt: skip

    def fault(act):
        return Fault(api, scenario.where, scenario.after, act) if scenario.fault else None

    if scenario.fault in ("", "cancel"):
        return quietly(lambda: capture(path, server, api, request, header, on_read=fault(cancel)))
    doomed = Server(DOOMED_PORT)
    try:
        doomed.warm(api, request)
        return capture(
            path, doomed, api, request, header, timeout=SILENCE, on_read=fault(getattr(doomed, scenario.fault))
        )
    finally:
        doomed.kill()


def record_scenario(scenario: Scenario, api: str, server: Server, out: Path, tries: int) -> str:
    """Record until the check holds; returns a line for people."""
    name = f"{SHORT[api]}-{scenario.name}"
    path = out / f"{name}.jsonl"
    for seed in range(1, tries + 1):
        header = {"scenario": scenario.name, "note": scenario.note, "tries": seed}
        if scenario.results:
            header |= {"exchange": name, "part": 1}
            path = out / f"{name}-1.jsonl"
        captured = attempt(scenario, api, seed, server, path, header)
        ok = scenario.check(seen(captured))
        if ok and scenario.results:
            ok = second_part(scenario, api, server, out / f"{name}-2.jsonl", captured, seed, header)
        if ok:
            return f"{name}: seed {seed}, {captured.ended_at:.1f} s, {len(captured.body)} bytes"
        shown = seen(captured)
        print(f"  {name}, seed {seed}: not shown: {shown.reason} {shown.text[:60]!r} {shown.calls}"[:400], flush=True)
        path.unlink()
    return f"{name}: NOT RECORDED in {tries} tries"


def second_part(scenario: Scenario, api: str, server: Server, path: Path, first, seed: int, header: dict) -> bool:
    """The response that is built on the results of the first part's calls."""
    turn = first.turn()
    calls = [(call.name, json.loads(call.text or "{}")) for call in turn.calls]
    results = [scenario.results(name, arguments) for name, arguments in calls]
    said = says(turn.text.strip(), *calls, ids=[call.id for call in turn.calls])
    turns = [*scenario.turns, said, result(*results)]
    request = body(
        api,
        scenario.system,
        turns,
        scenario.offered(),
        limit=scenario.limit,
        temperature=scenario.temperature,
        seed=seed,
    )
    captured = quietly(lambda: capture(path, server, api, request, header | {"part": 2}))
    if scenario.finish(seen(captured)):
        return True
    print(
        f"  {path.name}, seed {seed}: not shown: {seen(captured).text[:80]!r} {seen(captured).calls}"[:400], flush=True
    )
    path.unlink()
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[], help="scenarios or capture names")
    parser.add_argument("--missing", action="store_true", help="only what is not there yet")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--tries", type=int, default=20)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    server = Server(PORT)
    try:
        for scenario in SCENARIOS:
            for api in scenario.apis:
                name = f"{SHORT[api]}-{scenario.name}"
                there = any((args.out / f"{name}{part}.jsonl").exists() for part in ("", "-2"))
                if (not args.only or {scenario.name, name} & set(args.only)) and not (args.missing and there):
                    print(record_scenario(scenario, api, server, args.out, args.tries), flush=True)
    finally:
        server.kill()
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
