"""The whole kit end to end: recorded exchanges over streams that break, against a real shop, with somebody's own parts."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ..events import Call
from ..history import persist
from ..turn import TurnBuilder
from ..wire import reader
from .captures import Capture
from .faults import break_off
from .shop import ShopClient

KINDS = {"create_refund": "refunds", "open_ticket": "tickets"}  # tools that change something in the shop
EFFECTS = {"new": "ran", "settled": "duplicate", "open": "in_doubt"}
CUTS = ("in the arguments", "in the answer", None)  # where the three attempts at an exchange break off


class Parts(NamedTuple):
    """What a learner has built: classes and functions with the signatures of the chapters."""

    accumulator: Any
    finalise: Callable
    render: Callable
    call_key: Callable
    ledger: Any  # an opened SmallLedger
    history_of: Callable


class Told(NamedTuple):
    """What one attempt left: the screen, the word of the ledger for each call, and the messages for the history."""

    attempt: int
    screen: str
    ledger: list[str]
    history: list[dict]


def read_turn(parts: Parts, capture: Capture, share: float = 1.0) -> TurnBuilder:
    """The ended turn of a capture with these parts; with `share` below 1 the connection is reset after that share of the bytes."""
    reads, ending, at = capture.reads, capture.ending, capture.ended_at
    if share < 1:
        reads, ending, at = break_off(reads, capture.api, "reset", byte=int(len(capture.body) * share))
    builder = TurnBuilder(capture.tools, accumulator=parts.accumulator, finalise=parts.finalise)
    wire = reader(capture.api)
    for event in [event for when, data in reads for event in wire.feed(data, when)] + wire.close(ending, at):
        builder.add(event)
    builder.end(at)
    return builder


def run_exchange(
    parts: Parts, first: Capture, second: Capture, shop: ShopClient, conversation: str, tell: Callable[[Told], None]
) -> None:
    """Three attempts at one exchange: cut in the arguments, cut in the answer, and whole. `tell` is given each."""
    for attempt, cut in enumerate(CUTS):
        asked = read_turn(parts, first, 0.8 if cut == CUTS[0] else 1.0)
        turn = asked.turn
        if turn.next != "run":
            tell(Told(attempt, parts.render(turn.blocks), [], parts.history_of(turn)))
            continue
        words = []
        for call in [call for call in turn.calls if call.outcome == "ready"]:
            word, result = carry_out(parts, call, shop, conversation)
            asked.take_effect(call.ordinal, first.ended_at, EFFECTS[word], {"result": result})
            words.append(word)
        answer = read_turn(parts, second, 0.5 if cut == CUTS[1] else 1.0).turn
        end = parts.history_of(answer) if cut == CUTS[1] else persist(answer, first.api)
        tell(Told(attempt, parts.render([*turn.blocks, *answer.blocks]), words, persist(turn, first.api) + end))


def carry_out(parts: Parts, call: Call, shop: ShopClient, conversation: str) -> tuple[str, Any]:
    """One call, once: claim, run, settle. The ledger's word for it, and the result."""
    key = parts.call_key(conversation, 0, call.name, call.arguments)
    word, result = parts.ledger.claim(key)
    if word == "new":
        result = shop.create(KINDS[call.name], call.arguments, key)
        parts.ledger.settle(key, result)
    return word, result
