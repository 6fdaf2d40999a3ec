"""One run of a tool, from its start to a word on how it ended; a run never raises.

The words are the ledger's: "ran" with the result, "failed" with the error, "in_doubt" with why nobody knows.
"""

import asyncio
import inspect
import json
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple

from .claims import end_of
from .threads import in_thread
from .tool import Tool

GRACE = 0.2  # seconds that a cancelled coroutine has for a last word: it may still know that it did nothing
TEXT = 500  # characters of an exception's text


class Word(NamedTuple):
    """How a run ended: "ran" (value: the result), "failed" (the error) or "in_doubt" (why)."""

    state: str
    value: Any


def begin(
    tool: Tool, function: Callable, arguments: dict, key: str | None, warm: Any = None
) -> asyncio.Future | Future:
    """Start `tool.run` or `tool.ask`: a coroutine function as a task, any other in a thread of its own.

    The future gives a Word. A thread's is a concurrent one, so that a word that comes after the loop is gone still counts.
    """
    if is_async(function):
        return asyncio.ensure_future(_awaited(tool, function, arguments, key, warm))
    return in_thread(lambda: _called(tool, function, arguments, key, warm))


async def word_of(run: asyncio.Future | Future, tool: Tool, stop: asyncio.Future) -> Word | None:
    """The word of a run; None where neither its time-out nor `stop` brought one. `stop`: done when the user cancels."""
    wrapped = asyncio.wrap_future(run)
    await asyncio.wait({wrapped, stop}, timeout=tool.timeout, return_when=asyncio.FIRST_COMPLETED)
    if not wrapped.done():
        wrapped.cancel()  # ends a task; a thread goes on, and is no longer waited for
        if run is wrapped:
            await asyncio.wait({run}, timeout=GRACE)
    return wrapped.result() if wrapped.done() and not wrapped.cancelled() else None


def is_async(function: Callable) -> bool:
    """Whether calling it gives a coroutine, as far as one can tell without calling it."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


def _called(tool: Tool, function: Callable, *given) -> Word:
    try:
        result = tool.call(function, *given)
        if inspect.isawaitable(result):  # a function that hands on a coroutine
            result = asyncio.run(_wait_for(result))
        return Word("ran", plain(result))
    except BaseException as error:
        return _ending(tool, error)


async def _awaited(tool: Tool, function: Callable, *given) -> Word:
    try:
        return Word("ran", plain(await tool.call(function, *given)))
    except BaseException as error:  # a cancel too: the word is in doubt, and the task ends
        return _ending(tool, error)


async def _wait_for(awaitable) -> Any:
    return await awaitable


def _ending(tool: Tool, error: BaseException) -> Word:
    state = "failed" if tool.read_only else end_of(error)
    text = str(error)[:TEXT]
    if state == "failed" and not tool.read_only:
        return Word(state, text or "nothing was done")  # a tool's NotDone speaks to the model
    kind = "cancelled" if isinstance(error, asyncio.CancelledError) else type(error).__name__
    return Word(state, f"{kind}: {text}" if text else kind)


def plain(result: Any) -> Any:
    """The result as JSON gives it back: what the first caller gets is what a duplicate will get.

    Values that are no JSON become text. It never raises, for the effect is there.
    """
    try:
        return json.loads(json.dumps(result, default=str))
    except (TypeError, ValueError, RecursionError):
        return f"a result that is no JSON, of type {type(result).__name__}"
