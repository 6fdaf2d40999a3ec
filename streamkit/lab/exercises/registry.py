"""All exercises, found in the chapter modules under streamkit/lab/course/."""

import difflib
import functools
import importlib
import pkgutil

from streamkit.lab import course
from streamkit.lab.exercises.record import Exercise


def numbers() -> list[int]:
    """The chapters that have a module, in order."""
    names = [info.name for info in pkgutil.iter_modules(course.__path__)]
    return sorted(int(name[7:]) for name in names if name.startswith("chapter") and name[7:].isdigit())


@functools.cache
def chapter(number: int) -> tuple[Exercise, ...]:
    """The exercises of one chapter, in its order, without loading the others."""
    return tuple(importlib.import_module(f"{course.__name__}.chapter{number}").EXERCISES)


def chapters() -> dict[int, tuple[Exercise, ...]]:
    """Chapter number -> its exercises."""
    return {number: chapter(number) for number in numbers()}


def exercises() -> dict[str, Exercise]:
    """Name -> exercise, over all chapters. ValueError where a name is used twice."""
    listed = [exercise for number in numbers() for exercise in chapter(number)]
    found = {exercise.name: exercise for exercise in listed}
    if len(found) < len(listed):
        raise ValueError("two exercises have one name: " + ", ".join(sorted(exercise.name for exercise in listed)))
    return found


_open = 0  # the chapter that a kernel runs; the others are loaded only where they are asked for


def begin(number: int) -> None:
    """This kernel runs a chapter: look there first."""
    global _open
    _open = number


def find(name: str) -> tuple[int, Exercise] | None:
    """The chapter and the exercise of a name, None where there is none."""
    for number in sorted(numbers(), key=lambda number: number != _open):
        for exercise in chapter(number):
            if exercise.name == name:
                return number, exercise
    return None


def answers() -> dict[str, str]:
    """Name -> the text of the package's answer, for `fill`."""
    return {name: exercise.text() for name, exercise in exercises().items()}


def close_to(name: str) -> str:
    """A sentence for a name that no exercise has."""
    near = difflib.get_close_matches(name, exercises(), 1, 0.4)
    known = f'Did you mean "{near[0]}"?' if near else f"There are: {', '.join(exercises()) or 'none yet'}."
    return f"No exercise is called {name[:60]!r}. {known}"
