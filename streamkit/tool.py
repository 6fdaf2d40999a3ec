"""A tool as the dispatcher needs it: what the model is told of it, and what running it takes."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .finalise import BadTool

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Warm(NamedTuple):
    """Work that may begin before the call is whole, since it has no effect and no answer: a connection, a prepared query.

    `start(values)` gets the values of `fields` as soon as all of them are closed. What it returns goes to the run as `warm`,
    or, where the final arguments differ or nothing runs, to `discard`.
    """

    fields: tuple[str, ...]
    start: Callable[[dict], Any]
    discard: Callable[[Any], Any] | None = None


@dataclass(frozen=True)
class Tool:
    """One tool. `run` is a function (it gets a thread) or a coroutine function; what it returns is the result, plain JSON.

    It is called as `run(arguments)` or `run(arguments, key)`; the idempotency key is to go downstream with the request. It
    raises NotDone where it knows that it did nothing; any other exception, or `timeout` seconds, leaves a doubt.
    `ask`, called like `run`, finds out downstream what became of a key in doubt, without doing it a second time: it returns
    the result, raises NotDone where the key did nothing and never will, anything else where it does not know.
    `occurrences`: equal calls of one turn are different effects. `read_only`: declares that a run changes nothing: it is not
    claimed, may run beside others and again, and fails instead of leaving a doubt. Raises BadTool.
    """

    name: str
    run: Callable
    description: str = ""
    parameters: dict = field(default_factory=lambda: {"type": "object"})
    timeout: float = 30.0
    occurrences: bool = False
    read_only: bool = False
    ask: Callable | None = None
    warm: Warm | None = None

    def __post_init__(self):
        for function in (self.run, self.ask) if self.ask else (self.run,):
            _takes(self.name, function)
        if not self.timeout > 0:
            raise BadTool(f"tool {self.name}: a time-out in seconds was expected, {self.timeout!r} came")

    @property
    def offer(self) -> dict:
        """What a model is told of the tool: name, description, parameters."""
        return {"name": self.name, "description": self.description, "parameters": self.parameters}

    def call(self, function: Callable, arguments: dict, key: str | None, warm: Any = None) -> Any:
        """`run` or `ask`, with what it asks for by its signature."""
        second, named = _takes(self.name, function)
        given = {"key": key, "warm": warm}
        return function(arguments, *([key] if second else ()), **{name: given[name] for name in named})


def _takes(tool: str, function: Callable) -> tuple[bool, list[str]]:
    """Whether a function takes the key in second place, and which of "key" and "warm" by name."""
    expected = f"tool {tool}: a function of (arguments) or (arguments, key) was expected"
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except TypeError:
        raise BadTool(f"{expected}, {function!r} came") from None
    except ValueError:  # a built-in that does not tell
        return False, []
    places = [p for p in parameters if p.kind in POSITIONAL and p.name != "warm"]
    needed = [p for p in places if p.default is p.empty]
    named = [p.name for p in parameters if p.name == "warm" or (p.name == "key" and p not in places[:2])]
    missing = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty and p.name not in named]
    if (not places and not any(p.kind is p.VAR_POSITIONAL for p in parameters)) or len(needed) > 2 or missing:
        raise BadTool(f"{expected}, one of ({', '.join(p.name for p in parameters)}) came")
    second = len(needed) == 2 or (len(places) > 1 and places[1].name == "key")
    return second, named
