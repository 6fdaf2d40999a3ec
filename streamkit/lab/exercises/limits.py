"""The limits of a piece on trial: time and memory."""

import contextlib
import faulthandler
import signal
import sys
import threading
import time
from collections import deque

from streamkit.lab.exercises.show import CELL, clean

LIMIT = 1.3  # seconds of processor time, after which a piece is cut; or of waiting
IDLE = 0.05  # share of the time below which a piece waits; a busy machine still gives more
LATEST = 20.0  # seconds on the clock, whatever else
STUCK = 3.0  # seconds (the system counts them in ticks, roughly: well above LIMIT), after which a piece that never lets another thread have a turn is cut from outside Python
MEMORY = 3 << 30  # bytes
ROUND = 0.05  # seconds between two looks


def guard(trial, out, answer) -> None:
    """Limit the memory, and call `answer` with a verdict when the piece's time is over.

    The time is the processor's, since a busy machine is no fault of the learner's.
    """
    with contextlib.suppress(ImportError, ValueError, OSError):  # not on every system
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    if hasattr(
        signal, "setitimer"
    ):  # one endless call in C: the traceback is written by the signal's handler, in C too
        faulthandler.register(signal.SIGPROF, out, chain=True)
        signal.setitimer(signal.ITIMER_PROF, STUCK)
    threading.Thread(target=_rounds, args=(trial, out, answer, threading.main_thread().ident), daemon=True).start()


def _rounds(trial, out, answer, thread: int) -> None:
    looks = deque([(time.monotonic(), time.process_time())], maxlen=round(LIMIT / ROUND))
    begun, worked = looks[0]
    while True:
        if not hasattr(signal, "setitimer"):
            faulthandler.dump_traceback_later(
                STUCK, exit=True, file=out
            )  # armed anew each round, while rounds are made
        time.sleep(ROUND)
        now, work = time.monotonic(), time.process_time()
        looks.append((now, work))
        waits = now - looks[0][0] >= LIMIT * 0.9 and work - looks[0][1] < IDLE * (now - looks[0][0])
        if waits or work - worked >= LIMIT or now - begun >= LATEST:
            answer(trial.failed() if trial.failures else {"state": "cut", "waits": waits, **_where(thread)}, out)


def _where(thread: int) -> dict:
    """The line of the learner's cell that a thread is at, {} where it is in none."""
    frame = sys._current_frames().get(thread)
    while frame is not None:
        if frame.f_code.co_filename == CELL:
            return {"line": frame.f_lineno, "function": clean(frame.f_code.co_name, 60)}
        frame = frame.f_back
    return {}
