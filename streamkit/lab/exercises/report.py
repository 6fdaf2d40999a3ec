"""A verdict as the few lines a learner reads: sign, word, one counterexample or one reason to be glad."""

from dataclasses import dataclass, replace

from streamkit.lab.exercises.judge import POINTERS
from streamkit.lab.exercises.record import Exercise

WORDS = {"○": "not started", "✗": "not right yet", "✓": "passes"}


@dataclass(frozen=True)
class State:
    """Where an exercise stands. `text` is what `check` prints, `code` the text that was judged."""

    sign: str
    text: str
    code: str = ""
    pointer: str | None = None

    @property
    def word(self) -> str:
        """The sign in words, for those who cannot tell one from the other."""
        return WORDS[self.sign]

    def with_note(self, note: str) -> "State":
        """The same, with one line more."""
        return replace(self, text=f"{self.text}\n  {note}")


def stands(exercise: Exercise, sign: str, *sentences: str, code: str = "", pointer: str | None = None) -> State:
    """A state with its sentences, one a line; empty ones are left out."""
    head = f"{sign} {exercise.name}: {WORDS[sign]}"
    return State(sign, "\n  ".join([head, *filter(None, sentences)]), code, pointer)


def report(exercise: Exercise, verdict: dict, code: str, note: str = "") -> State:
    """The state that a verdict of run.py comes to."""
    kind = verdict["state"]
    ask = f'hint("{exercise.name}") helps.'
    if kind == "pass":
        groups = ", ".join(f"{count} {group}" for group, count in verdict["groups"].items())
        ran = f"{verdict['inputs']} inputs ran and agree: {groups}."
        return stands(exercise, "✓", ran, f"Why it matters: {exercise.why}", note, code=code)
    if kind == "fail":
        return stands(
            exercise, "✗", *counterexample(exercise, verdict), note, ask, code=code, pointer=verdict["pointer"]
        )
    if kind == "error":
        sentence = verdict["sentence"]
    elif kind == "cut":
        sentence = cut(verdict)
    elif kind == "gone":
        sentence = (
            "Your code ended the Python process it ran in, so there is no verdict. "
            "Does it call os._exit, or fill the memory?"
        )
    else:
        sentence, ask = (
            f"The check itself failed, which is a fault of the kit's and not yours: {verdict['sentence']}",
            "",
        )
    return stands(exercise, "✗", sentence, note, ask, code=code)


def counterexample(exercise: Exercise, verdict: dict) -> list[str]:
    """Fragments in, expected, got, and one pointer."""
    first, *others = verdict["given"] or ["nothing"]
    share = (
        f"{verdict['failures']} of the {verdict['inputs']} inputs"
        if verdict["all"]
        else f"{verdict['failures']} inputs (the check then stopped)"
    )
    sentence = exercise.pointers.get(verdict["pointer"]) or POINTERS.get(verdict["pointer"]) or verdict["pointer"]
    return [
        f"It differs on {share}. The smallest:",
        f"given     {first}",
        *(f"          {line}" for line in others),
        f"expected  {verdict['expected']}",
        f"got       {verdict['got']}",
        f"look at   {sentence}",
    ]


def cut(verdict: dict) -> str:
    """What to say of a piece that did not end in time."""
    where = (
        f"at line {verdict['line']}, in `{verdict['function']}`"
        if verdict.get("line")
        else "in code that your cell calls"
    )
    if where.endswith("`<module>`"):
        where = where.removesuffix(", in `<module>`")
    what = "It was waiting" if verdict["waits"] else "It was still busy"
    return (
        f"Your code did not finish and was stopped. {what} {where}. "
        "Is there a loop that never ends, or work that grows with every fragment?"
    )
