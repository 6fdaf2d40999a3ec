"""A piece over its cases: agreement, or the one smallest counterexample."""

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from streamkit.lab.exercises.record import Case, Exercise
from streamkit.lab.exercises.show import NOT_AN_IDEA, clean, lines_of, raised, shown, within

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
    except BaseException:  # an object of the learner's that cannot be compared is not the one expected
        return False


class Failure(NamedTuple):
    """One case that failed, already in words: what a piece hands out may change later."""

    case: Case
    given: list[str]
    expected: str
    got: str
    pointer: str


class Trial:
    """A piece on trial. `failures` can be read while `run` is under way: a time limit reports what was found so far."""

    def __init__(self, exercise: Exercise, make: Callable[[], Any]):
        self.exercise, self.make = exercise, make  # make() runs the cell's text afresh and returns the piece
        self.failures, self.groups, self.inputs = [], Counter(), 0

    def run(self, piece: Any) -> dict:
        """The verdict, as plain data: {"state": "pass", "groups": …} or {"state": "fail", …}."""
        again = []
        for case in self.exercise.cases():
            case = Case(*case)
            self.inputs += 1
            self.groups[case.group] += 1
            self.one(piece, case)
            if len(self.failures) >= ENOUGH:
                break
            if len(again) < AGAIN:
                again.append(case)
        if not self.inputs:
            raise LookupError(f"the exercise {self.exercise.name} has no cases")
        if not self.failures:
            for case in again:
                self.one(piece, case)
            self.failures = [failure._replace(pointer=TWICE) for failure in self.failures]
        if not self.failures:
            return {"state": "pass", "groups": dict(self.groups), "inputs": self.inputs}
        return self.failed(self.passes_alone(self.smallest()))

    def one(self, piece: Any, case: Case) -> None:
        """Run one case and keep it where it fails."""
        handed, error = clone(case.given), None
        try:
            got = self.exercise.run(piece, handed)
        except BaseException as caught:
            error = got = caught
        agrees = error is None and same(got, case.expected)
        if agrees and same(handed, case.given):
            return
        given = lines_of(case.given, self.exercise.show)
        if agrees:
            expected, outcome, pointer = shown(case.given), shown(handed), MUTATED
        else:
            expected, outcome = shown(case.expected), shown(got) if error is None else raised(error)
            if self.exercise.tell and error is None:
                expected, outcome = map(clean, self.exercise.tell(case.expected, got))
            pointer = self.pointer(case, got, error)
        self.failures.append(Failure(case, given, expected, outcome, pointer))

    def pointer(self, case: Case, got: Any, error: BaseException | None) -> str:
        """The key of the sentence that names the fault."""
        if error is not None and (isinstance(error, NOT_AN_IDEA) or not within(error)):
            return RAISED
        better = self.exercise.diagnose and self.exercise.diagnose(case.given, case.expected, got)
        return better or case.pointer

    def smallest(self) -> Failure:
        """The failure whose shown input is shortest."""
        return min(self.failures, key=lambda failure: sum(map(len, failure.given)))

    def passes_alone(self, failure: Failure) -> bool:
        """Does the input agree where nothing ran before it? Then something is kept from one run to the next."""
        alone = Trial(self.exercise, self.make)
        alone.one(self.make(), failure.case)
        return not alone.failures

    def failed(self, alone: bool = False) -> dict:
        """The smallest counterexample so far, as a verdict."""
        smallest = self.smallest()
        return {
            "state": "fail",
            "given": smallest.given,
            "expected": smallest.expected,
            "got": smallest.got,
            "pointer": TWICE if alone else smallest.pointer,
            "failures": len(self.failures),
            "inputs": self.inputs,
            "all": len(self.failures) < ENOUGH,
        }
