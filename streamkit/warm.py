"""Speculative warming: work without effect and without answer, begun on stable fields, thrown away when it does not fit.

The decision to dispatch stays at completion. What is begun early is only what a run would begin with.
"""

import asyncio
import json
from collections.abc import Collection
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any

from .events import Call
from .fields import Fields
from .runs import GRACE, is_async
from .threads import in_thread
from .tool import Tool, Warm


class Warmer:
    """When the work for one call may begin, and whether it fits the final arguments."""

    def __init__(self, fields: Collection[str]):
        self.values: dict | None = None  # what the work began with
        self._wanted = set(fields)
        self._fields = Fields()
        self._closed: dict = {}

    def feed(self, fragment: str) -> dict | None:
        """The values of all wanted fields, once: at the fragment that closes the last of them. Then it looks no further."""
        if self.values is not None:
            return None
        for kind, name, value in self._fields.feed(fragment):
            if kind == "value" and name in self._wanted:
                self._closed[name] = value
            elif kind == "withdrawn":
                self._closed.pop(name, None)
        if len(self._closed) < len(self._wanted):
            return None
        self.values = dict(self._closed)
        return self.values

    def fits(self, arguments: dict) -> bool:
        """Whether the final arguments hold the values that the work began with. 1 is not True here, and 1.0 is not 1."""
        values = {name: arguments[name] for name in self._wanted if name in arguments}
        return json.dumps(values, sort_keys=True) == json.dumps(self.values, sort_keys=True)


@dataclass(slots=True, eq=False)
class Work:
    """The warm work of one call, for the tool that it names so far. `future` gives what `warm.start` prepared."""

    name: str
    warm: Warm
    warmer: Warmer
    fragments: list
    fed: int = 0
    future: asyncio.Future | Future | None = None


class Warming:
    """The warm work of one turn's calls, for the tools that declare some.

    `begun`, `used` and `thrown_away` count it; once the turn has ended, all that was begun is one or the other.
    """

    def __init__(self, tools: dict[str, Tool]):
        self.begun = self.used = self.thrown_away = 0
        self._warm = {name: tool.warm for name, tool in tools.items() if tool.warm}
        self.wanted = bool(self._warm)
        self._work: dict[int, Work] = {}  # by the call's ordinal
        self._discarding: list = []

    def add(self, call: Call) -> None:
        """A call has grown, or its text was replaced, or its name has become another tool's."""
        work = self._work.get(call.ordinal)
        if work is not None and (work.name != call.name or work.fragments is not call.fragments):
            self._throw_away(call.ordinal)
            work = None
        if work is None:
            if not call.fragments or (warm := self._warm.get(call.name)) is None:
                return
            work = self._work[call.ordinal] = Work(call.name, warm, Warmer(warm.fields), call.fragments)
        for fragment in call.fragments[work.fed :]:
            if (values := work.warmer.feed(fragment.text)) is not None:
                self.begun += 1
                start = work.warm.start
                work.future = (
                    asyncio.ensure_future(start(values)) if is_async(start) else in_thread(partial(start, values))
                )
        work.fed = len(call.fragments)

    async def take(self, ordinal: int, arguments: dict, timeout: float, stop: asyncio.Future) -> Any:
        """What was prepared for these arguments; None where nothing was, where it does not fit, failed, or takes too long."""
        work = self._work.get(ordinal)
        if work is None or work.future is None:
            return None
        if work.warmer.fits(arguments):
            future = asyncio.wrap_future(work.future)
            await asyncio.wait({future, stop}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            if future.done() and not future.cancelled() and not future.exception():
                return future.result()
            future.cancel()
        return self._throw_away(ordinal)

    def hand_over(self, ordinal: int) -> None:
        """A run has begun with what `take` gave: it is the run's now."""
        work = self._work.pop(ordinal, None)
        self.used += work is not None and work.future is not None

    async def end(self) -> None:
        """The turn is over: what no run has is thrown away."""
        for ordinal in list(self._work):
            self._throw_away(ordinal)
        await asyncio.sleep(0)
        if self._discarding:
            await asyncio.wait(self._discarding, timeout=GRACE)

    def _throw_away(self, ordinal: int) -> None:
        work = self._work.pop(ordinal)
        if work.future is None:
            return
        self.thrown_away += 1
        if not isinstance(work.future, Future):
            work.future.cancel()  # a thread goes on to its end instead
        work.future.add_done_callback(lambda done: self._discard(work.warm, done))

    def _discard(self, warm: Warm, done) -> None:
        if done.cancelled() or done.exception() or warm.discard is None:
            return
        left = warm.discard(done.result())
        if asyncio.iscoroutine(left):
            try:
                self._discarding.append(asyncio.get_running_loop().create_task(left))
            except RuntimeError:  # the thread of a function that ended after the turn
                asyncio.run(left)
