"""The verdict on a turn and on each of its calls (cases/FORMAT.md, rules 1 and 2).

A turn is complete only on a finish from the list. Everything else is interrupted (nobody said it was whole) or failed.
Dispatch is a matter of the whole turn: one call that cannot be trusted holds back its siblings.
"""

import hashlib
import json

from .accumulator import Accumulator
from .blocks import Block, Blocks
from .events import ArgumentSnapshot, Call, CallDelta, CallFinished, CallMoved, Turn, TurnBroken, TurnFinished
from .finalise import Invalid, Tools, Unfinished, Unparseable, finalise

EVENTS = 1_000_000  # of one turn, ten times the longest answers; each is kept, in about 200 bytes
BLOCKS = 20_000  # of one turn; they are kept in the order of their indexes
GOOD = frozenset(
    ("stop", "tool_calls", "function_call", "end_turn", "tool_use", "stop_sequence", "STOP", "done", "completed")
)
LIMITS = frozenset(
    ("length", "max_tokens", "MAX_TOKENS", "max_output_tokens", "model_context_window_exceeded", "pause_turn")
)


def verdict_on(reason: str) -> str:
    """ "complete", "interrupted" or "failed" for a provider's finish reason."""
    return "complete" if reason in GOOD else "interrupted" if reason in LIMITS else "failed"


def mint(conversation: str, turn: int, attempt: int, ordinal: int) -> str:
    """An id for a call that came without one: a hash, so that a replay mints the same (case 010)."""
    identity = json.dumps([conversation, turn, attempt, ordinal]).encode()
    return "call_" + hashlib.sha256(identity).hexdigest()[:24]


class TurnBuilder:
    """One turn as it forms: feed it the wire's events with `add`, then `end` it once; then `turn` is there.

    `tools`: the offered tools (dicts or Tools), None to judge no names and no schemas. `conversation`, `turn` and
    `attempt` only go into minted ids. `accumulator` (a class) and `finalise` may be a learner's own. Both methods return the CallMoved events that they caused.
    A turn of more than EVENTS events or BLOCKS blocks fails as a protocol error.
    """

    def __init__(
        self,
        tools=None,
        conversation: str = "",
        turn: int = 0,
        attempt: int = 0,
        accumulator=Accumulator,
        finalise=finalise,
    ):
        self.tools = tools if tools is None or isinstance(tools, Tools) else Tools(tools)
        self.turn: Turn | None = None
        self.verdict: str | None = None  # as it stands; final at `end`
        self.reason = ""
        self.touched: Call | None = None  # the call that the last event of a call went to
        self._identity = (conversation, turn, attempt)
        self._accumulator = accumulator()
        self._finalise = finalise
        self._blocks = Blocks(self._accumulator.calls)
        self._made = self._blocks.blocks
        self._taken = 0

    @property
    def calls(self) -> list[Call]:
        return self._accumulator.calls

    @property
    def blocks(self) -> list[Block]:
        return self._blocks.blocks

    def add(self, event) -> list[CallMoved]:
        kind = type(event)
        if self.verdict == "failed":  # what comes after a failure is not trusted (case 071)
            return []
        self._taken += 1
        if self._taken > EVENTS or len(self._made) > BLOCKS:
            self.verdict, self.reason = "failed", "protocol_error"
            return []
        if kind is CallDelta or kind is CallFinished or kind is ArgumentSnapshot:
            return self._add_to_call(event, kind)
        if kind is TurnFinished:
            self.verdict, self.reason = verdict_on(event.reason), event.reason
        elif kind is TurnBroken:
            if self.verdict is None or event.verdict == "failed":
                self.verdict, self.reason = event.verdict, event.reason
        else:
            self._blocks.add(event)
        return []

    def _add_to_call(self, event, kind) -> list[CallMoved]:
        held, known, named = self._accumulator, len(self.calls), self._named()
        call = self.touched = held.add(event)
        moved = []
        if len(held.calls) > known:
            moved = self._move(call, event.at, "forming")
        if kind is CallFinished and call is not None and call.outcome == "forming":
            moved += self._move(call, event.at, "finished")
        if (
            self.verdict is not None
            and kind is CallDelta
            and (event.text or len(held.calls) > known or self._named() > named)
        ):
            self.verdict, self.reason = "failed", "protocol_error"  # something of a call after the finish
        return moved

    def _named(self) -> int:
        return getattr(self._accumulator, "named", 0)

    def end(self, at: float = 0.0) -> list[CallMoved]:
        """The stream is over: judge the calls, decide what is next. Without any finish it was interrupted."""
        if self.verdict is None:
            self.verdict, self.reason = "interrupted", "eof_without_finish"
        moved = [move for call in self.calls for move in self._judge(call, at)]
        mine = [call for call in self.calls if call.kind == "client"]
        held_back = any(call.outcome in ("unfinished", "unparseable") or not call.name for call in mine)
        if held_back:
            for call in mine:
                if call.outcome == "ready" and call.effect == "none":  # what already ran stays
                    moved += self._move(call, at, "ready", "not_run")
        next_step = "end" if held_back or self.verdict != "complete" else "run" if mine else "done"
        self.turn = Turn(self.verdict, self.reason, self.blocks, self.calls, next_step)
        return moved

    def take_effect(self, ordinal: int, at: float, effect: str, detail: dict | None = None) -> CallMoved:
        """The ledger's word on a call, from the dispatcher: before the turn's end or after it. The outcome stays."""
        call = self.calls[ordinal]
        return self._move(call, at, call.outcome, effect, detail)[0]

    def _judge(self, call: Call, at: float) -> list[CallMoved]:
        if not call.id:
            call.id, call.minted = mint(*self._identity, call.ordinal), True
        offered = self.tools if call.kind == "client" else None  # a server call is not judged by the offered tools
        final = call.final = self._finalise(call.text, call.name, offered, self.verdict == "complete")
        if isinstance(final, Invalid):
            detail = {"complaints": list(final.complaints), "answerable": final.answerable}
        elif isinstance(final, Unparseable):
            detail = {"reason": final.reason, "position": final.position}
        else:
            detail = {"reason": self.reason} if isinstance(final, Unfinished) else None
        if call.effect != "none":  # dispatched at its own completion: the turn's word does not undo that
            detail = call.detail
        return self._move(call, at, final.outcome, call.effect, detail)

    def _move(self, call: Call, at: float, outcome: str, effect: str = "none", detail=None) -> list[CallMoved]:
        call.outcome, call.effect, call.detail = outcome, effect, detail
        moved = CallMoved(at, call.ordinal, outcome, effect, detail)
        self._blocks.add(moved)
        return [moved]


def turn_of(events, tools=None, **identity) -> Turn:
    """The turn that a whole list of events makes."""
    builder = TurnBuilder(tools, **identity)
    at = 0.0
    for event in events:
        builder.add(event)
        at = event.at
    builder.end(at)
    return builder.turn
