"""Dispatch: when a tool may run, and what it takes for that to happen once.

A call is dispatched when its text is whole, parsed and valid, and its turn, or with CALL_COMPLETION its own completion
event, says so; never for what its fragments look like. The rules are in boundary.py, the loop of a turn in loop.py, one
call's claim, run and settle in once.py, and what may begin earlier in warm.py.
"""

import time
from collections.abc import Callable, Iterable

from .boundary import BOUNDARIES, CALL_COMPLETION, TURN_COMPLETION
from .claims import Attempt, Changed, NotDone
from .events import Turn
from .finalise import Tools
from .loop import Dispatch
from .once import ASK, REPORT
from .tool import Tool, Warm

__all__ = [
    "ASK",
    "CALL_COMPLETION",
    "REPORT",
    "TURN_COMPLETION",
    "Attempt",
    "Changed",
    "Dispatch",
    "Dispatcher",
    "NotDone",
    "Tool",
    "Warm",
]


class Dispatcher:
    """What all turns share: the tools, the ledger and the policies. Raises ValueError, BadTool.

    `ledger`: a Ledger; without one a retried turn has its effects again. `boundary`: when a tool may run; CALL_COMPLETION
    requires a ledger, since an effect may then come before the error that makes the turn be retried. `doubt`: ASK
    downstream with the same key, or REPORT. `decide(tool, arguments, changed)`: whether a changed call runs after all;
    without it none does. `clock()`: seconds.
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        ledger=None,
        boundary: str = TURN_COMPLETION,
        doubt: str = ASK,
        decide: Callable | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        for value, known, name in ((boundary, BOUNDARIES, "boundary"), (doubt, (ASK, REPORT), "doubt")):
            if value not in known:
                raise ValueError(f"{name}: expected one of {', '.join(map(repr, known))}, got {value!r}")
        if boundary == CALL_COMPLETION and ledger is None:
            raise ValueError(
                "boundary: call completion requires a ledger, got none; an error after the effect makes the turn be "
                "retried, and only a ledger tells that the call ran. Give ledger=Ledger(path), or keep turn completion"
            )
        tools = list(tools)
        for tool in tools:
            if not isinstance(tool, Tool):
                raise ValueError(f"tools: expected Tool(name, run, …), got {type(tool).__name__}")
        self.tools = {tool.name: tool for tool in tools}
        self.offered = Tools([tool.offer for tool in self.tools.values()])
        self.ledger, self.boundary, self.doubt, self.decide, self.clock = ledger, boundary, doubt, decide, clock

    def turn(self, attempt: Attempt | None = None, watch: Callable | None = None) -> Dispatch:
        """One turn to run, with its blocks and its cancel at hand. The parameters are those of `run`."""
        return Dispatch(self, attempt, watch)

    async def run(self, events, attempt: Attempt | None = None, watch: Callable | None = None) -> Turn:
        """Run one turn to its end. `events`: of one response, from any iterable, also an asynchronous one (stream.py).

        `attempt`: what Ledger.begin gave when the request was written down. `watch(event)` is told every wire event and
        every CallMoved, in order. The turn's calls have their effect, and in `detail` the result, error or reason.
        """
        return await self.turn(attempt, watch).run(events)

    def run_sync(self, events, attempt: Attempt | None = None, watch: Callable | None = None) -> Turn:
        """`run` for code without `await`: the loop is its own, in a thread, so it also works where one runs already."""
        return self.turn(attempt, watch).run_sync(events)
