"""The ordered content blocks of a turn, and the states of a call on the screen.

| outcome | effect | on screen | in the history |
|---|---|---|---|
| forming, finished | none | preparing | |
| any | claimed | running | |
| ready, unfinished* | ran, duplicate | ran | call and result |
| ready, unfinished* | failed | failed | call and error |
| ready, unfinished* | in_doubt | may have run | a note naming it |
| ready | not_run, changed | not run | a note |
| invalid: an object, named | none | refused | call and error |
| invalid otherwise, unparseable | none | unreadable | a note |
| unfinished | none | cut off, or cancelled | a note |

\\* only where calls are dispatched at call completion.
"""

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

from .events import Call, CallDelta, CallMoved, Opaque, TextDelta, ThinkingDelta

KEPT = ("ordinal", "index", "id", "minted", "name", "kind", "item", "announced_at", "finished_at")
BY_EFFECT = {
    "claimed": "running",
    "ran": "ran",
    "duplicate": "ran",
    "failed": "failed",
    "in_doubt": "may have run",
    "not_run": "not run",
    "changed": "not run",
}
BY_OUTCOME = {"forming": "preparing", "finished": "preparing", "ready": "preparing", "unparseable": "unreadable"}


def on_screen(outcome: str, effect: str, detail: dict | None = None) -> str:
    """The word for a call's state, from the table above. `detail`: the plain data of its last CallMoved."""
    detail = detail or {}
    if effect in BY_EFFECT:
        return BY_EFFECT[effect]
    if outcome == "invalid":
        return "refused" if detail.get("answerable") else "unreadable"
    if outcome == "unfinished":
        return "cancelled" if detail.get("reason") == "cancelled" else "cut off"
    return BY_OUTCOME[outcome]


@dataclass(slots=True, eq=False)
class Block:
    """One content block: "text", "thinking", "call" or "opaque", at its own coordinate `index`.

    `extras`: payloads that came for this block and only a replay needs, such as signatures. Two blocks are equal when
    what is stored of them is.
    """

    kind: str
    index: Any
    at: float
    pieces: list[str] = field(default_factory=list)
    extras: list = field(default_factory=list)
    call: Call | None = None
    outcome: str = ""
    effect: str = ""
    detail: dict | None = None

    @property
    def text(self) -> str:
        """All pieces joined: for the end of a turn, not per delta."""
        return "".join(self.pieces)

    @property
    def state(self) -> str:
        """The word on the screen for a call block."""
        if self.call.kind == "server" and self.outcome in ("ready", "invalid", "unparseable"):
            return "run by the provider"  # never dispatched, and not judged by the offered tools
        return on_screen(self.outcome, self.effect, self.detail)

    def stored(self) -> dict:
        """The block as plain data (JSON types): what it takes to show the turn again after a reload."""
        plain = {"kind": self.kind, "index": self.index, "at": self.at}
        if self.extras:
            plain["extras"] = self.extras
        if self.call is None:
            return plain | {"text": self.text}
        call = {name: getattr(self.call, name) for name in KEPT} | {"text": self.call.text}
        return plain | {"call": call, "outcome": self.outcome, "effect": self.effect, "detail": self.detail}

    def __eq__(self, other) -> bool:
        return isinstance(other, Block) and self.stored() == other.stored()


def restored(plain: dict) -> Block:
    """The block that `Block.stored` gave, read back. A call gets its text as one fragment."""
    block = Block(plain["kind"], plain["index"], plain["at"], extras=list(plain.get("extras", ())))
    if "call" not in plain:
        block.pieces = [plain["text"]] if plain["text"] else []
        return block
    kept = plain["call"]
    call = block.call = Call(**{name: kept[name] for name in KEPT if name != "name"})
    call.names, call.named = [kept["name"]] if kept["name"] else [], len(kept["name"])
    if kept["text"]:
        call.fragments = [CallDelta(plain["at"], call.index, None, None, kept["text"])]
    block.outcome, block.effect, block.detail = plain["outcome"], plain["effect"], plain["detail"]
    call.outcome, call.effect, call.detail = block.outcome, block.effect, block.detail
    return block


class Blocks:
    """The reducer: events in, ordered blocks out; each delta costs the same however long the turn is.

    With a number as index a block has a coordinate and stands before every block of a higher one (case 014). Without,
    a delta joins the last block where that is of its type, else it opens one at the end.
    """

    def __init__(self, calls: list[Call]):
        self.blocks: list[Block] = []
        self._calls = calls
        self._places: list[float] = []  # beside each block its coordinate; one without takes that of its neighbour
        self._by_index: dict = {}
        self._by_ordinal: dict[int, Block] = {}

    def add(self, event) -> None:
        """Take a TextDelta, ThinkingDelta, Opaque or CallMoved; every other event changes no block."""
        kind = type(event)
        if kind is TextDelta or kind is ThinkingDelta:
            block = self._joined("text" if kind is TextDelta else "thinking", event)
            if event.text:
                block.pieces.append(event.text)
        elif kind is CallMoved:
            block = self._by_ordinal.get(event.ordinal) or self._open_call(event)
            block.outcome, block.effect, block.detail = event.outcome, event.effect, event.detail
        elif kind is Opaque:
            block = self._by_index.get(event.index) or self._insert(Block("opaque", event.index, event.at))
            block.extras.append(event.payload)

    def _joined(self, kind: str, event) -> Block:
        last = self.blocks[-1] if self.blocks else None
        block = last if event.index is None else self._by_index.get(event.index)
        if block is None or block.kind != kind:
            block = self._insert(Block(kind, event.index, event.at))
        return block

    def _open_call(self, event: CallMoved) -> Block:
        call = self._calls[event.ordinal]
        block = self._insert(Block("call", call.index, event.at, call=call))
        self._by_ordinal[event.ordinal] = block
        return block

    def _insert(self, block: Block) -> Block:
        if isinstance(block.index, int):
            place = bisect_right(self._places, block.index)
            self._places.insert(place, block.index)
        else:
            place = len(self._places)
            self._places.append(self._places[-1] if self._places else float("-inf"))
        self.blocks.insert(place, block)
        if block.index is not None:
            self._by_index[block.index] = block
        return block
