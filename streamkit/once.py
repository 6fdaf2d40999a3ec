"""One call, carried out at most once: claim, run, settle; and what is done about a doubt."""

import asyncio
import copy
import inspect
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import Any

from .claims import Answer, Attempt, Changed, New, NotHeld, Open, Settled
from .key import canonical, idempotency_key
from .runs import Word, begin, word_of
from .store import StoreError
from .tool import Tool

ASK, REPORT = "ask downstream", "report"  # what is done about a doubt
PAUSE = 0.01, 0.25  # seconds between two looks at a claim that another attempt holds: the first, the longest


class Once:
    """The effects of one turn. `policies`: a Dispatcher. `move(ordinal, effect, **detail)` tells them; `stop` is done when the user cancels.

    Between the claim and the start of its tool nothing is awaited, so that no cancel can come in between. Without a ledger
    the equal calls of this turn still collapse; what other attempts did is not known.
    """

    def __init__(self, policies, attempt: Attempt | None, move: Callable, stop: asyncio.Future):
        self.ledger, self.doubt, self.decide = policies.ledger, policies.doubt, policies.decide
        self.attempt, self.move, self.stop = attempt, move, stop
        self.closed = ""  # why no further call of this turn may start
        self.keys: dict[int, str] = {}  # ordinal → what makes two calls the same effect
        self._numbers: dict[int, int] = {}  # ordinal → occurrence number
        self._equal: Counter = Counter()
        self._held: dict[str, Settled | Open] = {}  # without a ledger: what this turn knows
        self._one_by_one = asyncio.Lock()

    def propose(self, ordinal: int, tool: Tool, arguments: dict) -> str:
        """The call's key. In the order of the calls: equal ones are numbered where the tool asks for it. Raises Unkeyable."""
        same = f"{tool.name} {canonical(arguments)}"
        number = self._equal[same] if tool.occurrences else 0
        self._equal[same] += 1
        if self.attempt is None:
            key = f"{number} {same}"
        else:
            key = idempotency_key(self.attempt.conversation, self.attempt.turn, tool.name, arguments, number)
        self.keys[ordinal], self._numbers[ordinal] = key, number
        return key

    async def carry_out(self, ordinal: int, tool: Tool, arguments: dict, proposed=None, warm=None) -> None:
        """Bring one proposed call to its end. `proposed`: the keys of the whole turn, where it is known. `warm`: a coroutine
        function that gives what was prepared for these arguments, or None. Where the turn was closed or cancelled before the
        claim, it returns without a word."""
        tell = {"key": self.keys[ordinal] if self.attempt else None, "arguments": arguments}
        async with nullcontext() if tool.read_only else self._one_by_one:  # in the order in which the model made them
            prepared = await warm() if warm else None
            if self.stop.done() or self.closed:  # it has not begun; the loop says what becomes of it
                return None
            if tool.read_only:
                return await self._run(ordinal, tool, tell, None, prepared)
            try:
                answer = await self._claim(ordinal, tool, arguments, proposed)
            except StoreError as error:
                return self.move(ordinal, "not_run", reason=str(error))
            if isinstance(answer, New):
                return await self._run(ordinal, tool, tell, answer, prepared)
            if isinstance(answer, Changed):
                held = [plain_entry(entry) for entry in answer.held]
                return self.move(ordinal, "changed", **tell, held=held)
            if isinstance(answer, Open):
                answer = await self._wait(tool, answer)
            return await self._end(ordinal, tool, tell, answer, "duplicate")

    async def _claim(self, ordinal: int, tool: Tool, arguments: dict, proposed) -> Answer:
        key, number = self.keys[ordinal], self._numbers[ordinal]
        if self.ledger is None:
            return self._held.get(key) or New(key, "")
        answer = self.ledger.claim(self.attempt, tool.name, arguments, number, proposed)
        if isinstance(answer, Changed) and self.decide is not None:
            decided = self.decide(tool.name, arguments, answer)
            if (await decided if inspect.isawaitable(decided) else decided) and not self.stop.done():
                answer = self.ledger.claim(self.attempt, tool.name, arguments, number, proposed, decided=True)
        return answer

    async def _run(self, ordinal: int, tool: Tool, tell: dict, claim: New | None, prepared: Any) -> None:
        run = begin(tool, tool.run, copy.deepcopy(tell["arguments"]), tell["key"], prepared)
        self.move(ordinal, "claimed", **tell)
        word = await word_of(run, tool, self.stop)
        if word is None:
            why = "cancelled" if self.stop.done() else f"no answer in {tool.timeout:g} s"
            word = Word("failed" if tool.read_only else "in_doubt", why)
            self._settle(claim, word)
            run.add_done_callback(lambda late: None if late.cancelled() else self._settle(claim, late.result()))
        elif why := self._settle(claim, word):  # it ended, and that is not written down: the claim stands, a doubt
            word = Word("in_doubt", why)
        key = self.keys[ordinal]
        answer = Open(key, True) if word.state == "in_doubt" else Settled(key, *word)
        await self._end(ordinal, tool, tell, answer, "ran", word.value)

    def _settle(self, claim: New | None, word: Word) -> str | None:
        """Write a run's end down; why it could not be, None where it was."""
        if claim is None:
            return None
        if self.ledger is None:
            self._held[claim.key] = Open(claim.key, True) if word.state == "in_doubt" else Settled(claim.key, *word)
            return None
        try:
            self.ledger.settle(claim, *word)
        except (NotHeld, StoreError) as error:
            return str(error)
        return None

    async def _wait(self, tool: Tool, answer: Open) -> Settled | Open:
        """The end of a claim that another attempt holds. That one runs, or is dead: after the time-out it is in doubt."""
        loop, pause = asyncio.get_running_loop(), PAUSE[0]
        deadline = loop.time() + tool.timeout
        with suppress(StoreError):
            while isinstance(answer, Open) and not answer.in_doubt and not self.stop.done():
                left = deadline - loop.time()
                if left <= 0:
                    return self.ledger.doubt(
                        answer.key, f"another attempt claimed it, and no end in {tool.timeout:g} s"
                    )
                await asyncio.wait({self.stop}, timeout=min(pause, left))
                answer, pause = self.ledger.look(answer.key) or answer, min(2 * pause, PAUSE[1])
        return answer

    async def _end(
        self, ordinal: int, tool: Tool, tell: dict, answer: Settled | Open, ran: str, why: Any = None
    ) -> None:
        """Tell how a call ended; a doubt is asked about first, where the policy says so."""
        if isinstance(answer, Open):
            found = await self._ask(tool, tell, answer.key)
            if found is None:
                return self.move(
                    ordinal, "in_doubt", **tell, reason=why or "another attempt claimed it, and its end is not known"
                )
            answer = found
        if answer.state == "ran":
            return self.move(ordinal, ran, **tell, result=answer.result)
        return self.move(ordinal, "failed", **tell, error=answer.result)

    async def _ask(self, tool: Tool, tell: dict, key: str) -> Settled | None:
        if self.doubt != ASK or tool.ask is None or self.stop.done():
            return None
        word = await word_of(begin(tool, tool.ask, copy.deepcopy(tell["arguments"]), tell["key"]), tool, self.stop)
        if word is None or word.state == "in_doubt":
            return None
        if self.ledger is None:
            self._held[key] = Settled(key, *word)
            return self._held[key]
        try:
            self.ledger.resolve(key, *word)
        except NotHeld:  # the holder's own word came first
            known = self.ledger.look(key)
            return known if isinstance(known, Settled) else None
        except StoreError:
            return None
        return Settled(key, *word)

    def others(self, calls) -> list[dict]:
        """What other attempts at this turn claimed, and no call of this one stands for: the history must tell it too."""
        if self.ledger is None:
            return []
        told = set(self.keys.values())
        for call in calls:
            told.update(entry["key"] for entry in (call.detail or {}).get("held", ()))
        entries = self.ledger.entries(self.attempt.conversation, self.attempt.turn)
        return [plain_entry(entry) for entry in entries if entry.key not in told and entry.state != "failed"]


def plain_entry(entry) -> dict:
    """A claim as plain data, for a call's detail and for the history."""
    return {name: getattr(entry, name) for name in ("key", "tool", "arguments", "state", "result", "attempt")}
