"""All exercises, found in the chapter modules under streamkit/lab/course/."""

import difflib
import functools
import importlib
import pkgutil

from streamkit.lab import course
from streamkit.lab.exercises.record import Exercise


@functools.cache
def chapters() -> dict[int, tuple[Exercise, ...]]:
    """Chapter number -> its exercises, in the order of the chapter. ValueError where a name is used twice."""
    found, seen = {}, set()
    for module in sorted(info.name for info in pkgutil.iter_modules(course.__path__)):
        if not (module.startswith("chapter") and module[7:].isdigit()):
            continue
        found[int(module[7:])] = exercises = tuple(importlib.import_module(f"{course.__name__}.{module}").EXERCISES)
        for exercise in exercises:
            if exercise.name in seen:
                raise ValueError(f"two exercises are called {exercise.name!r}")
            seen.add(exercise.name)
    return dict(sorted(found.items()))


def exercises() -> dict[str, Exercise]:
    """Name -> exercise, over all chapters."""
    return {exercise.name: exercise for chapter in chapters().values() for exercise in chapter}


def chapter_of(name: str) -> int:
    """The chapter an exercise belongs to."""
    return next(number for number, chapter in chapters().items() if any(e.name == name for e in chapter))


def answers() -> dict[str, str]:
    """Name -> the text of the package's answer, for `fill`."""
    return {name: exercise.text() for name, exercise in exercises().items()}


def close_to(name: str) -> str:
    """A sentence for a name that no exercise has."""
    near = difflib.get_close_matches(name, exercises(), 1, 0.4)
    known = f'Did you mean "{near[0]}"?' if near else f"There are: {', '.join(exercises()) or 'none yet'}."
    return f"No exercise is called {name[:60]!r}. {known}"
