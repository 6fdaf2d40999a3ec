"""Chapter 7, retrying a cut-off stream: what makes two calls the same effect, and the ledger that runs it once."""

import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from streamkit.lab.answers import call_key
from streamkit.lab.exercises.record import Case, Exercise, Wrong, definition

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


EXERCISES = [
    Exercise(
        name="call_key",
        title="The key",
        defines="call_key",
        answer=definition("streamkit.lab.answers", "call_key"),
        given="import hashlib\nimport rfc8785\n",
        cases=key_cases,
        run=same,
        show=show_pair,
        diagnose=key_fault,
        pointers={
            "same": "The same call gives the same key, as text, every time.",
            "order": "The order of keys in an object means nothing: write canonical JSON, which sorts them at every depth.",
            "number": "50 and 50.0 are one number. `rfc8785.dumps` writes both the same.",
            "arguments": "Other arguments are another effect.",
            "type": 'The text "50" is not the number 50, and true is not 1.',
            "list": "The order of a list has a meaning.",
            "turn": "The same refund in a later turn is a new wish: the turn belongs into the key.",
            "conversation": "Another conversation is another effect.",
            "tool": "Another tool is another effect.",
            "border": 'Joined without borders, "a" + "bc" is "ab" + "c". Put the parts into a list, and write that as JSON.',
            "letters": "Two texts that look alike are two texts: nothing is normalised.",
        },
        hints=(
            "Put what the key hangs on into one list, write the list as canonical JSON, and hash that.",
            'rfc8785.dumps(["v1", conversation, turn, tool, arguments]) gives bytes; hashlib.sha256(…).hexdigest() gives the key.',
        ),
        wrong=(
            Wrong(
                "hashes the text as it came",
                "order",
                swap=(
                    (
                        'rfc8785.dumps(["v1", conversation, turn, tool, arguments])',
                        "repr([conversation, turn, tool, arguments]).encode()",
                    ),
                ),
            ),
            Wrong(
                "forgets the turn",
                "turn",
                swap=(("conversation, turn, tool, arguments])", "conversation, tool, arguments])"),),
            ),
            Wrong("forgets the conversation", "conversation", swap=(('["v1", conversation, turn,', '["v1", turn,'),)),
            Wrong(
                "sorts lists too",
                "list",
                swap=(
                    (
                        "    return",
                        "    arguments = {k: sorted(v) if isinstance(v, list) else v for k, v in arguments.items()}\n    return",
                    ),
                ),
            ),
            Wrong(
                "joins without borders",
                "border",
                swap=(
                    (
                        'rfc8785.dumps(["v1", conversation, turn, tool, arguments])',
                        'f"{conversation}{turn}{tool}".encode() + rfc8785.dumps(arguments)',
                    ),
                ),
            ),
            Wrong(
                "a new key each time",
                "same",
                text="import itertools\n\ncount = itertools.count()\n\n\ndef call_key(conversation, turn, tool, arguments):\n    return str(next(count))\n",
            ),
            Wrong(
                "normalises the letters",
                "letters",
                swap=(
                    (
                        "    return",
                        "    import unicodedata\n\n    arguments = {k: unicodedata.normalize('NFC', v) if isinstance(v, str) else v for k, v in arguments.items()}\n    return",
                    ),
                ),
            ),
        ),
        why="The key decides whether a retry is the same wish; the provider's call id does not, a retry brings a new one.",
    ),
    Exercise(
        name="ledger",
        title="The ledger",
        defines="SmallLedger",
        answer=definition("streamkit.lab.answers", "SmallLedger"),
        given="import json\nimport sqlite3\n",
        cases=ledger_cases,
        run=fresh,
        show=show_script,
        diagnose=ledger_fault,
        pointers={
            "new": 'The first claim of a key is ("new", None).',
            "open": 'A claim without a result is ("open", None): its holder runs, or is dead. Nobody may run it.',
            "settled": 'A settled claim is ("settled", result), with the result as it was given.',
            "none": "A tool may return None: that is a result too. Store results as JSON, so that it differs from no result.",
            "keys": "Each key is a claim of its own.",
            "reopen": "The file outlives the process: what was claimed stays claimed.",
            "once": "The first result stays.",
            "unclaimed": "To settle what nobody claimed changes nothing.",
            "file": "Two ledgers on one file see each other's claims at once: write through, hold nothing in memory.",
            "race": "Of several claims at one moment one is new. Insert first and look afterwards; never look first and insert then.",
        },
        hints=(
            "One table: `key TEXT PRIMARY KEY, result TEXT`. The primary key is what decides a race: a second INSERT raises sqlite3.IntegrityError.",
            "claim: try the INSERT with an empty result: it worked, so the claim is new. In `except sqlite3.IntegrityError` read the row: no result means open, else settled.",
            "Connect with `isolation_level=None`, so that every statement is its own transaction, and `timeout=10`, so that a writer waits for another. Settle: UPDATE … WHERE key = ? AND result IS NULL.",
        ),
        wrong=(
            Wrong(
                "in memory",
                "reopen",
                text="OPEN = object()\n\n\nclass SmallLedger:\n    def __init__(self, path):\n        self.claims = {}\n\n    def claim(self, key):\n        if key not in self.claims:\n            self.claims[key] = OPEN\n            return 'new', None\n        return ('open', None) if self.claims[key] is OPEN else ('settled', self.claims[key])\n\n    def settle(self, key, result):\n        if self.claims.get(key) is OPEN:\n            self.claims[key] = result\n",
            ),
            Wrong(
                "runs an open claim again",
                "open",
                swap=(('("open", None) if result is None', '("new", None) if result is None'),),
            ),
            Wrong(
                "takes None for no result",
                "none",
                swap=(("(json.dumps(result), key)", "(None if result is None else json.dumps(result), key)"),),
            ),
            Wrong("keeps the last result", "once", swap=((" AND result IS NULL", ""),)),
            Wrong(
                "settles without a claim",
                "unclaimed",
                swap=(
                    (
                        'self.db.execute("UPDATE claims SET result = ? WHERE key = ? AND result IS NULL", (json.dumps(result), key))',
                        'self.db.execute("INSERT INTO claims VALUES (?, ?) ON CONFLICT DO UPDATE SET result = coalesce(result, excluded.result)", (key, json.dumps(result)))',
                    ),
                ),
            ),
            Wrong("gives the stored text", "settled", swap=(("json.loads(result)", "result"),)),
        ),
        why="Between a look and a write another process fits in; between an INSERT and itself nothing does.",
    ),
]
