"""Chapter 7, retrying a cut-off stream: what the checks run, and how a fault is told."""

import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from streamkit.lab.answers import call_key
from streamkit.lab.exercises.record import Case

RACERS = 4
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
)


def same(piece, given) -> dict:
    """Whether a key function takes two calls for the same effect, and what a key of it is."""
    one, two = piece(*given[0]), piece(*given[1])
    return {"same": one == two, "text": isinstance(one, str), "repeats": piece(*given[0]) == one}


def key_fault(given, expected, got) -> str | None:
    """The fault where it shows in what came out, whatever the case was made for."""
    return "same" if isinstance(got, dict) and not (got["repeats"] and got["text"]) else None


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
    ([("race", "k")], "race"),
)


def played(piece, script) -> list:
    """What a ledger answers to a script: claims, settles, a reopened file, a second ledger on it, several claims at once."""
    ledger, told = piece("ledger.db"), []
    for word, *given in script:
        if word == "claim":
            told.append(list(ledger.claim(*given)))
        elif word == "settle":
            ledger.settle(*given)
        elif word == "reopen":
            ledger = piece("ledger.db")
        elif word == "second":
            told.append(list(piece("ledger.db").claim(*given)))
        else:
            told.append(raced(piece, given[0]))
    return told


def raced(piece, key: str) -> dict:
    """RACERS ledgers on one file claim one key at the same moment, in threads."""
    answers, gate = [], threading.Barrier(RACERS)
    ledgers = [piece("ledger.db") for _ in range(RACERS)]

    def one(ledger):
        gate.wait(5)
        try:
            answers.append(ledger.claim(key)[0])
        except Exception as error:
            answers.append(type(error).__name__)

    threads = [threading.Thread(target=one, args=(ledger,)) for ledger in ledgers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    return {word: answers.count(word) for word in sorted(set(answers))}


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
    [{"new": 1, "open": RACERS - 1}],
]


def fresh(piece, given) -> list:
    """`played` in a file of its own."""
    memory = Path("/dev/shm")  # where there is one: the check is about answers, not about the disk
    folder = tempfile.mkdtemp(dir=memory if memory.is_dir() else None)
    try:
        return played(lambda name: piece(str(Path(folder, name))), given[1])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def ledger_fault(given, expected, got) -> str | None:
    """The fault where it shows in what came out, whatever the case was made for."""
    settled = [a for a in got if isinstance(a, list) and a[:1] == ["settled"]] if isinstance(got, list) else []
    wanted = [a for a in expected if isinstance(a, list) and a[0] == "settled"]
    as_text = [isinstance(b[1], str) and not isinstance(a[1], str) for a, b in zip(wanted, settled, strict=False)]
    return "settled" if any(as_text) else None


def show_script(given) -> list[str]:
    said = {
        "race": f"  ({RACERS} ledgers on one file claim it at the same moment)",
        "second": "  (by a second ledger on the file)",
    }
    return [f"{word}({', '.join(map(repr, rest))}){said.get(word, '')}" for word, *rest in given[1]]
