"""Chapter 7, retrying a cut-off stream: what the checks run, and how a fault is told."""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from streamkit.lab.answers import call_key
from streamkit.lab.course.chapter7_race import RACERS, interleaved, is_locked, raced, watched
from streamkit.lab.exercises.record import Case
from streamkit.lab.shop_http import KEY

LEFT_OPEN = "a transaction is left open"
FIRST = ("c1", 3, "create_refund", {"order_id": "A-1003", "amount": 50})


def other(**changes):
    """FIRST with one of its four parts changed."""
    parts = dict(zip(("conversation", "turn", "tool", "arguments"), FIRST, strict=True)) | changes
    return tuple(parts.values())


PAIRS = (  # two calls, the same effect?, pointer
    (FIRST, FIRST, "same"),
    (FIRST, other(arguments={"amount": 50, "order_id": "A-1003"}), "order"),
    (FIRST, other(arguments={"order_id": "A-1003", "amount": 50.0}), "number"),
    (other(arguments={"a": {"x": 1, "y": 2}}), other(arguments={"a": {"y": 2, "x": 1}}), "order"),
    (FIRST, other(arguments={"order_id": "A-1003", "amount": 51}), "arguments"),
    (FIRST, other(arguments={"order_id": "A-1003", "amount": "50"}), "type"),
    (other(arguments={"notify": True}), other(arguments={"notify": 1}), "type"),
    (other(arguments={"tags": ["a", "b"]}), other(arguments={"tags": ["b", "a"]}), "list"),
    (FIRST, other(turn=4), "turn"),
    (FIRST, other(conversation="c2"), "conversation"),
    (FIRST, other(tool="create_order"), "tool"),
    (other(conversation="a", tool="bc"), other(conversation="ab", tool="c"), "border"),
    (other(conversation="c1", turn=31), other(conversation="c13", turn=1), "border"),
    (other(arguments={"text": "caf\u00e9"}), other(arguments={"text": "cafe\u0301"}), "letters"),
    (other(arguments={"text": "a" * 300}), other(arguments={"text": "b" * 300}), "header"),
)


def same(piece, given) -> dict:
    """Whether a key function takes two calls for the same effect, and what a key of it is."""
    one, two = piece(*given[0]), piece(*given[1])
    text = isinstance(one, str)
    fit = text and KEY.fullmatch(one) is not None  # as the shop of chapter 8 asks
    return {"same": one == two, "text": text, "repeats": piece(*given[0]) == one, "fit for a header": fit}


def key_fault(given, expected, got) -> str | None:
    """The fault where it shows in what came out, whatever the case was made for."""
    if not isinstance(got, dict):
        return None
    if not (got["repeats"] and got["text"]):
        return "same"
    return "header" if got["same"] == expected["same"] else None


def key_cases() -> Iterator[Case]:
    for one, two, pointer in PAIRS:
        yield Case((one, two), same(call_key, (one, two)), pointer, "pairs of calls")


def show_pair(given) -> list[str]:
    return [repr(call) for call in given]


SCRIPTS = (  # what is done to a ledger, pointer
    ([("claim", "k")], "new"),
    ([("claim", "k"), ("claim", "k")], "open"),
    ([("claim", "k"), ("settle", "k", {"refund": "R-1"}), ("claim", "k")], "settled"),
    ([("claim", "k"), ("settle", "k", None), ("claim", "k")], "none"),
    ([("claim", "a"), ("claim", "b"), ("settle", "a", 1), ("claim", "b"), ("claim", "a")], "keys"),
    ([("claim", "k"), ("reopen",), ("claim", "k")], "reopen"),
    ([("claim", "k"), ("settle", "k", "ok"), ("reopen",), ("claim", "k")], "reopen"),
    ([("claim", "k"), ("settle", "k", 1), ("settle", "k", 2), ("claim", "k")], "once"),
    ([("settle", "k", 1), ("claim", "k")], "unclaimed"),
    ([("second", "k"), ("claim", "k")], "file"),
    ([("between", "k")], "race"),  # its line is shorter than the race's, which may go well by chance: this one is shown
    ([("race", "k")], "race"),
)


def played(piece, script, path: Path) -> list:
    """What a ledger answers to a script: claims, settles, a reopened file, a second ledger on it, several claims at once.

    A claim that leaves the file locked ends the script, with LEFT_OPEN as its last answer.
    """

    def opened():
        return piece(str(path))

    if script[0][0] == "race":  # with the connections and the seconds that the piece asks for
        opened()
        return [raced(opened, script[0][1])]
    told = []
    with watched(piece) as watch:
        ledger = opened()
        for word, *given in script:
            if word == "claim":
                told.append(list(ledger.claim(*given)))
            elif word == "settle":
                ledger.settle(*given)
            elif word == "reopen":
                ledger = opened()
            elif word == "second":
                other = opened()
                told.append(list(other.claim(*given)))
            else:
                told.append(interleaved(opened, given[0], watch))
            if word != "between" and is_locked(path):
                return [*told, LEFT_OPEN]
    return told


def ledger_cases() -> Iterator[Case]:
    """The expected answers are written down by the package's rule: new once, then open until it is settled."""
    for number, (script, pointer) in enumerate(SCRIPTS):
        yield Case((number, script), EXPECTED[number], pointer, "scripts")


EXPECTED = [
    [["new", None]],
    [["new", None], ["open", None]],
    [["new", None], ["settled", {"refund": "R-1"}]],
    [["new", None], ["settled", None]],
    [["new", None], ["new", None], ["open", None], ["settled", 1]],
    [["new", None], ["open", None]],
    [["new", None], ["settled", "ok"]],
    [["new", None], ["settled", 1]],
    [["new", None]],
    [["new", None], ["open", None]],
    [{"new": 1, "open": 1}],
    [{"new": 1, "open": RACERS - 1}],
]


def fresh(piece, given) -> list:
    """`played` in a file of its own."""
    memory = Path("/dev/shm")  # where there is one: the check is about answers, not about the disk
    folder = tempfile.mkdtemp(dir=memory if memory.is_dir() else None)
    try:
        return played(piece, given[1], Path(folder, "ledger.db").resolve())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def ledger_fault(given, expected, got) -> str | None:
    """The fault where it shows in what came out, whatever the case was made for."""
    if isinstance(got, sqlite3.OperationalError) and "locked" in str(got):
        return "commit"
    if isinstance(got, list) and LEFT_OPEN in got:
        return "commit"
    settled = [a for a in got if isinstance(a, list) and a[:1] == ["settled"]] if isinstance(got, list) else []
    wanted = [a for a in expected if isinstance(a, list) and a[0] == "settled"]
    as_text = [isinstance(b[1], str) and not isinstance(a[1], str) for a, b in zip(wanted, settled, strict=False)]
    return "settled" if any(as_text) else None


def show_script(given) -> list[str]:
    said = {
        "between": "  (a second ledger claims it as soon as this one has looked)",
        "race": f"  ({RACERS} ledgers on one file, each in a thread of its own, claim it at the same moment)",
        "second": "  (by a second ledger on the file)",
    }
    return [f"{word}({', '.join(map(repr, rest))}){said.get(word, '')}" for word, *rest in given[1]]
