"""The open cases of data/cases through published libraries over loopback HTTP: a table, and a row for each case and library.

    python benchmarks/conformance.py                          all that are installed (extra `peers`), some five minutes
    python benchmarks/conformance.py --only openai anthropic
    python benchmarks/conformance.py --check-against data/cases/peers.csv --csv data/cases/peers.csv     what made that file

Each library reads each case once, in a process of its own, its retries switched off, from a server that sends each chunk of
the case as a write of its own. `peers/judge.py` states the rule; `peers/` has a module for each library. A library is given the
cases of the APIs named in `peers/__init__.py`; not those that the user cancels. Exit status 1 where a result differs from --check-against.
"""

import argparse
import csv
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from peers import PEERS, Peer
from peers.judge import verdict
from peers.process import Child, Unmeasured

from streamkit.lab.cases import read_cases
from streamkit.lab.paths import CASES

FIELDS = ("case", "library", "version", "result", "verdict")


def missing(peer: Peer) -> list[str]:
    """Its packages that are not installed."""
    found = []
    for package in peer.packages:
        try:
            version(package)
        except PackageNotFoundError:
            found.append(package)
    return found


def given(peer: Peer, cases: Iterable[dict]) -> list[dict]:
    """The cases that this library is put through."""
    return [case for case in cases if case["api"] in peer.apis and case["ends"] != "cancel"]


def rows_of(library: str, cases: Iterable[dict]) -> list[dict]:
    """A row for each case that this library is given. Raises Unmeasured."""
    peer, child, rows = PEERS[library], Child(library), []
    try:
        for case in given(peer, cases):
            seen = child.ask(case)
            said = f"FAIL: {seen}" if isinstance(seen, str) else verdict(peer.form, case["expected"], seen)
            result = "pass" if said.startswith("pass") else "fail"
            rows.append(dict(zip(FIELDS, (case["name"], library, version(library), result, said), strict=True)))
    finally:
        child.close()
    return rows


def table(rows: list[dict], cases: list[dict]) -> str:
    """A line for each library, the policy cases counted apart."""
    policy = {case["name"] for case in cases if case["debatable"]}
    lines = ["| library | version | kind | passed | policy cases passed |", "|---|---|---|---|---|"]
    for library in dict.fromkeys(row["library"] for row in rows):
        mine = [row for row in rows if row["library"] == library]
        counts = []
        for apart in (False, True):
            part = [row["result"] == "pass" for row in mine if (row["case"] in policy) == apart]
            counts.append(f"{sum(part)} of {len(part)}")
        lines.append(f"| {library} | {mine[0]['version']} | {PEERS[library].kind} | {counts[0]} | {counts[1]} |")
    return "\n".join(lines)


def check(rows: list[dict], stored: list[dict]) -> tuple[str, int]:
    """Where these results differ from the stored ones, and how many do; of the libraries that were put through only."""
    mine = {(row["library"], row["case"]): row for row in rows}
    libraries = {row["library"] for row in rows}
    theirs = {(row["library"], row["case"]): row for row in stored if row["library"] in libraries}
    both = sorted(mine.keys() & theirs.keys())
    differ = [key for key in both if mine[key]["result"] != theirs[key]["result"]]
    lines = [f"{len(both) - len(differ)} of {len(theirs)} stored results agree."]
    if absent := sorted({row["library"] for row in stored} - libraries):
        lines.append(f"Stored, and not put through here: {', '.join(absent)}.")
    for key in differ:
        lines += [
            f"- {' '.join(key)}",
            f"  - stored: {' '.join(theirs[key]['verdict'].split())}",
            f"  - here: {mine[key]['verdict']}",
        ]
    lines += [f"- {' '.join(key)}: stored, and not measured here" for key in sorted(theirs.keys() - mine.keys())]
    lines += [f"- {' '.join(key)}: measured here, and not stored" for key in sorted(mine.keys() - theirs.keys())]
    return "\n".join(lines), len(differ) + len(theirs.keys() ^ mine.keys())


def read_rows(path: Path) -> list[dict]:
    """The rows of such a file. Raises OSError, or ValueError where its columns are others."""
    with path.open(encoding="utf-8", newline="") as lines:
        table_ = csv.DictReader(lines)
        if tuple(table_.fieldnames or ()) != FIELDS:
            raise ValueError(f"{path}: the columns {', '.join(FIELDS)} were expected, {table_.fieldnames} came")
        return list(table_)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--only", nargs="+", metavar="LIB", choices=PEERS, help=f"of {', '.join(PEERS)}")
    options.add_argument("--csv", type=Path, metavar="OUT", help="write every row there")
    options.add_argument("--check-against", type=Path, metavar="CSV", help="list where results differ from these rows")
    args = options.parse_args()
    try:
        stored = read_rows(args.check_against) if args.check_against else None
    except (OSError, ValueError) as error:
        options.error(f"--check-against: {error}")
    cases, rows = list(read_cases(CASES)), []
    for library in args.only or PEERS:
        if lacking := missing(PEERS[library]):
            print(f"Left out: {library} ({', '.join(lacking)} not installed; extra `peers`)\n")
            continue
        print(f"{library} …", file=sys.stderr, flush=True)
        try:
            rows += rows_of(library, cases)
        except Unmeasured as error:
            print(f"Left out: {error}\n")
    print(table(rows, cases))
    cancelled = ", ".join(case["name"][:3] for case in cases if case["ends"] == "cancel")
    unspoken = ", ".join(
        case["name"][:3] for case in cases if not any(case["api"] in peer.apis for peer in PEERS.values())
    )
    print(f"\nGiven to none: {cancelled} (the user cancels), {unspoken} (an API that none of them is given).")
    if args.csv:
        args.csv.parent.mkdir(parents=True, exist_ok=True)
        with args.csv.open("w", encoding="utf-8", newline="") as out:
            writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(sorted(rows, key=lambda row: (row["case"], row["library"])))
    if stored is None:
        return 0
    said, differing = check(rows, stored)
    print(f"\n{said}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
