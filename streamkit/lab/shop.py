"""A downstream service with real effects: orders, refunds and tickets of a lamp shop, over HTTP on 127.0.0.1.

    POST /orders, /refunds, /tickets   a JSON object → 201 with the new id. With `Idempotency-Key`, where keys are honoured:
                                       the same key and body → the recorded answer and no second effect; the same key with
                                       another body → 422; a void key → 409
    GET  /orders, /refunds, /tickets   what was done, in order
    GET  /effects                      how many of each
    GET  /keys/KEY                     resolves a doubt: {"state": "done", "answer": …}, "void", "unknown" (not done so far), or
                                       "not_kept" by a shop that does not honour keys
    POST /keys/KEY/void                the same question, and what was unknown becomes void: it can never be done any more

The effect and its key are written in one transaction, which is what the caller's side cannot have. In a notebook:
`shop = Shop()`, `shop.url`, `shop.stop()`. As a process: `python -m streamkit.lab.shop`, which prints its address.
"""

import argparse
import json
import os
import tempfile
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path

from streamkit.key import canonical
from streamkit.lab.loopback import QUEUE
from streamkit.lab.problem import Problem
from streamkit.lab.shop_http import Handler, Refused, ShopClient
from streamkit.store import Store, StoreError

__all__ = ["KINDS", "Shop", "ShopClient"]

KINDS = {"orders": "A", "refunds": "R", "tickets": "T"}  # each with the letter of its ids
APPLICATION, VERSION = 0x736B7368, 1  # "sksh"
TABLES = (
    *(
        f"CREATE TABLE IF NOT EXISTS {kind} (number INTEGER PRIMARY KEY, body TEXT NOT NULL, key TEXT)"
        for kind in KINDS
    ),
    "CREATE TABLE IF NOT EXISTS keys (key TEXT PRIMARY KEY, request TEXT NOT NULL, answer TEXT NOT NULL)",
)
VOID = ""  # as the request of a key that can never be used


class _Server(ThreadingHTTPServer):
    request_queue_size = QUEUE
    allow_reuse_address = os.name != "nt"  # on Windows it would let two servers share one port


class Shop:
    """The service, answering in a thread from the moment it is made until `stop`.

    `path`: its SQLite file (None: a temporary one). `honours_keys` may be switched while it runs. `delay`: seconds between an
    effect and its answer. `lose`: of so many effects to come the connection is closed instead of answering. Raises Problem.
    """

    def __init__(self, path: str | Path | None = None, honours_keys: bool = True, port: int = 0):
        self.honours_keys, self.delay, self.lose = honours_keys, 0.0, 0
        self._folder = None if path else tempfile.TemporaryDirectory(prefix="shop-", ignore_cleanup_errors=True)
        try:
            self._store = Store(path or Path(self._folder.name, "shop.db"), TABLES, APPLICATION, VERSION, "shop")
            self._server = _Server(("127.0.0.1", port), type("ShopHandler", (Handler,), {"shop": self}))
        except StoreError as error:
            raise Problem(str(error)) from None
        except (OSError, OverflowError) as error:
            self._store.close()
            raise Problem(f"expected a free port on 127.0.0.1, got {port} ({error}); name another") from None
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.stopping = threading.Event()
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def __enter__(self) -> "Shop":
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop answering; a temporary file is deleted. A second call does nothing."""
        if not self.stopping.is_set():
            self.stopping.set()
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()
            self._store.close()
            if self._folder:
                self._folder.cleanup()

    def counts(self) -> dict[str, int]:
        """How many effects of each kind there are."""
        return {kind: len(self.effects(kind)) for kind in KINDS}

    def effects(self, kind: str) -> list[dict]:
        """The effects of one kind in order, each with id, key (None without) and what was asked."""
        with self._store.transaction("Nothing was done.", "DEFERRED") as db:
            rows = db.execute(f"SELECT number, key, body FROM {_known(kind)} ORDER BY number").fetchall()
        return [{**json.loads(body), "id": _id(kind, number), "key": key} for number, key, body in rows]

    def create(self, kind: str, body: dict, key: str | None = None) -> tuple[dict, bool]:
        """One effect, or the recorded answer of the one that this key had (True). Raises Refused."""
        request = f"{_known(kind)} {canonical(body)}"
        with self._store.transaction("Nothing was done.") as db:
            if key and self.honours_keys:
                known = db.execute("SELECT request, answer FROM keys WHERE key = ?", (key,)).fetchone()
                if known and known[0] == request:
                    return json.loads(known[1]), True
                if known:
                    reason = (
                        "this key was made void" if known[0] == VOID else "this key came with another request before"
                    )
                    raise Refused(
                        409 if known[0] == VOID else 422, f"expected a key of its own for each effect; {reason}"
                    )
            cursor = db.execute(f"INSERT INTO {kind} (body, key) VALUES (?, ?)", (json.dumps(body), key))
            answer = {**body, "id": _id(kind, cursor.lastrowid)}
            if key and self.honours_keys:
                db.execute("INSERT INTO keys VALUES (?, ?, ?)", (key, request, json.dumps(answer)))
        return answer, False

    def ask(self, key: str, void: bool = False) -> dict:
        """What happened under a key; with `void`, nothing will any more where nothing has."""
        if not self.honours_keys:
            return {"state": "not_kept"}
        with self._store.transaction("Nothing was done.") as db:
            if void:
                db.execute("INSERT INTO keys VALUES (?, ?, 'null') ON CONFLICT DO NOTHING", (key, VOID))
            known = db.execute("SELECT request, answer FROM keys WHERE key = ?", (key,)).fetchone()
        if not known:
            return {"state": "unknown"}
        return {"state": "void"} if known[0] == VOID else {"state": "done", "answer": json.loads(known[1])}


def _known(kind: str) -> str:
    if kind not in KINDS:
        raise Refused(404, f"expected /{', /'.join(KINDS)}, /effects or /keys/KEY")
    return kind


def _id(kind: str, number: int) -> str:
    return f"{KINDS[kind]}-{1000 + number}"


def main(argv: list[str] | None = None) -> None:
    """Run the shop until the process is stopped; the first line printed is its address."""
    parser = argparse.ArgumentParser(prog="python -m streamkit.lab.shop", description="A service with real effects.")
    parser.add_argument("--file", help="its SQLite file (default: a temporary one)")
    parser.add_argument("--port", type=int, default=0, help="on 127.0.0.1 (default: a free one)")
    parser.add_argument("--ignore-keys", action="store_true", help="do not honour Idempotency-Key")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds between an effect and its answer")
    args = parser.parse_args(argv)
    try:
        with Shop(args.file, not args.ignore_keys, args.port) as shop:
            shop.delay = args.delay
            print(shop.url, flush=True)
            shop.stopping.wait()
    except Problem as problem:
        parser.exit(2, f"{parser.prog}: {problem}\n")
    except KeyboardInterrupt:
        parser.exit(130)


if __name__ == "__main__":
    main()
