"""What a learner types: check, hint, reveal, use. None of them raises over anything a learner wrote."""

import linecache
import os
import sys
import types
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from streamkit.lab.exercises import registry
from streamkit.lab.exercises.cells import SESSION, plain
from streamkit.lab.exercises.pieces import Pieces
from streamkit.lab.exercises.record import Exercise
from streamkit.lab.exercises.report import State, stands
from streamkit.lab.exercises.show import clean
from streamkit.lab.exercises.state import before, state_of

HERE = Path.cwd()  # the notebook's folder: a kernel starts there, and a learner may change it later
_hinted: dict[str, int] = {}


def check(name: str) -> None:
    """Print the state of an exercise: ○ not started, ✗ with the smallest counterexample, or ✓ with what ran."""
    _say(name, lambda exercise: print(_checked(exercise).text))


def hint(name: str) -> None:
    """Print the next hint of an exercise; after the last one the first again."""

    def show(exercise: Exercise) -> None:
        number = _hinted.get(name, 0) % len(exercise.hints)
        _hinted[name] = number + 1
        more = (
            f'hint("{name}") again says more'
            if number + 1 < len(exercise.hints)
            else f'reveal("{name}") shows the answer'
        )
        print(f"Hint {number + 1} of {len(exercise.hints)}: {exercise.hints[number]}\n({more})")

    _say(name, show)


def reveal(name: str) -> None:
    """Print the package's own answer: a whole cell, to read or to paste."""
    _say(name, lambda exercise: print(exercise.text(), end=""))


def use(name: str) -> Any:
    """The learner's piece where it passes, else the package's; one line says which. None where no exercise has the name."""
    found = []

    def choose(exercise: Exercise) -> None:
        state = _checked(exercise, keep=False)
        found.append(_mine(exercise, state.code) if state.sign == "✓" else exercise.answer.object())
        whose = "yours" if state.sign == "✓" else f"the package's (yours: {state.sign} {state.word})"
        print(f'use("{name}"): {whose}')

    _say(name, choose)
    if not found and isinstance(name, str) and (known := registry.find(name)):  # what follows must run all the same
        return known[1].answer.object()
    return found[0] if found else None


def _say(name: str, act: Callable[[Exercise], None]) -> None:
    """Find the exercise and act; everything that could go wrong becomes a sentence."""
    try:
        if not isinstance(name, str):
            print(f'Give the name of the exercise as text, as in check("{next(iter(registry.exercises()), "name")}").')
        elif (found := registry.find(name)) is None:
            print(registry.close_to(name))
        else:
            act(found[1])
    except KeyboardInterrupt:
        print("Stopped. Nothing was decided; run the cell again.")
    except Exception as error:  # a fault of the kit's, which must not look like one of the learner's
        print(f"The kit itself failed here, not your code: {type(error).__name__}: {clean(error)}")


def _checked(exercise: Exercise, keep: bool = True) -> State:
    """The state of the piece that counts: the cell's last run in this session, else the kept one."""
    name, pieces, run = exercise.name, Pieces(HERE), SESSION.last.get(exercise.name)
    twice = f"Two cells named `# exercise: {name}` were run. The one run last counts." if SESSION.twice(name) else ""
    if run is None:
        kept = pieces.load(name)
        if kept is None:
            return stands(
                exercise,
                "○",
                f"Write it in the cell that begins `# exercise: {name}`, run that cell, then check again.",
            )
        return state_of(
            exercise, kept, _text, "This is the kept one: its cell has not been run since the kernel started."
        )
    if run.ok is False:
        return stands(
            exercise,
            "✗",
            "The last run of its cell failed (the message is below that cell). Mend it, run it, check again.",
            twice,
        )
    state = state_of(exercise, run.text, _text, twice)
    if keep and state.sign == "✓" and (file := pieces.keep(name, run.text)):
        state = state.with_note(f'Kept in {file}: use("{name}") gives yours, here and in later chapters.')
    return state


def _text(name: str) -> str | None:
    """The learner's text of a piece: its cell's last run where that went well, else the kept one."""
    run = SESSION.last.get(name)
    return run.text if run is not None and run.ok is not False else Pieces(HERE).load(name)


def _mine(exercise: Exercise, text: str) -> Any:
    """The learner's piece as an object of this kernel, deaf to its own prints; its lines are known to tracebacks."""
    name, file, text = f"workbook_{exercise.name}", f"<your {exercise.name}>", plain(text)
    module = sys.modules[name] = types.ModuleType(name)  # dataclasses and pickling look for it there
    module.print = lambda *args, **kwargs: None
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        for part in (exercise.given, *before(exercise, _text)):
            exec(compile(plain(part), "<given>", "exec"), vars(module))
        exec(compile(text, file, "exec", dont_inherit=True), vars(module))
    return getattr(module, exercise.defines)
