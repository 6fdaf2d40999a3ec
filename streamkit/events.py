"""The vocabulary: what the wire says, what a call and a turn are.

`index` is the per-call (or per-block) index on the wire, an opaque key: a number, text, or None where the wire has none.
`at` is seconds since the request was sent. Absent, null and "" all say nothing.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

Index = int | str | None


class TextDelta(NamedTuple):
    """A piece of visible text. Without an index it joins the last block where that is text, else it opens one."""

    at: float
    index: Index
    text: str


class ThinkingDelta(NamedTuple):
    """A piece of the model's thinking, which is kept for replay and is not the answer."""

    at: float
    index: Index
    text: str


class CallDelta(NamedTuple):
    """An announcement (id, name), a fragment (text), or both. Fragments are opaque: appended, never parsed."""

    at: float
    index: Index
    id: str | None = None
    name: str | None = None
    text: str = ""
    kind: str = "client"  # "server": the provider runs it itself, it is shown and never dispatched
    item: str | None = None  # the wire's item type, where it is not a plain function call


class ArgumentSnapshot(NamedTuple):
    """The whole argument text so far: it replaces what is held for the call."""

    at: float
    index: Index
    text: str


class CallFinished(NamedTuple):
    """The completion event of one call. Where id or text are given, they decide (cases/FORMAT.md, rule 7)."""

    at: float
    index: Index
    id: str | None = None
    text: str | None = None
    complete: bool = True  # False: the item closed with a status other than `completed`


class Opaque(NamedTuple):
    """Any other block, kept as it is for replay."""

    at: float
    index: Index
    payload: Any


class TurnFinished(NamedTuple):
    """The provider's finish reason. Whether that is a good end is decided in turn.py."""

    at: float
    reason: str


class TurnBroken(NamedTuple):
    """The end of a turn without the provider's good word: `verdict` is "interrupted" or "failed"."""

    at: float
    verdict: str
    reason: str


class CallMoved(NamedTuple):
    """A call changed state. Made by turn and dispatch; the only way a call block changes (the table is in blocks.py)."""

    at: float
    ordinal: int
    outcome: str  # forming, finished, ready, invalid, unparseable, unfinished
    effect: str = "none"  # none, claimed, ran, failed, in_doubt, duplicate, changed, not_run
    detail: dict | None = None  # plain data: complaints, a reason, a position, a result


@dataclass(slots=True, eq=False)
class Call:
    """One call of a turn. `ordinal` counts calls by first appearance; `fragments` are the events that brought its text."""

    ordinal: int
    index: Index
    id: str | None = None
    minted: bool = False
    names: list[str] = field(default_factory=list)
    named: int = 0  # characters of the name so far
    kind: str = "client"
    item: str | None = None
    fragments: list = field(default_factory=list, repr=False)
    announced_at: float | None = None
    finished_at: float | None = None
    outcome: str = "forming"
    effect: str = "none"
    final: Any = None  # Ready, Invalid, Unparseable or Unfinished, once the turn has ended
    detail: dict | None = None

    @property
    def name(self) -> str:
        """The tool's name as it stands: the name pieces joined, "" where none came."""
        return self.names[0] if len(self.names) == 1 else "".join(self.names)

    @property
    def arguments(self) -> Any:
        """The parsed arguments of a ready or invalid call, None for any other."""
        return getattr(self.final, "arguments", None)

    @property
    def text(self) -> str:
        """The argument text as it stands. Joins all fragments: call it once, at the end, never per delta."""
        return "".join([fragment.text for fragment in self.fragments])


@dataclass(slots=True)
class Turn:
    """A turn that ended: its verdict ("complete", "interrupted", "failed"), the reason, and what to do next.

    `next`: "run" (dispatch the ready calls, answer the invalid ones), "end" (calls that must not run), "done" (no calls).
    `earlier`: from dispatch, what other attempts at this turn claimed and no call of this one stands for (plain data).
    """

    verdict: str
    reason: str
    blocks: list
    calls: list[Call]
    next: str
    earlier: list[dict] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The visible text of the turn, all text blocks joined."""
        return "".join(block.text for block in self.blocks if block.kind == "text")
