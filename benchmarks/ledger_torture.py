"""Forked workers race for the same calls and are killed at random moments: what the ledger says afterwards, against what happened.

    python benchmarks/ledger_torture.py --rounds 10000

In each round a few workers dispatch the same calls through one ledger file, as retries of one turn do. Some are killed from
outside after a random time, some kill themselves at a named point (SIGKILL both). The effects go to a book of their own, a line
each, in one write. Then book and ledger are compared. `--ledger naive` (which writes down the end alone) shows that
this finds doubles where there are some. It needs a system that forks.
"""

import argparse
import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from statistics import median, quantiles

from tqdm import tqdm

from streamkit.claims import New, Open, Settled
from streamkit.key import idempotency_key
from streamkit.lab.child import POINTS
from streamkit.ledger import Ledger

FILE_ROUNDS = 250  # then a new ledger file: opening checks the whole of it
VIOLATIONS = ("double effects", "lost claims", "lost ends", "false answers", "doubts not reported")


class Naive(Ledger):
    """What many write first: look whether the call has its end, else run it, and write down the end."""

    def claim(self, attempt, tool, arguments, occurrence=0, proposed=None, decided=False):
        key = idempotency_key(attempt.conversation, attempt.turn, tool, arguments, occurrence)
        self._asked = attempt, tool, arguments, occurrence, proposed, True
        return self.look(key) or New(key, "")

    def settle(self, claim, state, result=None):
        answer = super().claim(*self._asked)
        if isinstance(answer, New):
            super().settle(answer, state, result)


LEDGERS = {"kit": Ledger, "naive": Naive}


def worker(make, path, book, conversation, calls, dies_at) -> None:
    """One attempt at the turn: claim each call, run it where it is New, settle. `dies_at`: (call's place, point) or None."""

    def at(place, point):
        if dies_at == (place, point):
            os.kill(os.getpid(), signal.SIGKILL)

    ledger = make(path)
    attempt = ledger.begin(conversation, "message")
    proposed = {idempotency_key(conversation, attempt.turn, "pay", call) for call in calls}
    for place, call in enumerate(calls):
        at(place, "before_claim")
        answer = ledger.claim(attempt, "pay", call, proposed=proposed)
        if isinstance(answer, New):
            note(book, "claimed", conversation, call, answer.token)
            at(place, "after_claim")
            note(book, "effect", conversation, call)
            at(place, "after_effect")
            receipt = receipt_of(call)
            at(place, "before_settle")
            ledger.settle(answer, "ran", receipt)
            note(book, "settled", conversation, call)
            at(place, "after_settle")
        elif isinstance(answer, Settled):
            note(book, "told" if answer.result == receipt_of(call) else "told wrong", conversation, call)


def receipt_of(call: dict) -> str:
    return f"receipt for {call['n']}"


def note(book, what, conversation, call, token="-") -> None:
    os.write(book, f"{what}\t{conversation}\t{call['n']}\t{token}\n".encode())  # one write: whole, or not there


def race(make, path, book, conversation, calls, luck, workers, lifetime) -> Counter:
    """Fork the workers, kill some from outside, wait for all. Returns how they ended."""
    children = []
    for _ in range(workers):
        order = luck.sample(calls, len(calls))
        suicide = (luck.randrange(len(calls)), luck.choice(POINTS)) if luck.random() < 0.3 else None
        child = os.fork()
        if child == 0:
            code = 1
            try:
                worker(make, path, book, conversation, order, suicide)
                code = 0
            except BaseException as error:
                print(f"{conversation}: {type(error).__name__}: {error}", file=sys.stderr)
            finally:
                os._exit(code)
        children.append(child)
    began = time.perf_counter()
    victims = luck.sample(children, luck.randint(0, workers))
    for moment, victim in sorted((luck.uniform(0, lifetime), victim) for victim in victims):
        time.sleep(max(0.0, began + moment - time.perf_counter()))
        os.kill(victim, signal.SIGKILL)  # it is not waited for yet: its number is still its own
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    return Counter(
        "killed" if code == -signal.SIGKILL else "to the end" if code == 0 else "with an error" for code in codes
    )


