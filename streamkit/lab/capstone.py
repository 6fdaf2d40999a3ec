"""The whole kit end to end: a recorded conversation over streams that break, against a real shop, with somebody's own parts."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from ..history import persist
from ..turn import TurnBuilder
from ..wire import reader
from .captures import Capture, load
from .faults import break_off
from .parts import Parts, carry_out
from .shop import ShopClient

KINDS = {"create_refund": "refunds", "open_ticket": "tickets"}  # tools that change something in the shop
EFFECTS = {"new": "ran", "settled": "duplicate", "open": "in_doubt"}
CUTS = ("in the arguments", "in the answer", None)  # where the three attempts at an exchange break off
FAULTS = ("reset", "silence", "cancel", "error", "close")  # how, one for each exchange of a conversation


class Told(NamedTuple):
    """What one attempt left: the screen, the word of the ledger for each call, and the messages for the history."""

    exchange: str
    attempt: int
    fault: str
    screen: str
    ledger: list[str]
    history: list[dict]


def read_turn(parts: Parts, capture: Capture, share: float = 1.0, fault: str = "reset") -> TurnBuilder:
    """The ended turn of a capture with these parts; with `share` below 1 it breaks off after that share of the bytes."""
    reads, ending, at = capture.reads, capture.ending, capture.ended_at
    if share < 1:
        reads, ending, at = break_off(reads, capture.api, fault, byte=int(len(capture.body) * share))
    builder = TurnBuilder(capture.tools, accumulator=parts.accumulator, finalise=parts.finalise)
    wire = reader(capture.api)
    for event in [event for when, data in reads for event in wire.feed(data, when)] + wire.close(ending, at):
        builder.add(event)
    builder.end(at)
    return builder


def run_exchange(
    parts: Parts, ledger, name: str, shop: ShopClient, place: tuple[str, int], fault: str, tell: Callable[[Told], None]
) -> list[dict]:
    """Three attempts at one exchange: cut in the arguments, cut in the answer, and whole. The last one's messages.

    `place`: (conversation, turn index), which the keys are made of. `fault`: one of FAULTS. `tell` is given each attempt.
    """
    first, second = load(f"{name}-1"), load(f"{name}-2")
    left: list[dict] = []
    for number, cut in enumerate(CUTS):
        how, words = fault if cut else "", []
        asked = read_turn(parts, first, 0.8 if cut == CUTS[0] else 1.0, fault)
        turn = asked.turn
        if turn.next != "run":
            left = parts.history_of(turn)
            tell(Told(name, number, how, parts.render(turn.blocks), words, left))
            continue
        for call in [call for call in turn.calls if call.outcome == "ready"]:
            run = lambda arguments, key, kind=KINDS[call.name]: shop.create(kind, arguments, key)  # noqa: E731
            word, result = carry_out(parts, ledger, call, call.arguments, place, run)
            asked.take_effect(call.ordinal, first.ended_at, EFFECTS[word], {"result": result})
            words.append(word)
        answer = read_turn(parts, second, 0.5 if cut == CUTS[1] else 1.0, fault).turn
        end = parts.history_of(answer) if cut else persist(answer, first.api)
        left = persist(turn, first.api) + end
        tell(Told(name, number, how, parts.render([*turn.blocks, *answer.blocks]), words, left))
    return left


def run_conversation(
    parts: Parts, names: Iterable[str], shop: ShopClient, path: str, tell: Callable[[Told], None]
) -> list[dict]:
    """Several exchanges, one after another, each with another kind of fault; the conversation's history at the end.

    `names`: exchanges of data/captures, e.g. "chat-exchange-refund", all of one API. `path`: the ledger's file, in a folder that
    no network holds.
    """
    ledger, history = parts.ledger(path), []
    for number, name in enumerate(names):
        messages = load(f"{name}-1").header["request"]["body"]["messages"]
        history.append(messages[-1])
        history += run_exchange(parts, ledger, name, shop, ("conversation", number), FAULTS[number % len(FAULTS)], tell)
    return history
