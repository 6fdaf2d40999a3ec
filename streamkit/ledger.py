"""Once-only effects across retries and crashes: a call is claimed before its tool runs, and settled after.

Who may run a tool is decided by one thing: whether a row with the call's key is there. No lease, clock or process id decides.

| state    | who brought it there                                | `claim` answers   | what the caller does then             |
|----------|-----------------------------------------------------|-------------------|---------------------------------------|
| no row   | nobody                                              | New: now claimed  | runs the tool, once, and settles      |
| no row   | nobody; but another attempt claimed this tool under | Changed           | runs nothing, reports both; a person  |
|          | keys now proposed no more (failed ones aside)       |                   | may have it claimed as `decided`      |
| claimed  | `claim`; its holder runs, or is dead: nobody knows  | Open              | waits with `look` for its time-out,   |
|          |                                                     |                   | then calls `doubt`                    |
| in_doubt | its holder: a time-out, a cancel, any exception but | Open, in doubt    | asks downstream with the same key and |
|          | NotDone; or `doubt`, by one who waited in vain      |                   | calls `resolve`; else reports it      |
| ran      | its holder, or `resolve`                            | Settled: result   | gives that result: a duplicate        |
| failed   | its holder: the tool raised NotDone; or `resolve`   | Settled: error    | gives that error                      |

claimed → ran, failed, in_doubt; in_doubt → ran, failed (the holder's late word, or `resolve`). Nothing leaves ran or failed, and
no row goes: a key is New once. Where the file fails, StoreError: before the run, and nothing may run; or after it,
and then the claim stands, which is a doubt.
"""

import json
import secrets
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from .claims import ENDS, UNSETTLED, Answer, Attempt, Changed, Entry, New, NotDone, NotHeld, Open, Settled, end_of
from .key import Unkeyable, idempotency_key
from .store import Store, StoreError

__all__ = ["Attempt", "Changed", "Entry", "Ledger", "New", "Open", "Settled"]
__all__ += ["NotDone", "NotHeld", "StoreError", "Unkeyable"]

APPLICATION, VERSION = 0x736B6C67, 1  # "sklg"
TABLES = (
    """CREATE TABLE IF NOT EXISTS turns (
        conversation TEXT NOT NULL, turn INTEGER NOT NULL, message TEXT NOT NULL, attempt INTEGER NOT NULL,
        request TEXT NOT NULL, PRIMARY KEY (conversation, turn), UNIQUE (conversation, message))""",
    """CREATE TABLE IF NOT EXISTS claims (
        key TEXT PRIMARY KEY, token TEXT NOT NULL, state TEXT NOT NULL, result TEXT NOT NULL DEFAULT 'null',
        conversation TEXT NOT NULL, turn INTEGER NOT NULL, attempt INTEGER NOT NULL, tool TEXT NOT NULL,
        arguments TEXT NOT NULL, occurrence INTEGER NOT NULL,
        claimed_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')))""",
    "CREATE INDEX IF NOT EXISTS by_turn ON claims (conversation, turn)",
)


