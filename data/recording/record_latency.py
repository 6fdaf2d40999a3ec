"""Record data/latency again:  python data/recording/record_latency.py   (extra `record`; about fifteen minutes)

At least 300 calls over the three APIs, for measuring: several tools, arguments of 20 to 3,000 characters, optional fields behind
the required ones, one and two calls a turn. A response is kept when its turn is complete and holds a call; what the call says
does not matter here. The seed is raised where it is not.
"""

import argparse
import time
from pathlib import Path
from typing import NamedTuple

from model import Server, capture, quietly
from prompts import CARDS, HOURS, MOVES, REFUNDS, SCOPES, SEARCHES, SYSTEM, TOOLS, bounded, search, wishes
from record_all import PORT, seen
from scenarios import ALL, fine
from talk import SHORT, body, says, user

OUT = Path(__file__).parents[1] / "latency"
STORES = "Airport Castle Bridge Market Garden Lake Tower Museum Canal".split()  # noqa: SIM905
THINGS = [
    "desk lamp",
    "garden lantern",
    "paper shade",
    "glass globe",
    "oil lamp",
    "candle",
    "reading lamp",
    "chandelier",
    "night light",
]
SCOPE_WORDS = ("this region", "the whole country", "all stores")


class Kind(NamedTuple):
    """One kind of turn: earlier turns, and what is asked in its n-th recording."""

    name: str
    turns: list
    tools: list[str]
    ask: object
    count: int = 9
    single: bool = True
    limit: int = 200
    longest: int = 0  # of write_note's text, in characters
    least: int = 0  # characters of arguments that it must have
    reply: bool = False  # a second long text behind it, since the server's grammar takes no length above 2,000


MIXED = [
    user("Is Mill open on monday, and has it sold oil lamps?"),
    says("I look up both.", ("get_store_hours", {"store": "Mill", "day": "monday"}), search("oil lamp", limit=5)),
    user("Is Harbour open on friday, and has it sold globes?"),
    says("I look up both.", ("get_store_hours", {"store": "Harbour", "day": "friday"}), search("globe", limit=5)),
]
WORK = [
    user("Tom's lamp flickers."),
    says("I open a ticket.", ("open_ticket", {"subject": "Lamp flickers", "customer": "Tom", "priority": "normal"})),
    user("Mia's shade is cracked, and it is urgent."),
    says("I open a ticket.", ("open_ticket", {"subject": "Cracked shade", "customer": "Mia", "priority": "high"})),
]
NOTES = [
    user("Keep this. Title: March. Text: " + wishes(0, 3)),
    says("I copy it.", ("write_note", {"title": "March", "text": wishes(0, 3), "tags": ["wishes", "march"]})),
    user("Keep this. Title: April. Text: " + wishes(3, 6)),
    says("I copy it.", ("write_note", {"title": "April", "text": wishes(3, 6), "tags": ["wishes", "april"]})),
]
DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()  # noqa: SIM905


def note(size: int):
    """A request to keep a list that is about `size` characters long."""
    return lambda n: f"Keep this. Title: May {n + 1}. Text: " + wishes(n, min(n + size // 42, 46))


KINDS = [
    Kind("hours", HOURS[:1] + [says("I look it up.", ("get_store_hours", {"store": "Mill"})), user("When is Station open?"), says("I look it up.", ("get_store_hours", {"store": "Station"}))],
         ["get_store_hours"], lambda n: f"When is {STORES[n]} open?"),
    Kind("two-hours", HOURS, ["get_store_hours"], lambda n: f"When are {STORES[n]} and {STORES[n - 1]} open?", single=False),
    Kind("search", SCOPES, ["search_orders"], lambda n: f"Look in {SCOPE_WORDS[n % 3]} for orders with a {THINGS[n]}, up to {(n + 1) * 15}."),
    Kind("two-searches", SEARCHES, ["search_orders"], lambda n: f"Find orders of a {THINGS[n]} that were shipped, and those that are open.", single=False),
    Kind("refund", REFUNDS, ["create_refund"], lambda n: f"Pay back A-10{n + 10}: {n * 37 + 19}.{n}5 euros, the {THINGS[n]} was broken."),
    Kind("transfer", MOVES, ["transfer_stock"], lambda n: f"Move {n + 3} of L-{n + 30} from {STORES[n]}, shelf C{n}, to {STORES[n - 1]}."),
    Kind("card", CARDS, ["save_card"], lambda n: f"Keep {STORES[n]}'s card 4000 {n}555 6666 {n}111, until 1{n % 3}/2{n}."),
    Kind("ticket", WORK, ["open_ticket"], lambda n: f"The {THINGS[n]} of the man from {STORES[n]} is broken."),
    Kind("hours-and-search", MIXED, ["get_store_hours", "search_orders"], lambda n: f"Is {STORES[n]} open on {DAYS[n % 7]}, and has it sold a {THINGS[n]}?", single=False),
    Kind("note-300", NOTES, ["write_note"], note(260), count=4, longest=300, limit=300),
    Kind("note-700", NOTES, ["write_note"], note(640), count=3, longest=700, limit=450),
    Kind("note-1500", NOTES, ["write_note"], note(1200), count=2, longest=1500, limit=900),
    Kind("note-3000", NOTES, ["write_note"], note(1800), count=1, longest=1950, limit=1400, least=2000, reply=True),
]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--missing", action="store_true", help="only what is not there yet")
    parser.add_argument("--only", nargs="*", default=[], help="kinds")
    parser.add_argument("--tries", type=int, default=4)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    began, calls = time.monotonic(), 0
    server = Server(PORT)
    try:
        for kind in KINDS:
            for n in range(kind.count):
                for api in ALL:
                    path = args.out / f"{SHORT[api]}-{kind.name}-{n + 1}.jsonl.gz"
                    if (args.only and kind.name not in args.only) or (args.missing and path.exists()):
                        continue
                    calls += record_one(kind, n, api, server, path, args.tries)
            print(f"{kind.name}: {calls} calls, {time.monotonic() - began:.0f} s", flush=True)
    finally:
        server.kill()


def record_one(kind: Kind, n: int, api: str, server: Server, path: Path, tries: int) -> int:
    """Record until there is a complete turn with the calls of its kind; how many calls it holds."""
    tools = [bounded(name, "text", kind.longest) if kind.longest else TOOLS[name] for name in kind.tools]
    if kind.reply:
        schema = tools[0]["parameters"]
        schema["properties"]["text"]["minLength"] = kind.longest - 100
        schema["properties"]["reply"] = {
            "type": "string",
            "description": "What to answer.",
            "minLength": 850,
            "maxLength": 950,
        }
        schema["required"] = [*schema["required"], "reply"]
    for seed in range(1, tries + 1):
        request = body(api, SYSTEM, [*kind.turns, user(kind.ask(n))], tools, limit=kind.limit, single=kind.single,
                       choice="required" if kind.longest else "auto", temperature=0.5, seed=seed)  # fmt: skip
        header = {"scenario": kind.name, "note": "for measuring", "tries": seed}
        captured = quietly(lambda request=request, header=header: capture(path, server, api, request, header))
        found = seen(captured)
        right = len(found.calls) == (1 if kind.single else 2) and len(found.calls[0][1]) >= kind.least
        if right and fine(found, len(found.calls)):
            return len(found.calls)
    print(f"  {path.name}: not in {tries} tries: {found.reason} {found.text[:50]!r} {found.calls}"[:300], flush=True)
    path.unlink()
    return 0


if __name__ == "__main__":
    main()
