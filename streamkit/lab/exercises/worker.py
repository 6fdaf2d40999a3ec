"""The process in which a learner's text runs: a request on stdin, a verdict on stdout.

A process of its own, since nothing else can be stopped on every system: an endless loop, `os._exit`, a full memory.
"""

import json
import os
import sys
import threading
import types

from streamkit.lab.exercises.judge import Trial
from streamkit.lab.exercises.limits import guard
from streamkit.lab.exercises.registry import chapter
from streamkit.lab.exercises.show import CELL, clean, raised
from streamkit.lab.quick import quick

_answering = threading.Lock()


class Undefined(Exception):
    """The cell's text ran and does not define the piece."""


def main() -> None:
    quick()
    request = json.loads(sys.stdin.buffer.read())
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # prints are swallowed, and input() finds nobody
        os.dup2(silence, stream)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(os.dup(silence), mode, encoding="utf-8") for mode in "rww")
    answer(judged(request, lambda trial: guard(trial, out, answer)), out)


def answer(verdict: dict, out) -> None:
    """Say the verdict and end at once, whatever threads the piece may have left running."""
    _answering.acquire()  # for good: the time limit may come at the same moment
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


if __name__ == "__main__":
    main()
