"""Accumulators with one fault each, named after it: what they take for the key of a call. For teaching: the kit itself uses none.

Each takes the events of one stream by `add`; `calls` then lists what it holds, as objects with a name and a text.
Chapter 2 sets them beside `streamkit.accumulator.Accumulator`, over the same streams.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..events import CallDelta
from ..strict import NotStrict, strict


@dataclass(slots=True)
class Held:
    """One buffer of a naive client: the name, and the pieces of its argument text."""

    name: str = ""
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class NaiveKeys:
    """What the clients below have in common. A subclass says which buffer a delta goes to (`key`)."""

    def __init__(self):
        self.held: dict[Any, Held] = {}
        self.names: dict = {}  # index → name

    def add(self, event) -> None:
        if isinstance(event, CallDelta):
            if event.name:
                self.names[event.index] = event.name
            held = self.held.setdefault(self.key(event), Held())
            held.name = held.name or event.name or ""
            held.pieces.append(event.text)

    def key(self, event: CallDelta) -> Any:
        raise NotImplementedError

    @property
    def calls(self) -> list[Held]:
        return list(self.held.values())


class KeyedByName(NaiveKeys):
    """One buffer a tool name. Two calls to one tool share it."""

    def key(self, event):
        return self.names.get(event.index, "")


class KeyedById(NaiveKeys):
    """One buffer an id; a fragment without an id goes to the id that came last. Ids are repeated, late, or change."""

    last = ""

    def key(self, event):
        self.last = event.id or self.last
        return self.last


class KeyedByIndexAlone(NaiveKeys):
    """One buffer an index, whatever else the stream says. Some servers leave the index out, or give all calls the same."""

    def key(self, event):
        return event.index


class KeyedByPosition(NaiveKeys):
    """The index as a place in a list. It need not begin at 0, need not be a number, and need not be there."""

    def key(self, event):
        place = event.index or 0
        while len(self.held) <= place:  # raises TypeError for an index that is text
            self.held[len(self.held)] = Held()
        return place


class AppendsToTheLastCall(NaiveKeys):
    """A name opens a call, and every fragment goes to the call opened last. Right as long as no two calls are open at once."""

    opened = 0

    def key(self, event):
        self.opened += bool(event.name)
        return self.opened


class LastCallWins(NaiveKeys):
    """A dict from tool name to arguments, begun anew at each announcement. Of two calls to one tool the first is gone."""

    def key(self, event):
        name = self.names.get(event.index, "")
        if event.name:
            self.held.pop(name, None)
        return name


class MergesObjects(KeyedByIndexAlone):
    """Each call is held and parsed by itself, rightly; then the arguments are put together by name: `merged[name] |= arguments`."""

    @property
    def calls(self):
        merged: dict[str, dict] = {}
        for held in super().calls:
            merged.setdefault(held.name, {}).update(strict(held.text or "{}"))
        return [Held(name, [json.dumps(arguments, ensure_ascii=False)]) for name, arguments in merged.items()]


KEY_CLIENTS = (
    KeyedByName,
    LastCallWins,
    MergesObjects,
    KeyedByPosition,
    KeyedById,
    AppendsToTheLastCall,
)  # KeyedByIndexAlone is the chapter's second step


def held(kind, events: Iterable) -> list[tuple[str, Any]] | None:
    """What a fresh client of this kind makes of a stream: (name, arguments) a call, the text where it is no object.

    `kind` is any class with `add` and `calls`. None where the client fell over.
    """
    try:
        client = kind()
        for event in events:
            client.add(event)
        return [(call.name, arguments(call.text)) for call in client.calls]
    except (NotStrict, TypeError, AttributeError):
        return None


def arguments(text: str) -> Any:
    """The parsed arguments of a whole text ({} for none at all), else the text itself."""
    try:
        return strict(text or "{}")
    except NotStrict:
        return text


def whole_then_more(text: str) -> int | None:
    """Where the first JSON value of a text ends, in characters, if something other than white space follows it; else None."""
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except ValueError:
        return None
    return end if text[end:].strip() else None
