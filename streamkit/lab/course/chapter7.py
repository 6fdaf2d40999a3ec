"""Chapter 7, retrying a cut-off stream: what makes two calls the same effect, and the ledger that runs it once.

What the checks run is in chapter7_cases.py.
"""

from streamkit.lab.course.chapter7_cases import (
    fresh,
    key_cases,
    key_fault,
    ledger_cases,
    ledger_fault,
    same,
    show_pair,
    show_script,
)
from streamkit.lab.exercises.record import Exercise, Wrong, definition

CLAIM = """        try:
            self.db.execute("INSERT INTO claims VALUES (?, NULL)", (key,))
            return "new", None
        except sqlite3.IntegrityError:
            (result,) = self.db.execute("SELECT result FROM claims WHERE key = ?", (key,)).fetchone()
"""
LOOK = """        row = self.db.execute("SELECT result FROM claims WHERE key = ?", (key,)).fetchone()
        if row is None:
            self.db.execute("{} INTO claims VALUES (?, NULL)", (key,))
            return "new", None
        else:
            result = row[0]
"""
LOOKS_FIRST = [
    Wrong(f"looks first, then {word}", "race", swap=((CLAIM, LOOK.format(word)),))
    for word in ("INSERT", "INSERT OR REPLACE", "INSERT OR IGNORE")
]

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
            "header": "The key goes out as a header: 1 to 255 letters, digits and . _ : - . A hash of the text does that.",
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
                "the text itself, and no hash of it",
                "header",
                text="def call_key(conversation, turn, tool, arguments):\n    return rfc8785.dumps([conversation, turn, tool, arguments]).decode()\n",
            ),
            Wrong(
                "a text that grows with the arguments",
                "header",
                swap=(("hashlib.sha256(", ""), (").hexdigest()", ".hex()")),
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
            "commit": "The claim must be on disk when `claim` returns, and nothing left open: commit it (and roll back after "
            "an error), or open with `isolation_level=None`.",
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
            Wrong("forgets to commit", "commit", swap=((", isolation_level=None", ""),)),
            *LOOKS_FIRST,
        ),
        why="Between a look and a write another process fits in; between an INSERT and itself nothing does.",
    ),
]
