"""What a ledger says of a call: the answers to a claim, and how the end of a run is put into one word."""

from typing import Any, NamedTuple

STATES = ("claimed", "in_doubt", "ran", "failed")  # the table is in ledger.py
UNSETTLED, ENDS = STATES[:2], STATES[1:]


class Attempt(NamedTuple):
    """One try at one model request: `turn` counts the requests of the conversation, `attempt` the tries, both from 0."""

    conversation: str
    turn: int
    attempt: int
    request: Any = None


class New(NamedTuple):
    """The call is yours: run the tool now, once. `key` goes downstream, `token` settles the claim."""

    key: str
    token: str


class Settled(NamedTuple):
    """The call has its end: `state` is "ran" (result) or "failed" (the error)."""

    key: str
    state: str
    result: Any


class Open(NamedTuple):
    """The call is claimed and has no end. `in_doubt`: nobody will learn its end by waiting."""

    key: str
    in_doubt: bool


class Entry(NamedTuple):
    """One claim as the ledger holds it. `claimed_at` (wall clock, UTC) is for people: nothing decides by it."""

    key: str
    state: str
    result: Any
    conversation: str
    turn: int
    attempt: int
    tool: str
    arguments: Any
    occurrence: int
    claimed_at: str

    @property
    def answer(self) -> Settled | Open:
        """What a second claim of this key is told."""
        if self.state in UNSETTLED:
            return Open(self.key, self.state == "in_doubt")
        return Settled(self.key, self.state, self.result)


class Changed(NamedTuple):
    """Another attempt claimed this tool with the keys in `held`, and this attempt proposes them no more."""

    key: str
    held: tuple[Entry, ...]


Answer = New | Settled | Open | Changed


class NotDone(Exception):
    """Raised by a tool that knows it did nothing: the only way for a run to end as `failed`."""


class NotHeld(Exception):
    """A word that was not written down, since key, token and state do not match. `state`, `result`: that word."""

    def __init__(self, line: str, state: str, result: Any):
        super().__init__(line)
        self.state, self.result = state, result


def end_of(error: BaseException) -> str:
    """The state that a tool's exception leaves: "failed" for NotDone; after anything else the effect may be there."""
    return "failed" if isinstance(error, NotDone) else "in_doubt"
