"""Chapter 7's ledger: a right answer passes every time, whatever its way, and one that looks first is caught every time."""

import sys
import types

import pytest

from streamkit.lab.course.chapter7 import LOOKS_FIRST
from streamkit.lab.course.chapter7_cases import SCRIPTS, fresh, ledger_cases
from streamkit.lab.exercises import registry
from streamkit.lab.exercises.judge import same
from streamkit.lab.exercises.state import state_of

LEDGER = registry.exercises()["ledger"]
TIMES = 20
START = """import json
import sqlite3
from sqlite3 import connect


class SmallLedger:
    def __init__(self, path):
        {}
        self.db.execute("CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, result TEXT)")
        self.db.commit()

    def settle(self, key, result):
        with self.db:
            self.db.execute("UPDATE claims SET result = ? WHERE key = ? AND result IS NULL", (json.dumps(result), key))

    def told(self, key):
        (result,) = self.db.execute("SELECT result FROM claims WHERE key = ?", (key,)).fetchone()
        return ("open", None) if result is None else ("settled", json.loads(result))

    def claim(self, key):
"""
INSERTS = """
        try:
            with self.db:
                self.db.execute("INSERT INTO claims VALUES (?, NULL)", (key,))
            return "new", None
        except sqlite3.IntegrityError:
            return self.told(key)
"""
IGNORES = """
        done = self.db.execute("INSERT OR IGNORE INTO claims VALUES (?, NULL)", (key,)).rowcount
        self.db.commit()
        return ("new", None) if done else self.told(key)
"""
LOCKS = """
        while True:
            try:
                self.db.execute("BEGIN IMMEDIATE")
                break
            except sqlite3.OperationalError:
                pass
        try:
            if self.db.execute("SELECT key FROM claims WHERE key = ?", (key,)).fetchone():
                return self.told(key)
            self.db.execute("INSERT INTO claims VALUES (?, NULL)", (key,))
            return "new", None
        finally:
            self.db.execute("COMMIT")
"""
LOOKS_AND_YIELDS = """
        cursor = self.db.cursor()
        cursor.execute("SELECT key FROM claims WHERE key = ?", (key,))
        if cursor.fetchone() is None:
            try:
                cursor.execute("INSERT INTO claims VALUES (?, NULL)", (key,))
                return "new", None
            except sqlite3.IntegrityError:
                pass
        return self.told(key)
"""
RIGHT = {
    "with a transaction": START.format("self.db = sqlite3.connect(path)") + INSERTS,
    "inserts or ignores": START.format("self.db = connect(path, 10)") + IGNORES,
    "locks, then looks": START.format("self.db = connect(path, isolation_level=None)") + LOCKS,
    "looks, and yields": START.format("self.db = sqlite3.connect(database=path, isolation_level=None)") + LOOKS_AND_YIELDS,
    "a journal of writes": START.format(
        "self.db = sqlite3.connect(path, 5, 0, None)\n        self.db.execute('PRAGMA busy_timeout=9000')\n"
        "        self.db.execute('PRAGMA journal_mode=WAL')"
    )
    + INSERTS.replace("with self.db:", "if True:"),
    "the package's": LEDGER.given + LEDGER.text(),
}  # fmt: skip


@pytest.fixture
def piece(monkeypatch):
    """Gives the class that a cell's text defines, in a module of its own, as a worker does."""

    def made(text):
        module = types.ModuleType("cell")
        monkeypatch.setitem(sys.modules, "cell", module)
        exec(LEDGER.given + text, vars(module))
        return module.SmallLedger

    return made


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_a_right_answer_passes_every_time(text, piece):
    assert (state := state_of(LEDGER, "# exercise: ledger\n" + text, lambda name: None)).sign == "✓", state.text
    ledger, cases = piece(text), list(ledger_cases())
    for _ in range(TIMES):
        for case in cases:
            assert same(fresh(ledger, case.given), case.expected), case.given


@pytest.mark.parametrize("wrong", LOOKS_FIRST, ids=lambda wrong: wrong.what)
@pytest.mark.parametrize("name", ["sqlite3.connect", "connect"])
def test_one_that_looks_first_is_caught_every_time_without_a_race(wrong, name, piece):
    between = next((n, script) for n, (script, _) in enumerate(SCRIPTS) if script[0][0] == "between")
    text = LEDGER.wrong_text(wrong).replace("sqlite3.connect", name)
    ledger = piece(f"from sqlite3 import connect\n{text}")
    expected = next(case.expected for case in ledger_cases() if case.given == between)
    for _ in range(TIMES):
        assert not same(fresh(ledger, between), expected)
    shown = state_of(LEDGER, LEDGER.wrong_text(wrong), lambda name: None)
    assert shown.pointer == "race" and "between('k')" in shown.text  # not the race, which goes well now and then


@pytest.mark.parametrize(
    "text",
    [
        LEDGER.text().replace(", isolation_level=None", ""),
        START.format("self.db = sqlite3.connect(path)") + IGNORES.replace("        self.db.commit()\n", ""),
        START.format("self.db = sqlite3.connect(path)")
        + INSERTS.replace("with self.db:", "if True:").replace("            return", "            self.db.commit()\n            return", 1),
    ],
    ids=["default transactions", "an INSERT without a commit", "an error without a roll-back"],
)  # fmt: skip
def test_what_is_left_open_is_told_as_such(text):
    state = state_of(LEDGER, "# exercise: ledger\n" + text, lambda name: None)
    assert (state.sign, state.pointer) == ("✗", "commit"), state.text
    assert "isolation_level=None" in state.text
