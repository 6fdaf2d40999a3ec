"""A response's body as events: bytes in from any iterable, a stated ending out. The transport stays outside."""

import asyncio
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable

from .wire import reader

FAULTS = (TypeError, ValueError, LookupError, AttributeError, NameError, AssertionError, RuntimeError)  # the program's

BREATH = 64  # events of a stream that is all there between two turns of the loop


async def read_events(
    api: str,
    reads: Iterable | AsyncIterable,
    clock: Callable[[], float] = time.monotonic,
    silence: float | None = None,
) -> AsyncIterator:
    """The events of one response. `reads`: bytes as they come, or (seconds, bytes), as `response.aiter_raw()` gives them.

    What the transport raises becomes the ending that it is: a time-out, or a disconnect; other exceptions go through.
    `silence`: seconds without a read that count as a time-out. It stops reading where the stream is logically over.
    """
    wire, begun, at, ending = reader(api), clock(), 0.0, "clean"
    source = aiter(reads if hasattr(reads, "__aiter__") else _each(reads))
    try:
        while not wire.over:
            read = await asyncio.wait_for(anext(source), silence)
            at, data = read if isinstance(read, tuple) else (clock() - begun, read)
            for event in wire.feed(data, at):
                yield event
    except StopAsyncIteration:
        pass
    except Exception as error:
        ending = ending_of(error)
        if ending is None:
            raise
    finally:
        if hasattr(source, "aclose"):
            await source.aclose()
    for event in wire.close(ending, at):
        yield event


async def deliver(events: Iterable | AsyncIterable, take: Callable, busy: Callable[[], bool]) -> None:
    """Every event to `take`. A stream that never waits must not keep others from running: where somebody is `busy`, it does."""
    if hasattr(events, "__aiter__"):
        async for event in events:
            take(event)
            if busy():
                await asyncio.sleep(0)
        return
    for number, event in enumerate(events):
        take(event)
        if number % BREATH == 0 or busy():
            await asyncio.sleep(0)


def ending_of(error: BaseException) -> str | None:
    """ "timeout" or "disconnect" for what a transport raises; None for a fault of the program."""
    if isinstance(error, FAULTS) or not isinstance(error, Exception):
        return None
    return "timeout" if any("timeout" in kind.__name__.lower() for kind in type(error).__mro__) else "disconnect"


async def _each(reads: Iterable) -> AsyncIterator:
    for read in reads:
        yield read
        await asyncio.sleep(0)
