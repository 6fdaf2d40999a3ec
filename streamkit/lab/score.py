"""The conformance cases through somebody's own parts, beside what published libraries did with the same cases."""

import csv
from collections.abc import Iterable
from typing import NamedTuple

from ..turn import TurnBuilder
from .acting import judge_acting
from .cases import difference, events_of, read_cases, reads_of
from .chart import Chart, bars
from .parts import Parts
from .paths import CASES

IDEAS = (  # first and last case number, what it takes, where it is taught
    (1, 17, "which fragment is whose, and what it is called", "chapter 2"),
    (18, 40, "one strict parse of the whole text, then the schema", "chapter 6"),
    (41, 50, "the finish, and what is none", "chapter 6"),
    (51, 71, "interruptions, limits and errors end the turn", "chapters 6 and 8"),
    (72, 98, "the wire: closing items, whole calls, bytes and lines", "chapter 1 and `wire/`"),
    (99, 101, "a turn that is sent again", "chapter 7"),
)

ACTING = {  # the start of a difference that the acting side made
    "persist": "a history that holds what is true (chapter 8)",
    "retry_ledger": "a ledger, written before the run (chapter 7)",
}


class Score(NamedTuple):
    """`passed` of `total` cases, and of the policy ones, in which sensible people differ. Failed ones: name → difference."""

    passed: int
    total: int
    policy_passed: int
    policy_total: int
    failed: dict[str, str]
    policy_failed: dict[str, str]


def score(parts: Parts = Parts(), cases: Iterable[dict] | None = None) -> Score:  # noqa: B008 (a constant)
    """Run the cases with these parts in the package's turn builder. Whatever a part raises fails its case."""
    counts, failed = {False: [0, 0], True: [0, 0]}, {False: {}, True: {}}
    for case in read_cases(CASES) if cases is None else cases:
        found = _judge(case, parts)
        counts[case["debatable"]][0] += found is None
        counts[case["debatable"]][1] += 1
        if found is not None:
            failed[case["debatable"]][case["name"]] = found
    return Score(*counts[False], *counts[True], *failed.values())


def _judge(case: dict, parts: Parts) -> str | None:
    builder = TurnBuilder(case.get("tools"), accumulator=parts.accumulator, finalise=parts.finalise)
    try:
        for event in events_of(case["api"], reads_of(case), case.get("ends", "clean")):
            builder.add(event)
        builder.end()
        return difference(builder.turn, case["expected"]) or judge_acting(case, parts)
    except Exception as error:
        return f"{type(error).__name__} was raised"


def lacking(result: Score) -> dict[str, int]:
    """The ideas behind the failed cases, policy cases left out: idea (and chapter) → how many cases."""
    found: dict[str, int] = {}
    for name, difference_ in result.failed.items():
        number = int(name[:3])
        idea = next((what for start, what in ACTING.items() if difference_.startswith(start)), None) or next(
            f"{what} ({where})" for first, last, what, where in IDEAS if first <= number <= last
        )
        found[idea] = found.get(idea, 0) + 1
    return found


def peers() -> dict[str, tuple[int, int]]:
    """Published library → (cases passed, cases that it could be given), policy cases left out (data/cases/peers.csv)."""
    policy = {case["name"] for case in read_cases(CASES) if case["debatable"]}
    found: dict[str, list[int]] = {}
    with (CASES / "peers.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            if row["case"] not in policy:
                counts = found.setdefault(f"{row['library']} {row['version']}", [0, 0])
                counts[0] += row["result"] == "pass"
                counts[1] += 1
    return {library: (passed, total) for library, (passed, total) in sorted(found.items())}


def score_chart(yours: Score, least: int = 20) -> Chart:
    """Your share of the cases beside the libraries that could be given at least `least` of them. Data: {series: {name: share}}."""
    others = {
        f"{name} ({passed} of {total})": passed / total for name, (passed, total) in peers().items() if total >= least
    }
    mine = {f"your parts ({yours.passed} of {yours.total})": yours.passed / yours.total}
    return bars(
        {"yours": mine, "published libraries": dict(sorted(others.items(), key=lambda item: -item[1]))},
        "share of cases passed",
        form="{:.0%}",
    )
