"""The open cases of data/cases through published libraries over loopback HTTP: a table, and a row for each case and library.

    python benchmarks/conformance.py                          all that are installed (extra `peers`), some five minutes
    python benchmarks/conformance.py --only openai anthropic
    python benchmarks/conformance.py --csv benchmarks/results/conformance.csv --check-against data/cases/peers.csv

Each library reads each case once, in a process of its own, its retries switched off, from a server that sends each chunk of
the case as a write of its own. `peers/judge.py` states the rule; `peers/` has a module for each library. A library is given the
cases of the APIs named in `peers/__init__.py`; not those that the user cancels. Exit status 1 where a result differs from --check-against.
"""

import argparse
import contextlib
import csv
import importlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from queue import Empty, Queue

from peers import PEERS, Peer
from peers.judge import verdict
from peers.observed import Observed, answers, in_a_line
from peers.server import CaseServer

from streamkit.lab.cases import read_cases
from streamkit.lab.paths import CASES

FIELDS = ("case", "library", "version", "result", "verdict")
IMPORT, LONGEST = 180.0, 30.0  # seconds: for a library to be imported, and for a case to end
QUIET = {"NO_PROXY": "127.0.0.1", "LITELLM_LOCAL_MODEL_COST_MAP": "True", "OTEL_SDK_DISABLED": "true", "NO_COLOR": "1"}


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


def observe(library: str, case: dict) -> Observed:
    """One case through one library, in this process. Whatever the library raises is what was seen."""
    seen = Observed()
    with CaseServer(case) as server:
        try:
            importlib.import_module(f"peers.{PEERS[library].module}").observe(case, server.url, seen)
        except (Exception, SystemExit) as error:
            seen.error = in_a_line(error)
        asked = list(server.requests)
    if not asked:
        raise RuntimeError(f"{library}, {case['name']}: the server was not asked ({seen.error}): mend the adapter")
    seen.answered = any(answers(json.loads(body)) for body in asked[1:])
    return seen


def serve_parent(library: str) -> None:
    """The child: a line "ready" once the library is imported, then for each case that comes in what was seen, a line each."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints is no answer
    importlib.import_module(f"peers.{PEERS[library].module}")
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(observe(library, json.loads(line)).as_dict()), file=answers, flush=True)


class Child:
    """The process in which one library is imported; started again after a case that it does not survive.

    `command` is what is started instead of this script with --observe, for a test. PEERS_LOUD=1 shows what a library prints.
    """

    def __init__(self, library: str, command: list[str] | None = None):
        self.library, self.process = library, None
        self.command = command or [sys.executable, __file__, "--observe", library]

    def ask(self, case: dict) -> dict | str:
        """What was seen, or in words why nothing was."""
        if self.process is None:
            self._start()
        try:
            self.process.stdin.write(json.dumps(case) + "\n")
            self.process.stdin.flush()
            answer = self._line(LONGEST)
        except BrokenPipeError:
            answer = ""
        if answer:
            return json.loads(answer)
        if answer is None:
            self.close()
            return f"no end within {LONGEST:g} s"
        status = self.process.wait()
        self.close()
        return f"its process ended with status {status}"

    def _start(self) -> None:
        self.lines = Queue()
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if "PEERS_LOUD" in os.environ else subprocess.DEVNULL,
            encoding="utf-8",
            env=os.environ | QUIET,
        )
        threading.Thread(target=self._listen, args=(self.process.stdout, self.lines), daemon=True).start()
        if self._line(IMPORT) != "ready\n":
            self.close()
            raise SystemExit(f"{self.library} does not start; PEERS_LOUD=1 shows why")

    @staticmethod
    def _listen(pipe, lines: Queue) -> None:
        for line in pipe:
            lines.put(line)
        lines.put("")

    def _line(self, seconds: float) -> str | None:
        try:
            return self.lines.get(timeout=seconds)
        except Empty:
            return None

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
            self.process = None


def rows_of(library: str, cases: Iterable[dict]) -> list[dict]:
    """A row for each case that this library is given."""
    peer, child, rows = PEERS[library], Child(library), []
    for case in given(peer, cases):
        seen = child.ask(case)
        said = f"FAIL: {seen}" if isinstance(seen, str) else verdict(peer.form, case["expected"], seen)
        result = "pass" if said.startswith("pass") else "fail"
        rows.append(dict(zip(FIELDS, (case["name"], library, version(library), result, said), strict=True)))
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
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--only", nargs="+", metavar="LIB", choices=PEERS, help=f"of {', '.join(PEERS)}")
    options.add_argument("--csv", type=Path, metavar="OUT", help="write every row there")
    options.add_argument("--check-against", type=Path, metavar="CSV", help="list where results differ from these rows")
    options.add_argument("--observe", choices=PEERS, help=argparse.SUPPRESS)
    args = options.parse_args()
    if args.observe:
        serve_parent(args.observe)
        return 0
    cases, rows = list(read_cases(CASES)), []
    for library in args.only or PEERS:
        if lacking := missing(PEERS[library]):
            print(f"Left out: {library} ({', '.join(lacking)} not installed; extra `peers`)\n")
            continue
        print(f"{library} …", file=sys.stderr, flush=True)
        rows += rows_of(library, cases)
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
    if not args.check_against:
        return 0
    said, differing = check(rows, read_rows(args.check_against))
    print(f"\n{said}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