def judge(make, path, book_path, conversation, calls) -> Counter:
    """Compare what the ledger says with what happened, then retry once more and judge that too."""
    seen = Counter()
    lines = [line.split("\t") for line in Path(book_path).read_text().splitlines()]
    happened = Counter((what, int(n)) for what, of, n, _ in lines if of == conversation)
    tokens = {(int(n), token) for what, of, n, token in lines if of == conversation and what == "claimed"}
    db = sqlite3.connect(path)  # the file itself, not through the ledger's own words
    rows = db.execute(
        "SELECT json_extract(arguments, '$.n'), token, state FROM claims WHERE conversation = ?", (conversation,)
    )
    claims = {n: (token, state) for n, token, state in rows}
    db.close()

    ledger = make(path)
    reported = {entry.arguments["n"] for entry in ledger.doubts() if entry.conversation == conversation}
    attempt = ledger.begin(conversation, "message")
    proposed = {idempotency_key(conversation, attempt.turn, "pay", call) for call in calls}
    for call in calls:
        n, effects = call["n"], happened["effect", call["n"]]
        token, state = claims.get(n, ("", "none"))
        seen[f"calls {state}, {min(effects, 2)} effect" + "s" * (effects != 1)] += 1
        seen["double effects"] += effects > 1
        seen["lost claims"] += any(m == n and claimed != token for m, claimed in tokens) or (
            effects > 0 and state == "none"
        )
        seen["lost ends"] += happened["settled", n] > 0 and state != "ran"
        seen["doubts not reported"] += (state in ("claimed", "in_doubt")) != (n in reported)
        seen["doubts not reported"] += effects > 0 and state != "ran" and n not in reported
        answer = ledger.claim(attempt, "pay", call, proposed=proposed)
        fits = {"ran": Settled, "claimed": Open, "in_doubt": Open, "none": New}[state]
        seen["false answers"] += not isinstance(answer, fits) or happened["told wrong", n] > 0
        seen["false answers"] += isinstance(answer, Settled) and (answer.result != receipt_of(call) or effects != 1)
        seen["double effects"] += isinstance(answer, New) and effects == 1  # it would run once more
    ledger.close()
    return seen


def torture(
    rounds: int, workers: int = 3, seed: int = 1, ledger: str = "kit", folder: str | None = None, quiet: bool = False
) -> Counter:
    """Run the rounds in a temporary folder below `folder`; what was seen, with VIOLATIONS among the keys."""
    seen, luck, lifetime, make = Counter(dict.fromkeys(VIOLATIONS, 0)), random.Random(seed), 0.02, LEDGERS[ledger]
    with tempfile.TemporaryDirectory(dir=folder) as place:
        for number in tqdm(range(rounds), unit="round", disable=quiet):
            if number % FILE_ROUNDS == 0:
                path, book_path = f"{place}/{number}.db", f"{place}/{number}.book"
                book = os.open(book_path, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
                make(path).close()
            calls = [{"n": n} for n in range(luck.randint(1, 3))]
            began = time.perf_counter()
            ends = race(make, path, book, f"round {number}", calls, luck, workers, lifetime)
            if not ends["killed"]:  # undisturbed: so long they live, and so long is the time to kill them in
                lifetime += 0.1 * (time.perf_counter() - began - lifetime)
            seen.update({f"workers {end}": count for end, count in ends.items()})
            seen.update(judge(make, path, book_path, f"round {number}", calls))
            if (number + 1) % FILE_ROUNDS == 0:
                os.close(book)
    return seen


def per_claim(path: str, count: int = 2000) -> tuple[float, float, float]:
    """Seconds for a claim, for its settle (medians), and the ninth decile of both together, in one undisturbed process."""
    ledger = Ledger(path)
    attempt, claims, settles = ledger.begin("timing", "message"), [], []
    for n in range(count):
        began = time.perf_counter()
        claim = ledger.claim(attempt, "pay", {"n": n})
        claimed = time.perf_counter()
        ledger.settle(claim, "ran", "receipt")
        claims.append(claimed - began)
        settles.append(time.perf_counter() - claimed)
    ledger.close()
    both = [claim + settle for claim, settle in zip(claims, settles, strict=True)]
    return median(claims), median(settles), quantiles(both, n=10)[8]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=3, help="a round (default 3)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ledger", choices=LEDGERS, default="kit")
    parser.add_argument("--folder", help="on the disk to test (default: the temporary folder)")
    args = parser.parse_args()
    if not hasattr(os, "fork"):
        parser.exit(2, "this system does not fork; tests/test_ledger.py kills processes on every system\n")
    began = time.perf_counter()
    seen = torture(args.rounds, args.workers, args.seed, args.ledger, args.folder)
    took = time.perf_counter() - began
    print(
        f"{args.rounds} rounds of {args.workers} workers, seed {args.seed}: {took:.0f} s, {1000 * took / args.rounds:.1f} ms a round"
    )
    for what in sorted(set(seen) - set(VIOLATIONS)):
        print(f"  {what:40} {seen[what]:8}")
    print("must be 0:")
    for what in VIOLATIONS:
        print(f"  {what:40} {seen[what]:8}")
    with tempfile.TemporaryDirectory(dir=args.folder) as place:
        claim, settle, tenth = (1000 * seconds for seconds in per_claim(f"{place}/timing.db"))
    print(
        f"claim {claim:.2f} ms, settle {settle:.2f} ms (medians of 2000, one process); nine tenths of both below {tenth:.2f} ms"
    )
    return 1 if any(seen[what] for what in VIOLATIONS) or seen["workers with an error"] else 0


if __name__ == "__main__":
    sys.exit(main())
