"""Clients with one fault each, named after it, as people really write them. For teaching: the kit itself uses none.

A fragment client takes the events of one stream by `add` and keeps in `ran` what it would have run, as (name, arguments). Which call
a fragment belongs to is keyed by index, rightly: the named fault is the only one. A flat object that comes in one fragment is read
rightly by all of them, which is why such faults are shipped.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

from ..events import CallDelta, TurnFinished
from ..strict import strict


class NaiveClient:
    """What the clients below have in common; by itself it appends. `required`: fields of the arguments that its tool needs.

    A subclass changes what is done with a fragment (`take`) or when a call runs. `strict` raises NotStrict where a text does not parse.
    """

    def __init__(self, required: Iterable[str] = ()):
        self.required = frozenset(required)
        self.ran: list[tuple[str, Any]] = []
        self.names: dict = {}  # index → name
        self.held: dict[Any, list[str]] = {}  # index → fragments

    def add(self, event) -> None:
        if isinstance(event, CallDelta):
            if event.name:
                self.names[event.index] = event.name
            self.held.setdefault(event.index, [])
            if event.text or not event.name:  # an announcement need not bring a fragment
                self.take(event.index, event.text)
        elif isinstance(event, TurnFinished):
            self.finish()

    def take(self, index, fragment: str) -> None:
        self.held[index].append(fragment)

    def finish(self) -> None:
        for index in self.held:
            self.run(index, self.text(index))

    def text(self, index) -> str:
        return "".join(self.held[index])

    def run(self, index, text: str) -> None:
        self.ran.append((self.names[index], strict(text or "{}")))


class StripsFragments(NaiveClient):
    """Tidies each fragment with strip(). The space may stand inside a string."""

    def take(self, index, fragment):
        super().take(index, fragment.strip())


class DropsBlankFragments(NaiveClient):
    """Skips a blank fragment, as a keep-alive. It may be a space inside a string."""

    def take(self, index, fragment):
        if fragment.strip():
            super().take(index, fragment)


class DropsRepeats(NaiveClient):
    """Skips a fragment equal to the last one, as sent twice. The model may write 1, 0, 0, 0."""

    def take(self, index, fragment):
        if self.held[index][-1:] != [fragment]:
            super().take(index, fragment)


class StopsAtAnEmptyFragment(NaiveClient):
    """Takes an empty fragment for the end of the arguments. Anthropic's first fragment is empty."""

    def __init__(self, required=()):
        super().__init__(required)
        self.over = set()

    def take(self, index, fragment):
        if not fragment:
            self.over.add(index)
        if index not in self.over:
            super().take(index, fragment)


class ParsesEachFragment(NaiveClient):
    """Parses every fragment for itself. It was tested on a provider that sends a call in one piece."""

    def take(self, index, fragment):
        if fragment:
            self.held[index].append(strict(fragment))

    def finish(self):
        for index, parts in self.held.items():
            self.ran.append((self.names[index], {key: value for part in parts for key, value in part.items()}))


class ScrapesFragments(NaiveClient):
    """Looks for `"key": value` in each fragment. Key, colon and value may come in different ones."""

    PAIR = re.compile(
        r'("(?:[^"\\]|\\.)*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|-?[\d.]+(?:[eE][+-]?\d+)?|true|false|null))\s*[,}]'
    )

    def take(self, index, fragment):
        self.held[index] += self.PAIR.findall(fragment)

    def text(self, index):
        return "{" + ", ".join(self.held[index]) + "}"


class CountsBraces(NaiveClient):
    """Runs when the braces outside strings balance. It forgets a backslash that ends a fragment."""

    def __init__(self, required=()):
        super().__init__(required)
        self.depth: dict = {}
        self.quoted: dict = {}  # index → inside a string?

    def take(self, index, fragment):
        super().take(index, fragment)
        escaped = False
        for sign in fragment:
            if escaped:
                escaped = False
            elif sign == "\\":
                escaped = True
            elif sign == '"':
                self.quoted[index] = not self.quoted.get(index)
            elif sign in "{}" and not self.quoted.get(index):
                self.depth[index] = self.depth.get(index, 0) + (1 if sign == "{" else -1)
                if self.depth[index] == 0:
                    self.run(index, self.text(index))

    def finish(self):
        """A call that never balanced never runs."""


class RunsWhenItParses(NaiveClient):
    """Parses all it holds at each fragment, and runs when that works. Nobody said it is finished."""

    def __init__(self, required=()):
        super().__init__(required)
        self.done: set = set()

    def take(self, index, fragment):
        super().take(index, fragment)
        if index not in self.done and (arguments := self.parsed(self.text(index))) is not None:
            self.done.add(index)
            self.ran.append((self.names[index], arguments))

    def parsed(self, text: str) -> dict | None:
        try:
            return json.loads(text)
        except ValueError:
            return None

    def finish(self):
        """What never parsed never runs."""


class RunsAtRequiredFields(RunsWhenItParses):
    """Closes all it holds with a tolerant parser, and runs when the required fields are there.

    A field that is there may still grow, and an optional one may still come.
    """

    def parsed(self, text):
        from partial_json_parser import loads

        try:
            arguments = loads(text)
        except Exception:  # it raises five types on text that is no prefix of JSON
            return None
        return arguments if isinstance(arguments, dict) and self.required <= arguments.keys() else None


FRAGMENT_CLIENTS = (
    StripsFragments,
    DropsBlankFragments,
    DropsRepeats,
    StopsAtAnEmptyFragment,
    ParsesEachFragment,
    ScrapesFragments,
    CountsBraces,
    RunsWhenItParses,
    RunsAtRequiredFields,
)
