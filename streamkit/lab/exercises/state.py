"""The state of a cell's text, wherever the text comes from: a kernel's session or a file."""

from collections.abc import Callable

from streamkit.lab.exercises.cells import stub_line
from streamkit.lab.exercises.record import Exercise
from streamkit.lab.exercises.registry import find
from streamkit.lab.exercises.report import State, report, stands
from streamkit.lab.exercises.run import verdict

Texts = Callable[[str], str | None]  # the name of an exercise -> the learner's text, or None


def state_of(exercise: Exercise, text: str, mine: Texts, note: str = "") -> State:
    """What `check` says of a cell's text and what `streamkit progress` counts. `note` becomes a line of its own."""
    if (line := stub_line(text)) is not None:
        return stands(exercise, "○", f"Line {line} of its cell is still `...`.", note, code=text)
    return report(exercise, verdict(exercise, text, before(exercise, mine)), text, note)


def before(exercise: Exercise, mine: Texts) -> tuple[str, ...]:
    """The texts an exercise builds on: the learner's where they pass, else the package's."""
    texts: list[str] = []
    for _, needed in map(find, exercise.needs):
        text = mine(needed.name)
        earlier = before(needed, mine)
        started = text and stub_line(text) is None
        passes = started and verdict(needed, text, earlier, again=False)["state"] == "pass"
        texts += [*earlier, text if passes else needed.text()]
    return tuple(dict.fromkeys(texts))
