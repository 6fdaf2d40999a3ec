"""One rule: a file that cannot be used says so in one line, and no effect is there that is not recorded."""

import os
import sqlite3
import tempfile
import threading
import time
from pathlib import Path

import pytest

from streamkit.claims import New, Settled
from streamkit.ledger import APPLICATION, Ledger
from streamkit.store import FAULTS, Store, StoreError

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


class Till:
    """Pays through a ledger and remembers what it did, so that both can be compared."""

    def __init__(self, path, message="message-1", **options):
        self.ledger, self.effects = Ledger(path, **options), []
        self.attempt = self.ledger.begin("chat", message)

    def pay(self, n, receipt=None):
        claim = self.ledger.claim(self.attempt, "pay", {"n": n})
        if isinstance(claim, New):
            with self.ledger.running(claim) as run:
                self.effects.append(n)
                run.result = receipt
        return claim

    def check(self, path):
        """Every effect is in the file; and whatever is there without an end is reported as a doubt."""
        found = Ledger(path)
        entries = {entry.arguments["n"]: entry.state for entry in found.entries("chat", 0)}
        assert len(set(self.effects)) == len(self.effects) and set(self.effects) <= set(entries)
        assert [entry.arguments["n"] for entry in found.doubts()] == [
            n for n, state in entries.items() if state != "ran"
        ]
        found.close()
        return entries


def limit(ledger, pages):
    ledger._store._db.execute(f"PRAGMA max_page_count = {pages}")


def lines(error, *words):
    text = str(error)
    assert "\n" not in text and "expected" in text, text
    for word in words:
        assert word in text, text


def test_disk_full_before_the_run(path):
    till = Till(path)
    till.pay(0)
    limit(till.ledger, 1)  # SQLite takes the present size where it is larger
    with pytest.raises(StoreError) as caught:
        for n in range(1, 500):
            till.pay(n)
    lines(caught.value, str(path), "room to write", "the disk is full", "free some space", "Nothing is claimed")
    assert len(till.effects) < 499 and n not in till.effects
    assert list(till.check(path).values()) == ["ran"] * n
    limit(till.ledger, 10_000)
    assert isinstance(till.pay(n), New) and isinstance(till.pay(n), Settled)  # with room again it goes on
    assert n in till.effects


def test_disk_full_after_the_run(path):
    till = Till(path)
    limit(till.ledger, 1)
    with pytest.raises(StoreError) as caught:
        till.pay(0, receipt="x" * 200_000)
    lines(caught.value, "the disk is full", "the claim stands, and is in doubt")
    assert till.effects == [0] and till.check(path)[0] in ("claimed", "in_doubt")
    assert not isinstance(till.pay(0), New) and till.effects == [0]


def test_disk_full_before_the_request(path):
    till = Till(path)
    limit(till.ledger, 1)
    with pytest.raises(StoreError, match="do not send it"):
        till.ledger.begin("chat", "message-2", {"prompt": "x" * 200_000})
    assert till.ledger.begin("chat", "message-2").turn == 1


def in_a_fork(work):
    """What `work` returns in a forked child, as text; or the error that it raised."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            try:
                said = str(work())
            except BaseException as error:
                said = f"{type(error).__name__}: {error}"
            os.write(theirs, said.encode())
        finally:
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as said:
        text = said.read()
    os.waitpid(child, 0)
    return text


@forks
def test_the_system_refuses_to_write(path):
    """A real refusal, by the limit that the system sets on a file's size; only the child has it."""
    import resource
    import signal

    def pay_until_refused():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        till = Till(path)
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
        try:
            for n in range(500):
                till.pay(n)
        except StoreError as error:
            return f"{len(till.effects)} {error}"

    effects, _, error = in_a_fork(pay_until_refused).partition(" ")
    lines(error, "it failed", "check the disk")
    ledger = Ledger(path)
    entries = ledger.entries("chat", 0)
    assert 0 < int(effects) <= len(entries) < 500 and len(ledger.doubts()) <= 1
    ledger.close()