class Ledger:
    """The claims of any number of conversations and processes, in one SQLite file on a local disk.

    `patience`: seconds to wait for another process's write. Threads and forked children may share it. Raises StoreError.
    """

    def __init__(self, path: str | Path, patience: float = 10.0):
        self._store = Store(path, TABLES, APPLICATION, VERSION, "ledger", patience)
        self.close = self._store.close

    def begin(self, conversation: str, message: str, request: Any = None) -> Attempt:
        """Write down a model request before it is sent. It gets the next turn index; or the one it has, and the next attempt.

        `message` is the id of what the request answers, stored with that: a retry, a reload, a redelivery bring the same,
        a new user message brings its own, whatever its words and whatever was rolled back. `request` is JSON; a later attempt
        that brings none gets what is stored.
        """
        for name, what in (("conversation", conversation), ("message", message)):
            if not isinstance(what, str) or not what:
                raise ValueError(f"{name}: expected an id that tells it from all others, got {what!r}")
        with self._store.transaction("The request is not written down: do not send it.") as db:
            db.execute(
                """INSERT INTO turns SELECT :conversation, count(*), :message, 0, :request FROM turns
                    WHERE conversation = :conversation
                ON CONFLICT (conversation, message)
                    DO UPDATE SET attempt = attempt + 1, request = iif(excluded.request = 'null', request, excluded.request)""",
                {"conversation": conversation, "message": message, "request": json.dumps(request)},
            )
            question = "SELECT turn, attempt, request FROM turns WHERE (conversation, message) = (?, ?)"
            turn, number, stored = db.execute(question, (conversation, message)).fetchone()
        return Attempt(conversation, turn, number, json.loads(stored))

    def claim(
        self, attempt: Attempt, tool: str, arguments: Any, occurrence: int = 0,
        proposed: Collection[str] | None = None, decided: bool = False,
    ) -> Answer:  # fmt: skip
        """Ask to run a tool, before it runs; the module's table says what each answer means. Raises Unkeyable.

        `proposed`: the keys of all calls of the turn. A later attempt must give them, and so dispatches at turn completion
        alone: before, nobody knows whether a claimed key returns. `decided`: somebody saw the Changed and wants this run.
        """
        conversation, turn, number, _ = attempt
        key = idempotency_key(conversation, turn, tool, arguments, occurrence)
        if number and proposed is None:
            raise ValueError(f"attempt {number}: expected the keys of the whole turn as `proposed`, got none")
        with self._store.transaction("Nothing is claimed: the tool must not run.") as db:
            begun = "SELECT 1 FROM turns WHERE (conversation, turn) = (?, ?) AND attempt >= ?"
            if not db.execute(begun, attempt[:3]).fetchone():
                raise ValueError(f"expected a turn and attempt that `begin` gave, in this file; got {attempt[:3]}")
            if found := _entry(db, key):
                return found.answer
            others = "(conversation, turn) = (?, ?) AND attempt <> ? AND tool = ? AND state <> 'failed'"
            held = tuple(e for e in _entries(db, others, *attempt[:3], tool) if e.key not in (proposed or ()))
            if held and not decided:
                return Changed(key, held)
            token = secrets.token_hex(16)
            db.execute(
                """INSERT INTO claims (key, token, state, conversation, turn, attempt, tool, arguments, occurrence)
                VALUES (?, ?, 'claimed', ?, ?, ?, ?, ?, ?)""",
                (key, token, *attempt[:3], tool, json.dumps(arguments), occurrence),
            )
        return New(key, token)

    def settle(self, claim: New, state: str, result: Any = None) -> None:
        """The holder's word on its run: "ran" (result, JSON), "failed" or "in_doubt" (why). Raises NotHeld."""
        self._move(claim.key, UNSETTLED, state, result, claim.token)

    @contextmanager
    def running(self, claim: New) -> Iterator[SimpleNamespace]:
        """Around the run: `with ledger.running(claim) as run: run.result = tool(…)`. It settles, and raises what the tool raised."""
        run = SimpleNamespace(result=None)
        try:
            yield run
            self.settle(claim, "ran", run.result)
        except BaseException as error:  # a cancel is no Exception
            try:
                self.settle(claim, end_of(error), f"{type(error).__name__}: {error}")
            except (StoreError, NotHeld) as unsaid:  # what is written stands; the run's own error goes first
                error.add_note(str(unsaid))
            raise

    def look(self, key: str) -> Settled | Open | None:
        """What is known of a key now; None: nobody claimed it."""
        with self._store.transaction("Nothing is changed.", "DEFERRED") as db:
            found = _entry(db, key)
        return found and found.answer

    def doubt(self, key: str, why: str) -> Settled | Open | None:
        """The word of one who waited in vain: the claim is in doubt, unless it has its end. What is known of it now."""
        with suppress(NotHeld):
            self._move(key, ("claimed",), "in_doubt", why)
        return self.look(key)

    def resolve(self, key: str, state: str, result: Any = None) -> None:
        """Downstream's word on a doubt: "ran" (result) or "failed" (why). Raises NotHeld where there is no doubt.

        "failed" only where downstream refuses the key from now on: the holder may live, and be about to send it.
        """
        self._move(key, ("in_doubt",), state, result)

    def entries(self, conversation: str, turn: int) -> list[Entry]:
        """The claims of a turn, all attempts, in the order they were made."""
        with self._store.transaction("Nothing is changed.", "DEFERRED") as db:
            return _entries(db, "(conversation, turn) = (?, ?)", conversation, turn)

    def doubts(self) -> list[Entry]:
        """Every claim without an end, of all conversations: in doubt, or held by somebody who runs or is dead."""
        with self._store.transaction("Nothing is changed.", "DEFERRED") as db:
            return _entries(db, "state IN (?, ?)", *UNSETTLED)

    def _move(self, key: str, sources: tuple, state: str, result: Any, token: str | None = None) -> None:
        if state not in ENDS:
            raise ValueError(f"state: expected one of {', '.join(ENDS)}, got {state!r}")
        word = (state, json.dumps(result))
        with self._store.transaction("Its end is not written down: the claim stands, and is in doubt.") as db:
            found = _entry(db, key)
            if found and found.state in sources:
                move = "UPDATE claims SET (state, result) = (?, ?) WHERE key = ? AND coalesce(token = ?, 1)"
                if db.execute(move, (*word, key, token)).rowcount:
                    return
        now = f"it is {found.state} or another's" if found else "nobody claimed it"
        raise NotHeld(f"claim {key[:12]}: expected {' or '.join(sources)}, to become {state}, but {now}", state, result)


def _entry(db: Any, key: str) -> Entry | None:
    return next(iter(_entries(db, "key = ?", key)), None)


def _entries(db: Any, where: str, *values: Any) -> list[Entry]:
    rows = db.execute(f"SELECT {', '.join(Entry._fields)} FROM claims WHERE {where} ORDER BY rowid", values)
    entries = [Entry(*row) for row in rows]
    return [entry._replace(result=json.loads(entry.result), arguments=json.loads(entry.arguments)) for entry in entries]
