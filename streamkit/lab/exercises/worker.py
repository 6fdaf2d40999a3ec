"""The process in which a learner's text runs: a request on stdin, a verdict on stdout.

A process of its own, since nothing else can be stopped on every system: an endless loop, `os._exit`, a full memory.
"""

import contextlib
import faulthandler
import json
import os
import sys
import threading
import time
import types

from streamkit.lab.exercises.judge import Trial
from streamkit.lab.exercises.registry import chapter
from streamkit.lab.exercises.show import CELL, clean, raised

LIMIT = 1.4  # seconds of work, after which the piece is cut
STUCK = 1.2  # seconds without a turn of the interpreter (one endless call in C): faulthandler ends the process
MEMORY = 3 << 30  # bytes


class Undefined(Exception):
    """The cell's text ran and does not define the piece."""


def main() -> None:
    # jsonschema would load a parser of URI syntax, which takes longer than a whole check and which no check uses.
    sys.modules.setdefault("rfc3987_syntax", None)
    request = json.loads(sys.stdin.buffer.read())
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # prints are swallowed, and input() finds nobody
        os.dup2(silence, stream)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(os.dup(silence), mode, encoding="utf-8") for mode in "rww")
    answer(judged(request, lambda trial: guard(trial, out)), out)


def answer(verdict: dict, out) -> None:
    """Say the verdict and end at once, whatever threads the piece may have left running."""
    out.write(json.dumps(verdict) + "\n")
    out.flush()
    os._exit(0)


def judged(request: dict, watch) -> dict:
    """Run the text by itself, in the namespace that a filled book gives it, and try it on the exercise's cases.

    `watch(trial)` is called when everything of ours is loaded and the learner's text is about to run.
    """
    exercise = next(exercise for exercise in chapter(request["chapter"]) if exercise.name == request["name"])

    def make():
        """The piece of a fresh run of the text; Undefined where the text does not define it."""
        module = sys.modules["workbook"] = types.ModuleType("workbook")  # dataclasses and pickling look for it there
        for text in [exercise.given, *request["before"]]:
            exec(compile(text, "<given>", "exec"), vars(module))
        older = vars(module).get(exercise.defines)
        exec(compile(request["text"], CELL, "exec", dont_inherit=True), vars(module))
        if vars(module).get(exercise.defines) is older:
            raise Undefined
        return vars(module)[exercise.defines]

    trial = Trial(exercise, make)
    watch(trial)
    try:
        piece = make()
    except SyntaxError as error:
        sentence = f"Line {error.lineno} of the cell is not Python yet: {clean(error.msg)}."
        return {"state": "error", "sentence": sentence}
    except Undefined:
        return {"state": "error", "sentence": f"The cell does not define `{exercise.defines}`."}
    except BaseException as error:
        return {"state": "error", "sentence": f"Run by itself, the cell does not finish: {raised(error)}."}
    try:
        return trial.run(piece)
    except BaseException as error:  # ours to mend: say so, rather than blame the learner
        return {"state": "broken", "sentence": clean(f"{type(error).__name__}: {error}")}


def guard(trial, out) -> None:
    """Limit the memory, and cut the piece when its time is over.

    The time is the processor's, since a busy machine is no fault of the learner's, unless the piece only waits.
    """
    with contextlib.suppress(ImportError, ValueError, OSError):  # not on every system
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    main_thread = threading.main_thread().ident
    begun, worked = time.monotonic(), time.process_time()

    def rounds() -> None:
        while True:
            faulthandler.dump_traceback_later(STUCK, exit=True, file=out)  # re-armed each round, while rounds are made
            time.sleep(0.05)
            wall, work = time.monotonic() - begun, time.process_time() - worked
            waits = wall >= LIMIT and work < wall / 4
            if work < LIMIT and not waits and wall < 6 * LIMIT:
                continue
            if trial.failures:
                answer(trial.failed(), out)
            frame, where = sys._current_frames().get(main_thread), {}
            while frame is not None and not where:
                if frame.f_code.co_filename == CELL:
                    where = {"line": frame.f_lineno, "function": clean(frame.f_code.co_name, 60)}
                frame = frame.f_back
            answer({"state": "cut", "waits": waits, "inputs": trial.inputs, **where}, out)

    threading.Thread(target=rounds, daemon=True).start()


if __name__ == "__main__":
    main()
