"""A piece of code in a process of its own, killed at a named point or before any line, on every system.

The piece is text, since a new process cannot import what a notebook defines. It calls `reached("after_claim")` where it may be
killed. There it says so and waits, and its parent ends it with `Popen.kill`: no handler runs and nothing is flushed.
"""

import io
import json
import linecache
import os
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from streamkit.lab.problem import Problem

POINTS = ("before_claim", "after_claim", "after_effect", "before_settle", "after_settle")  # the usual names
LAB = os.path.join(os.path.dirname(__file__), "")
CORE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")
PIECE = "<piece>"


class Child(NamedTuple):
    """What became of it. `killed_at`: the point, or the line as "ledger.py:88"; None where it ended by itself.

    `reached`: the points that it passed; `said`: what it printed; `errors`: its stderr; `code`: its exit status.
    """

    killed_at: str | None
    reached: list[str]
    said: str
    errors: str
    code: int


def run_child(piece: str, kill_at: str | int | None = None, patience: float = 30.0, **values: Any) -> Child:
    """Run a piece in a new process, with `values` (JSON) and `reached` as its names, until it ends or is killed.

    `kill_at`: the name of a point, or a number n: before the nth line that it runs of its own text and of the package's core
    (`lab` does not count); a piece of fewer lines ends by itself. `patience`: seconds. Raises Problem where the named point
    was never reached, or the time ran out.
    """
    command = [sys.executable, "-c", "from streamkit.lab.child import _main; _main()"]
    reached, said, killed_at, late = [], [], None, threading.Event()
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors) as process,
    ):
        watch = threading.Timer(patience, lambda: (late.set(), process.kill()))
        watch.start()
        try:
            with suppress(OSError):  # it died at once: its errors say why
                process.stdin.write(json.dumps([piece, kill_at, values]).encode() + b"\n")
                process.stdin.flush()
            for what, text in map(json.loads, process.stdout):
                if what == "here":
                    killed_at = text
                    break
                (reached if what == "reached" else said).append(text)
            else:
                process.wait()
        finally:
            process.kill()
            watch.cancel()
            process.wait()
        errors.seek(0)
        child = Child(killed_at, reached, "".join(said), errors.read().decode("utf-8", "replace"), process.returncode)
    if late.is_set() or (isinstance(kill_at, str) and killed_at is None):
        goal = f"to end within {patience:g} s" if late.is_set() else f"to reach {kill_at!r}"
        last = (child.errors.strip().splitlines() or ["no error"])[-1]
        raise Problem(f"expected the piece {goal}; it had reached {', '.join(reached) or 'nothing'} ({last})")
    return child


def _main() -> None:
    wire = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what bypasses Python's stdout must not mix with the messages
    piece, kill_at, values = json.loads(sys.stdin.buffer.readline())

    def tell(what: str, text: str) -> None:
        wire.write(json.dumps([what, text]).encode() + b"\n")
        wire.flush()

    def stop(where: str) -> None:
        tell("here", where)
        sys.stdin.buffer.read()  # until the kill; it ends only where the parent died first
        os._exit(1)

    def reached(point: str) -> None:
        if point == kill_at:
            stop(point)
        tell("reached", point)

    sys.stdout = _Told(tell)
    linecache.cache[PIECE] = len(piece), None, piece.splitlines(True), PIECE
    names = {"__name__": "__main__", "reached": reached, **values}
    try:
        code = compile(piece, PIECE, "exec")
        if isinstance(kill_at, int):
            sys.settrace(_line_counter(kill_at, stop))
        exec(code, names)
    except Exception:  # printed here, where linecache knows the piece's lines
        traceback.print_exc()
        sys.exit(1)


def _line_counter(last: int, stop: Callable[[str], None]) -> Callable:
    count = 0

    def trace(frame: Any, event: str, _: Any) -> Callable | None:
        nonlocal count
        path = frame.f_code.co_filename
        if event == "call":
            return trace if path == PIECE or (path.startswith(CORE) and not path.startswith(LAB)) else None
        if event == "line":
            count += 1
            if count == last:
                stop(f"{os.path.basename(path)}:{frame.f_lineno}")
        return trace

    return trace


class _Told(io.TextIOBase):
    """A stdout that tells the parent."""

    def __init__(self, tell: Callable[[str, str], None]):
        self._tell = tell

    def write(self, text: str) -> int:
        self._tell("said", text)
        return len(text)
