"""Chapter 7: the moments at which a ledger is tried, made rather than waited for.

A ledger that looks first and inserts then is wrong only if another claim comes in between, which by chance it seldom
does. Here it always comes then: the connections that a piece opens are watched, and before the first write behind a
SELECT a second ledger claims the same key.
"""

import contextlib
import sqlite3
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

RACERS = 4
WAIT = 0.1  # seconds a watched connection waits for another's lock; a piece's own seconds would be spent in full
ROUND, ROUNDS = 0.005, 200  # seconds between two looks at the second claim, and how many: it may wait for the first
LOCKED = "locked out"


class Watch:
    """The statements of one thread, and the moment between its look and its write."""

    def __init__(self):
        self.between: Callable[[], None] | None = None  # called once, before the first write behind a look
        self.thread, self.looked = threading.get_ident(), False
        self.locked = threading.Event()  # a connection found the file locked

    def before(self, statement: str) -> None:
        """A statement is about to run."""
        if self.between is None or threading.get_ident() != self.thread:
            return
        if str(statement).lstrip().upper().startswith("SELECT"):
            self.looked = True
        elif self.looked:
            between, self.between = self.between, None
            between()


@contextlib.contextmanager
def watched(piece) -> Iterator[Watch]:
    """`sqlite3.connect`, as the piece knows it, gives connections that are watched and wait for a lock WAIT seconds."""
    watch, real = Watch(), sqlite3.connect

    class Cursor(sqlite3.Cursor):
        def execute(self, statement, *rest):
            watch.before(statement)
            try:
                super().execute(statement, *rest)
                if "busy_timeout" in str(statement).lower():
                    super().execute(f"PRAGMA busy_timeout={round(WAIT * 1000)}")
            except sqlite3.OperationalError as error:
                if "locked" in str(error):
                    watch.locked.set()
                raise
            return self

    class Connection(sqlite3.Connection):
        def cursor(self, factory=Cursor):
            return super().cursor(factory)

        def execute(self, *words):
            return self.cursor().execute(*words)

    def connect(*words, **named):
        if len(words) > 1:
            words = (words[0], WAIT, *words[2:])
        else:
            named["timeout"] = WAIT
        return real(*words, **({"factory": Connection} | named))

    homes = [vars(sqlite3), vars(sys.modules.get(getattr(piece, "__module__", None), sqlite3))]
    places = [(home, name) for home in homes for name, value in home.items() if value is real]
    for home, name in places:
        home[name] = connect
    try:
        yield watch
    finally:
        for home, name in places:
            home[name] = real


def is_locked(path: Path) -> bool:
    """Does anybody hold the write lock of an SQLite file? Tried from outside, with a connection of its own."""
    try:
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", 0, uri=True, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            db.execute("ROLLBACK")
    except sqlite3.Error as error:  # no such file, or no database: other answers tell that
        return "locked" in str(error)
    return False


def interleaved(opened: Callable, key: str, watch: Watch) -> dict:
    """Two ledgers claim one key, the second between the first one's look and its write, if it has such a moment."""
    answers: list[str] = []
    second = threading.Thread(target=lambda: answers.append(answer(opened, key)), daemon=True)

    def between():
        watch.locked.clear()
        second.start()
        for _ in range(ROUNDS):
            if not second.is_alive() or watch.locked.wait(
                ROUND
            ):  # locked: the first holds the write lock, and is right
                break

    first = opened()
    watch.between = between
    answers.append(answer(lambda: first, key))
    watch.between = None
    if second.ident is not None:
        second.join(5)
    if second.ident is None or answers[-1] == LOCKED or answers[0] == LOCKED:  # claimed when the first is through
        answers = [*(word for word in answers if word != LOCKED), answer(opened, key)]
    return counted(answers)


def raced(opened: Callable, key: str) -> dict:
    """RACERS ledgers on one file claim one key at the same moment, each opened in a thread of its own."""
    answers, gate, opening = [], threading.Barrier(RACERS), threading.Lock()

    def one():
        with opening:
            ledger = opened()
        gate.wait(5)
        answers.append(answer(lambda: ledger, key))

    threads = [threading.Thread(target=one, daemon=True) for _ in range(RACERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    return counted(answers)


def answer(opened: Callable, key: str) -> str:
    """The word that a claim is answered with, or the name of what it raised."""
    try:
        return opened().claim(key)[0]
    except sqlite3.OperationalError as error:
        return LOCKED if "locked" in str(error) else type(error).__name__
    except Exception as error:
        return type(error).__name__


def counted(answers: list) -> dict:
    """How often each answer was given, in the order of the words."""
    return dict(sorted(Counter(map(str, answers)).items()))
