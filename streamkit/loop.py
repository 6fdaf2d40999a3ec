"""The loop of one turn: events in, blocks as they form, and each call carried out at most once, at its boundary.

stream → blocks → finalise → claim → run → settle. Effects reach the blocks only as CallMoved, and every call that began
to form ends in a stated state, however the stream, a tool, a policy or the user ends it.
"""

import asyncio
from collections.abc import AsyncIterable, Callable, Iterable

from .boundary import CALL_COMPLETION, Boundary
from .claims import Attempt
from .events import Call, Turn, TurnBroken
from .key import Unkeyable
from .once import Once
from .stream import deliver, ending_of
from .threads import in_own_loop
from .tool import Tool
from .turn import TurnBuilder
from .warm import Warming


class Dispatch:
    """One turn. `blocks` and `calls` as they stand, `turn` once it has ended, `error`: what the stream raised, if it did."""

    def __init__(self, dispatcher, attempt: Attempt | None = None, watch: Callable | None = None):
        if dispatcher.ledger is not None and attempt is None:
            raise ValueError("attempt: with a ledger, expected what ledger.begin(conversation, message) gave; got None")
        self.turn: Turn | None = None
        self.error: BaseException | None = None
        self.warming = Warming(dispatcher.tools)
        self._with, self._attempt, self._watch = dispatcher, attempt, watch
        early = dispatcher.boundary == CALL_COMPLETION and attempt.attempt == 0
        self._boundary = Boundary(early, dispatcher.offered)
        self._builder = TurnBuilder(dispatcher.offered, *(attempt[:3] if attempt else ()))
        self._tasks: dict[int, asyncio.Task] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._reading: asyncio.Task | None = None
        self._cancelled = False
        self._at = 0.0

    @property
    def blocks(self) -> list:
        return self._builder.blocks

    @property
    def calls(self) -> list:
        return self._builder.calls

    def cancel(self) -> None:
        """The user stops the turn; from any thread. No further call starts; what runs is cancelled, and is in doubt."""
        self._cancelled = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stop_now)

    async def run(self, events: Iterable | AsyncIterable) -> Turn:
        """Run it to its end; a second time is refused. A cancel of the awaiting task ends all calls, then goes on."""
        if self._loop is not None:
            raise RuntimeError("a Dispatch runs one turn once; make another with Dispatcher.turn()")
        self._loop = asyncio.get_running_loop()
        self._stop = self._loop.create_future()
        work = asyncio.ensure_future(self._work(events))
        cancelled = None
        while not work.done():
            try:
                await asyncio.wait({work})
            except asyncio.CancelledError as error:
                cancelled = error
                self.cancel()
        if cancelled is not None:
            work.exception()
            raise cancelled
        return work.result()

    def run_sync(self, events: Iterable | AsyncIterable) -> Turn:
        """`run`, in a thread with a loop of its own. Ctrl-C is a cancel."""
        return in_own_loop(lambda: self.run(events), self.cancel)

    async def _work(self, events) -> Turn:
        self._begun = self._with.clock()
        self._once = Once(self._with, self._attempt, self._move, self._stop)
        self._reading = asyncio.ensure_future(deliver(events, self._take, lambda: bool(self._tasks)))
        if self._cancelled:
            self._stop_now()
        await asyncio.wait({self._reading})
        self._tell(*self._break(), *self._builder.end(self._now()))
        turn = self.turn = self._builder.turn
        left, self._once.closed = self._boundary.late(turn, self._cancelled)
        if not self._once.closed:
            self._start(left, whole=True)
        if self._tasks:
            await asyncio.wait(self._tasks.values())
        for call in turn.calls:
            if call.kind == "client" and (call.outcome, call.effect) == ("ready", "none"):
                self._move(call.ordinal, "not_run", reason=self._once.closed or "cancelled")
        await self.warming.end()
        turn.earlier = self._once.others(turn.calls)
        for task in self._tasks.values():
            task.result()
        if self.error is not None and ending_of(self.error) is None:
            raise self.error
        return turn

    def _take(self, event) -> None:
        self._at = event.at
        builder = self._builder
        moved = builder.add(event)
        self._tell(event, *moved)
        if self.warming.wanted and builder.touched is not None:
            self.warming.add(builder.touched)
        if free := self._boundary.early(event, moved, builder.calls, builder.verdict):
            self._start(free)

    def _break(self) -> list[TurnBroken]:
        """What the client has to say of how the reading ended, where it did not end by itself."""
        self.error = None if self._reading.cancelled() else self._reading.exception()
        if self._reading.cancelled() or (self.error and self._cancelled):
            broken = ("interrupted", "cancelled")
        elif self.error is None:
            return []
        else:
            how = ending_of(self.error)
            broken = ("interrupted", how) if how else ("failed", "protocol_error")
        event = TurnBroken(self._now(), *broken)
        self._builder.add(event)
        return [event]

    def _start(self, free: list[tuple[Call, dict]], whole: bool = False) -> None:
        """Set these calls going. `whole`: the turn has ended, and all its keys are known."""
        keyed = []
        for call, arguments in free:
            try:
                self._once.propose(call.ordinal, self._with.tools[call.name], arguments)
                keyed.append((call, arguments))
            except Unkeyable as error:
                self._move(call.ordinal, "not_run", reason=str(error))
        proposed = set(self._once.keys.values()) if whole else None
        for call, arguments in keyed:
            going = self._carry_out(call.ordinal, self._with.tools[call.name], arguments, proposed)
            self._tasks[call.ordinal] = asyncio.ensure_future(going)

    async def _carry_out(self, ordinal: int, tool: Tool, arguments: dict, proposed) -> None:
        async def warm():
            return await self.warming.take(ordinal, arguments, tool.timeout, self._stop)

        try:
            await self._once.carry_out(ordinal, tool, arguments, proposed, warm)
        except BaseException as error:  # a fault of ours or of a policy's: the call still ends in a stated state
            ran = self.calls[ordinal].effect == "claimed"
            self._move(ordinal, "in_doubt" if ran else "not_run", reason=str(error))
            raise

    def _move(self, ordinal: int, effect: str, **detail) -> None:
        if effect == "claimed":
            self.warming.hand_over(ordinal)
        self._tell(self._builder.take_effect(ordinal, self._now(), effect, detail))

    def _tell(self, *events) -> None:
        for event in events if self._watch is not None else ():
            try:
                self._watch(event)
            except Exception as error:  # a fault of the screen changes nothing of what runs
                self._loop.call_exception_handler({"message": "a watcher of the turn raised", "exception": error})

    def _now(self) -> float:
        """Seconds since the request was sent: never before what has arrived, also where a capture is read at once."""
        return max(self._at, self._with.clock() - self._begun)

    def _stop_now(self) -> None:
        if not self._stop.done():
            self._stop.set_result(None)
        if self._reading is not None:
            self._reading.cancel()
