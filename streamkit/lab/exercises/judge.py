"""A piece over its cases: agreement, or the one smallest counterexample. No process, no clock but the one it is handed."""

from collections import Counter
from types import ModuleType
from typing import Any

from streamkit.lab.exercises.record import Case, Exercise
from streamkit.lab.exercises.show import NOT_AN_IDEA, lines_of, raised, shown, within

ENOUGH = 30  # counterexamples, after which the smallest is surely small
AGAIN = 40  # cases that run a second time, for pieces that keep something between runs
MUTATED = "mutated"
TWICE = "twice"
RAISED = "raised"
POINTERS = {
    RAISED: "The message beside `got` comes before any idea of the chapter: mend that first.",
    MUTATED: "Your code changed what it was given. The caller may still need it: build a value of your own.",
    TWICE: "The same input gave another result the second time. Something is kept from one run to the next: "
    "a class attribute, a module's name, or a default argument.",
}


def clone(value: Any) -> Any:
    """A copy that a piece may spoil. Events are tuples of plain values and are handed over as they are."""
    if type(value) is dict:
        return {key: clone(item) for key, item in value.items()}
    if type(value) in (list, set, tuple):
        return type(value)(clone(item) for item in value)
    return value


def same(one: Any, other: Any) -> bool:
    """Equal, and of equal types all the way down: True is not 1, and 1.0 is not 1."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(item, other[key]) for key, item in one.items())
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    try:
        return bool(one == other)
    except Exception:  # an object of the learner's that cannot be compared is not the one expected
        return False


class Trial:
    """A piece on trial. `failures` can be read while `run` is under way: a time limit reports what was found so far."""

    def __init__(self, exercise: Exercise, module: ModuleType):
        self.exercise, self.module = exercise, module
        self.failures, self.groups, self.inputs = [], Counter(), 0

    def run(self) -> dict:
        """The verdict, as plain data: {"state": "pass", "groups": …} or {"state": "fail", …}."""
        piece, again = getattr(self.module, self.exercise.defines), []
        for case in self.exercise.cases():
            case = Case(*case)
            self.inputs += 1
            self.groups[case.group] += 1
            self.one(piece, case, case.pointer)
            if len(self.failures) >= ENOUGH:
                break
            if len(again) < AGAIN:
                again.append(case)
        if not self.inputs:
            raise LookupError(f"the exercise {self.exercise.name} has no cases")
        if not self.failures:
            for case in again:
                self.one(piece, case, TWICE)
        return self.failed() if self.failures else {"state": "pass", "groups": dict(self.groups), "inputs": self.inputs}

    def one(self, piece: Any, case: Case, pointer: str) -> None:
        """Run one case and keep it where it fails."""
        handed, error = clone(case.given), None
        try:
            got = self.exercise.run(piece, handed)
        except BaseException as caught:
            error = got = caught
        if error is None and same(got, case.expected) and same(handed, case.given):
            return
        if error is None and same(got, case.expected):
            pointer = MUTATED
        elif error is not None and (isinstance(error, NOT_AN_IDEA) or not within(error)):
            pointer = RAISED
        elif self.exercise.diagnose is not None and pointer != TWICE:
            pointer = self.exercise.diagnose(case.given, case.expected, got) or pointer
        given = lines_of(case.given, self.exercise.show)
        outcome = raised(error) if error is not None else shown(handed if pointer == MUTATED else got)
        expected = shown(case.given if pointer == MUTATED else case.expected)
        self.failures.append((sum(map(len, given)), given, expected, outcome, pointer))

    def failed(self) -> dict:
        """The smallest counterexample so far."""
        _, given, expected, got, pointer = min(self.failures, key=lambda failure: failure[0])
        return {
            "state": "fail",
            "given": given,
            "expected": expected,
            "got": got,
            "pointer": pointer,
            "failures": len(self.failures),
            "inputs": self.inputs,
            "all": len(self.failures) < ENOUGH,
        }
