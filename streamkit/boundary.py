"""When a tool may run: the two boundaries as named policies. Pure: events in, calls that may be dispatched out."""

from .events import Call, CallDelta, CallFinished, CallMoved, Opaque, TextDelta, ThinkingDelta, Turn
from .finalise import Invalid, Ready, Tools, finalise

TURN_COMPLETION = "turn completion"  # an allow-listed finish, and the stream is over: every API has it
CALL_COMPLETION = "call completion"  # the provider says that this call has no more fragments
BOUNDARIES = (TURN_COMPLETION, CALL_COMPLETION)
CONTENT = (TextDelta, ThinkingDelta, CallDelta, Opaque)


class Completions:
    """Which calls have their completion event, and were left behind by the model.

    The event alone is no permission: at a limit it closes the last block over cut arguments (case 055). So a call waits until
    another block begins or grows. Closing events show nothing: some servers send all of them together, at the end.
    """

    def __init__(self):
        self.refused: set[int] = set()  # ordinals of items that closed with a status other than `completed`
        self._waiting: dict[int, int | str | None] = {}  # ordinal → index
        self._seen: set = set()

    def add(self, event, moved: list[CallMoved]) -> list[int]:
        """The ordinals of the calls that this event sets free. `moved`: what the TurnBuilder answered to it."""
        kind = type(event)
        if kind is CallFinished:
            self._waiting.update((move.ordinal, event.index) for move in moved if move.outcome == "finished")
            if not event.complete:
                self.refused.update(ordinal for ordinal, index in self._waiting.items() if index == event.index)
        elif kind in CONTENT:
            index = event.index
            new = index is not None and index not in self._seen
            if new:
                self._seen.add(index)
            if self._waiting and (new or (kind is not Opaque and event.text)):
                free = [
                    o for o, own in self._waiting.items() if (index is None or own != index) and o not in self.refused
                ]
                for ordinal in free:
                    del self._waiting[ordinal]
                return free
        return []


class Boundary:
    """What may be dispatched of one turn, and when; each call is given out at most once, with its parsed arguments.

    `early`: with CALL_COMPLETION and a first attempt. A later attempt has to know all its keys first, so it waits.
    """

    def __init__(self, early: bool, tools: Tools):
        self._early, self._tools = early, tools
        self._completions = Completions()
        self._given: set[int] = set()

    def early(self, event, moved: list[CallMoved], calls: list[Call], verdict: str | None) -> list[tuple[Call, dict]]:
        """The calls that may run now, before the turn has ended. `verdict`: the turn's, None while it has none."""
        free = [calls[ordinal] for ordinal in self._completions.add(event, moved)]
        given = []
        for call in free if self._early and verdict is None else ():
            if call.kind != "client":
                continue
            final = finalise(call.text, call.name, self._tools)
            if isinstance(final, Ready):
                given.append((call, final.arguments))
                self._given.add(call.ordinal)
            elif not (isinstance(final, Invalid) and final.answerable):
                self._early = False  # the whole turn will be held back, so no sibling goes before it any more
        return given

    def late(self, turn: Turn, cancelled: bool) -> tuple[list[tuple[Call, dict]], str]:
        """The ready calls that are left once the turn has ended, and why they must not run; "": they may."""
        left = [(call, call.arguments) for call in turn.calls if call.kind == "client" and call.outcome == "ready"]
        left = [(call, arguments) for call, arguments in left if call.ordinal not in self._given]
        if cancelled:
            return left, "cancelled"
        if any(turn.calls[ordinal].kind == "client" for ordinal in self._completions.refused):
            return left, "an item of the turn closed without being completed"
        return left, "" if turn.next == "run" else "another call of the turn cannot be trusted"
