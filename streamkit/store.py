"""One SQLite file that several processes share: how it is opened, written, and what it says when it cannot be.

Three of SQLite's habits decide here. A transaction that reads first and writes later is refused at once, whatever the
time-out: so every one begins with BEGIN IMMEDIATE. `synchronous=NORMAL` may lose the last commit when the power fails: so it is
FULL. A connection must not cross a fork: so a child opens its own. No clock is read; waiting is SQLite's own, in steps.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

OPENINGS = 20  # tries to open a locked file: the switch to WAL and its recovery do not heed the time-out

FAULTS = {  # SQLite's primary result code: what was expected, what came, what to do
    sqlite3.SQLITE_FULL: ("room to write", "the disk is full", "free some space and try again"),
    sqlite3.SQLITE_BUSY: (
        "a turn to write within {patience:g} s",
        "another program keeps the file locked",
        "close that program (a database browser, a backup) and try again",
    ),
    sqlite3.SQLITE_READONLY: (
        "a file and a folder that can be written",
        "one of them is read-only",
        "give permission to write, or name a file elsewhere",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "a file in a folder that exists and can be written",
        "it cannot be opened",
        "make the folder, give permission to write, or name a file elsewhere",
    ),
    sqlite3.SQLITE_CORRUPT: (
        "an undamaged {what}",
        "its pages are damaged",
        "keep this file and restore a backup; a new, empty one would not know what was done",
    ),
    sqlite3.SQLITE_NOTADB: (
        "a {what}",
        "the file is no SQLite database",
        "name another file, or restore a backup if it was one",
    ),
    sqlite3.SQLITE_IOERR: ("a disk that reads and writes", "it failed", "check the disk, then try again"),
}
FAULTS[sqlite3.SQLITE_LOCKED] = FAULTS[sqlite3.SQLITE_BUSY]
UNKNOWN = ("SQLite to go on", "it refused", "see what it says")


class StoreError(Exception):
    """The file cannot be used, in one line: which file, what was expected, what came, what to do, what follows for the caller."""


class Store:
    """A SQLite file of one kind: made where there is none, refused where it is another's, damaged or newer.

    `tables`: statements that make it, each "… IF NOT EXISTS". `application` marks the kind of file, `version` its form
    (SQLite's application_id and user_version). `patience`: seconds to wait for a lock. Threads may share it. Raises StoreError.
    """

    def __init__(
        self, path: str | Path, tables: tuple, application: int, version: int, what: str, patience: float = 10.0
    ):
        self.path, self.what, self.patience = os.fspath(path), what, patience
        self._tables, self._application, self._version = tables, application, version
        self._inherited: list = []
        self._begin()

    def _begin(self) -> None:
        self._process, self._turn = os.getpid(), threading.RLock()
        self._db = self._open()

    @contextmanager
    def transaction(self, loss: str, kind: str = "IMMEDIATE") -> Iterator[sqlite3.Connection]:
        """Read and write with nobody in between; all of it stays, or nothing. `loss` ends the error's line: what now holds.

        A `kind` of "DEFERRED" is for reading only: it waits for nobody.
        """
        if self._process != os.getpid():
            self._inherited.append(self._db)  # the parent's: neither used nor closed here
            self._begin()
        with self._turn:
            try:
                self._db.execute(f"BEGIN {kind}")
                yield self._db
                self._db.execute("COMMIT")
            except BaseException as error:
                with suppress(sqlite3.Error):
                    self._db.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):
                    raise self._problem(error, loss) from error
                raise

    def close(self) -> None:
        """Let go of the file, once the transaction of another thread has ended. What a parent opened, it closes itself."""
        if self._process == os.getpid():
            with self._turn:
                self._db.close()

    def _open(self) -> sqlite3.Connection:
        for left in reversed(range(OPENINGS)):
            db = None
            try:
                wait = self.patience / OPENINGS
                db = sqlite3.connect(self.path, timeout=wait, isolation_level=None, check_same_thread=False)
                self._prepare(db)
                return db
            except sqlite3.Error as error:
                if db is not None:
                    db.close()
                if _primary(error) not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) or not left:
                    raise self._problem(error, f"The {self.what} was not opened.") from error
                time.sleep(min(0.01, wait))
            except StoreError:
                db.close()
                raise

    def _prepare(self, db: sqlite3.Connection) -> None:
        fresh = self._is_fresh(db)  # first: another program's file is left as it is
        journal = db.execute("PRAGMA journal_mode=WAL").fetchone()[0]
        if journal != "wal":
            raise StoreError(
                f"{self.what} {self.path!r}: expected a file on a local disk, which several processes can share; "
                f"journal_mode=WAL answered {journal!r}; name a file in a local folder"
            )
        db.execute("PRAGMA synchronous=FULL")
        db.execute("PRAGMA fullfsync=ON")  # macOS: past the drive's own cache
        if fresh:
            db.execute("BEGIN IMMEDIATE")
            for statement in self._tables:
                db.execute(statement)
            db.execute(f"PRAGMA application_id={self._application}")
            db.execute(f"PRAGMA user_version={self._version}")
            db.execute("COMMIT")
        elif (found := db.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
            raise StoreError(self._line(*FAULTS[sqlite3.SQLITE_CORRUPT], f"SQLite's check says: {found!a}"))
        db.execute(f"PRAGMA busy_timeout={int(self.patience * 1000)}")

    def _is_fresh(self, db: sqlite3.Connection) -> bool:
        db.execute("BEGIN")  # all three of one moment: another process may be making the file just now
        application, version, tables = (
            db.execute(question).fetchone()[0]
            for question in ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
        )
        db.execute("COMMIT")
        if application == 0 and tables == 0:
            return True
        if application != self._application:
            raise StoreError(
                self._line(f"a {self.what}", "the file is another program's database", "name another file")
            )
        if version > self._version:
            form = f"the file has form {version}, and this program knows {self._version}"
            raise StoreError(self._line(f"a {self.what} of this version", form, "install a newer streamkit"))
        return False

    def _problem(self, error: sqlite3.Error, loss: str) -> StoreError:
        expected, came, remedy = FAULTS.get(_primary(error), UNKNOWN)
        return StoreError(self._line(expected, f"{came} ({error})", f"{remedy}. {loss}"))

    def _line(self, expected: str, came: str, remedy: str, *more: str) -> str:
        expected = expected.format(what=self.what, patience=self.patience)
        return ". ".join((f"{self.what} {self.path!r}: expected {expected}, but {came}; {remedy}", *more))


def _primary(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
