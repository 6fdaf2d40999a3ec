"""Threads that nobody has to wait for: one for a function, one for a loop of its own."""

import asyncio
import contextvars
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from typing import Any

WAKE = 0.5  # seconds between two chances for Ctrl-C, which on Windows does not end a wait


def in_thread(function: Callable[[], Any]) -> Future:
    """What `function` returns or raises. The exit of the program does not wait for the thread."""
    future: Future = Future()
    future.set_running_or_notify_cancel()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            value = context.run(function)
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(value)

    threading.Thread(target=work, name="streamkit", daemon=True).start()
    return future


def in_own_loop(make: Callable[[], Coroutine], cancel: Callable[[], None]) -> Any:
    """What a coroutine gives, run by a loop in a thread, so that it works where a loop runs already.

    Ctrl-C calls `cancel` and waits for the coroutine to end before it is raised.
    """
    future = in_thread(lambda: asyncio.run(make()))
    try:
        while not future.done():
            wait({future}, timeout=WAKE)
    except KeyboardInterrupt:
        cancel()
        wait({future})
        raise
    return future.result()