def test_locked_by_another_program(path):
    till = Till(path, patience=0.2)
    till.pay(0)
    claim = till.ledger.claim(till.attempt, "pay", {"n": 1})
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError) as caught:
        till.pay(2)
    lines(caught.value, "a turn to write within 0.2 s", "another program keeps the file locked", "Nothing is claimed")
    with pytest.raises(StoreError, match="the claim stands"), till.ledger.running(claim):
        till.effects.append(1)
    assert [entry.key for entry in till.ledger.doubts()] == [claim.key]  # reading waits for nobody
    other.execute("ROLLBACK")
    other.close()
    assert till.effects == [0, 1] and till.check(path) == {0: "ran", 1: "claimed"}
    till.ledger.settle(claim, "ran")  # its holder still has the word


def test_a_locked_open_is_tried_again(path):
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN EXCLUSIVE")  # before WAL: nobody can read even the header
    release = threading.Timer(0.6, lambda: (holder.execute("ROLLBACK"), holder.close()))
    release.start()
    ledger = Ledger(path, patience=6)  # longer than one try waits
    release.join()
    assert ledger.begin("chat", "m").turn == 0
    ledger.close()


def test_an_open_that_stays_locked_is_given_up(path):
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    began = time.monotonic()
    with pytest.raises(StoreError) as caught:
        Ledger(path, patience=0.2)
    assert time.monotonic() - began < 10
    lines(caught.value, "a turn to write within 0.2 s", "was not opened")
    holder.close()


