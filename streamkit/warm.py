"""Speculative warming: work without effect and without answer, begun on stable fields, thrown away when it does not fit.

The decision to dispatch stays at completion. What is begun early is only what a run would begin with.
"""

import asyncio
import json
from collections.abc import Collection
from concurrent.futures import Future
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


class Warming:
    """The warm work of one turn's calls, for the tools that declare some.

    `begun`, `used` and `thrown_away` count it.
    """

    def __init__(self, tools: dict[str, Tool]):
        self.begun = self.used = self.thrown_away = 0
        self._warm = {name: tool.warm for name, tool in tools.items() if tool.warm}
        self.wanted = bool(self._warm)
        self._warmers: dict[
            int, tuple[Warmer, list, int]
        ] = {}  # ordinal → warmer, its call's fragments, how many it has
        self._work: dict[int, tuple[Warm, asyncio.Future | Future]] = {}
        self._discarding: list = []

    def add(self, call: Call) -> None:
        """A call has grown, or was replaced by a snapshot."""
        warm = self._warm.get(call.name)
        if warm is None or not call.fragments:
            return
        warmer, fragments, fed = self._warmers.get(call.ordinal, (None, None, 0))
        if fragments is not call.fragments:  # the text was replaced: what began with the old one may not fit
            self._throw_away(call.ordinal)
            warmer, fed = Warmer(warm.fields), 0
        for fragment in call.fragments[fed:]:
            if (values := warmer.feed(fragment.text)) is not None:
                self.begun += 1
                work = self._start(warm.start, values)
                self._work[call.ordinal] = warm, work
        self._warmers[call.ordinal] = warmer, call.fragments, len(call.fragments)

    @staticmethod
    def _start(start, values: dict) -> asyncio.Future | Future:
        return asyncio.ensure_future(start(values)) if is_async(start) else in_thread(lambda: start(values))

    async def take(self, ordinal: int, arguments: dict, timeout: float, stop: asyncio.Future) -> Any:
        """What was prepared for these arguments; None where nothing was, where it does not fit, failed, or takes too long."""
        if ordinal not in self._work:
            return None
        if not self._warmers[ordinal][0].fits(arguments):
            return self._throw_away(ordinal)
        work = asyncio.wrap_future(self._work[ordinal][1])
        await asyncio.wait({work, stop}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        if not work.done() or work.cancelled() or work.exception():
            return self._throw_away(ordinal)
        return work.result()

    def hand_over(self, ordinal: int) -> None:
        """A run has begun with what `take` gave: it is the run's now."""
        if self._work.pop(ordinal, None):
            self.used += 1

    async def end(self) -> None:
        """The turn is over: what no run has is thrown away."""
        for ordinal in list(self._work):
            self._throw_away(ordinal)
        await asyncio.sleep(0)
        if self._discarding:
            await asyncio.wait(self._discarding, timeout=GRACE)

    def _throw_away(self, ordinal: int) -> None:
        warm, work = self._work.pop(ordinal, (None, None))
        if work is None:
            return
        self.thrown_away += 1
        if not isinstance(work, Future):
            work.cancel()  # a thread goes on to its end instead
        work.add_done_callback(lambda done: self._discard(warm, done))

    def _discard(self, warm: Warm, done) -> None:
        if warm.discard is None or done.cancelled() or done.exception():
            return
        left = warm.discard(done.result())
        if asyncio.iscoroutine(left):
            try:
                self._discarding.append(asyncio.get_running_loop().create_task(left))
            except RuntimeError:  # the thread of a function that ended after the turn
                asyncio.run(left)