@pytest.mark.parametrize("round_", range(5))
def test_many_open_a_new_file_at_once(path, round_):
    start, turns = threading.Barrier(8), []

    def first():
        start.wait()
        ledger = Ledger(path)
        turns.append(ledger.begin("chat", "m").attempt)
        ledger.close()

    threads = [threading.Thread(target=first) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(turns) == list(range(8))


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """The bytes of a ledger of 60 claims, on more than 8 pages."""
    path = tmp_path_factory.mktemp("full") / "ledger.db"
    till = Till(path)
    for n in range(60):
        till.pay(n, receipt="x" * 300)
    till.ledger.close()
    data = path.read_bytes()
    assert len(data) > 8 * 4096
    return data


@pytest.mark.parametrize(
    "damage, came",
    [
        (lambda data: b"\0" * 16 + data[16:], "no SQLite database"),
        (lambda data: data[:100] + b"\xff" * 3996 + data[4096:], "its pages are damaged"),
        (lambda data: data[: 5 * 4096] + b"\xa5" * 4096 + data[6 * 4096 :], "its pages are damaged"),
        (lambda data: data[: 6 * 4096], "its pages are damaged"),
        (lambda data: data[:50], "damage|no SQLite database"),
    ],
    ids=["no header", "first page", "inner page", "cut off", "nearly all gone"],
)
def test_a_damaged_ledger_is_not_used(path, full, damage, came):
    path.write_bytes(damage(full))
    before = path.read_bytes()
    with pytest.raises(StoreError, match=came) as caught:
        Ledger(path)
    lines(caught.value, "backup")
    assert path.read_bytes() == before  # kept as it was found


def test_damage_behind_the_back_of_an_open_ledger(path, full):
    """The claims that reach a damaged page fail, and their tools do not run."""
    path.write_bytes(full)
    till = Till(path, message="message-2")
    till.ledger._store._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    till.ledger._store._db.execute("PRAGMA cache_size = 0")
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xa5" * (len(data) - 4096))
    with pytest.raises(StoreError, match="its pages are damaged"):
        till.pay(500)
    assert 500 not in till.effects


def other_database(path):
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE recipes (name)")
    db.commit()
    db.close()


def newer_ledger(path):
    Ledger(path).close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 2")
    db.close()


@pytest.mark.parametrize(
    "make, came",
    [
        (lambda path: path.write_text("lamp"), "no SQLite database"),
        (lambda path: path.write_text("lamp " * 10_000), "no SQLite database"),
        (other_database, "another program's database"),
        (newer_ledger, "has form 2, and this program knows 1; install a newer streamkit"),
    ],
    ids=["short text", "long text", "another database", "newer"],
)
def test_a_file_that_is_no_ledger_is_left_as_it_is(path, make, came):
    make(path)
    before = path.read_bytes()
    with pytest.raises(StoreError) as caught:
        Ledger(path)
    lines(caught.value, str(path), came)
    assert path.read_bytes() == before
    assert sorted(path.parent.iterdir()) == [path]  # and nothing beside it


@pytest.mark.parametrize("place", [":memory:", ""])
def test_a_ledger_that_others_could_not_share_is_refused(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError) as caught:
        Ledger(place)
    lines(caught.value, "journal_mode=WAL answered", "local")


def test_no_folder_and_a_folder(path, tmp_path):
    for place in (tmp_path / "nowhere" / "ledger.db", tmp_path):
        with pytest.raises(StoreError) as caught:
            Ledger(place)
        lines(caught.value, "a folder that exists and can be written")


def test_an_empty_file_becomes_a_ledger_and_a_path_may_look_odd(tmp_path):
    path = tmp_path / "{what} of 100 % ?mode=ro.db"
    path.touch()
    ledger = Ledger(path)
    assert ledger.begin("chat", "m").turn == 0
    ledger.close()
    path.write_bytes(b"\0" * 5000)
    with pytest.raises(StoreError) as caught:
        Ledger(path)
    lines(caught.value, path.name)


@forks
@pytest.mark.parametrize("what, there", [("folder", False), ("folder", True), ("file", True)])
def test_read_only(what, there):
    """Permissions do not bind root: then the child that tries becomes somebody else first."""
    with tempfile.TemporaryDirectory() as name:
        folder, path = Path(name), Path(name, "ledger.db")
        if there:
            till = Till(path)
            till.pay(1)
            till.ledger.close()
            path.chmod(0o644 if what == "folder" else 0o444)
        folder.chmod(0o555 if what == "folder" else 0o777)

        def pay():
            if os.getuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            Till(path).pay(2)
            return "paid"

        said = in_a_fork(pay)
        folder.chmod(0o755)
        lines(said, str(path), "permission to write")
        if there:
            path.chmod(0o644)
            assert Till(path).check(path) == {1: "ran"}


def test_every_line_is_whole():
    """No fault's text leaves a hole, and each of the two kinds of file speaks of itself."""
    for expected, came, remedy in FAULTS.values():
        assert all((expected, came, remedy)) and "{" not in came + remedy
        assert "{" not in expected.format(what="ledger", patience=1.5)


def test_one_kind_of_file_is_not_the_other(path):
    Ledger(path).close()
    with pytest.raises(StoreError, match="expected a shop, but the file is another program's database"):
        Store(path, (), APPLICATION + 1, 1, "shop")


def test_a_transaction_that_fails_leaves_nothing(path):
    store = Store(path, ("CREATE TABLE IF NOT EXISTS notes (text)",), 7, 1, "book")
    with pytest.raises(KeyboardInterrupt), store.transaction("") as db:
        db.execute("INSERT INTO notes VALUES ('half')")
        raise KeyboardInterrupt
    with pytest.raises(StoreError, match="no such table"), store.transaction("Nothing is noted.") as db:
        db.execute("INSERT INTO notes VALUES ('half')")
        db.execute("INSERT INTO pages VALUES ('other')")
    with store.transaction("") as db:
        db.execute("INSERT INTO notes VALUES ('whole')")
    with store.transaction("", "DEFERRED") as db:
        assert db.execute("SELECT text FROM notes").fetchall() == [("whole",)]
    store.close()


def test_a_close_waits_for_another_threads_transaction_and_later_ones_are_told(path):
    till, errors = Till(path), []

    def pay():
        try:
            for n in range(10_000):
                till.pay(n)
        except StoreError as error:
            errors.append(str(error))

    payer = threading.Thread(target=pay)
    payer.start()
    while len(till.effects) < 5:
        time.sleep(0.001)
    till.ledger.close()
    payer.join()
    assert len(errors) == 1 and "closed" in errors[0]
    till.check(path)


def test_a_commit_waits_for_the_disk(path):
    """The power may fail: these two settings are what a claim survives by."""
    db = Ledger(path)._store._db
    assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert db.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
    assert db.execute("PRAGMA busy_timeout").fetchone() == (10_000,)
