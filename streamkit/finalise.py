"""Finished text → Ready, Unfinished, Unparseable or Invalid (cases/FORMAT.md, rules 2, 3 and 8).

Only `Ready` carries arguments that a tool may see. Nothing here repairs, closes or coerces.
"""

from dataclasses import dataclass
from itertools import islice
from typing import Any

import jsonschema
from referencing import Registry
from referencing.exceptions import Unresolvable

from .strict import NotStrict, strict


@dataclass(frozen=True, slots=True)
class Ready:
    """Arguments that parsed whole and satisfy the tool's schema."""

    arguments: dict
    outcome = "ready"


@dataclass(frozen=True, slots=True)
class Unfinished:
    """The turn did not complete: the text is kept, even where it happens to parse, and never run."""

    text: str
    outcome = "unfinished"


@dataclass(frozen=True, slots=True)
class Unparseable:
    """A completed turn, and text that is no strict JSON. `position`: characters from the start."""

    text: str
    reason: str
    position: int
    outcome = "unparseable"


@dataclass(frozen=True, slots=True)
class Invalid:
    """It parses, and the schema, the tool's name or the object rule refuses it: all complaints, for the model."""

    text: str
    arguments: Any
    complaints: tuple[str, ...]
    answerable: bool = True  # an object with a name: the history can carry it, and an error result beside it
    outcome = "invalid"


Final = Ready | Unfinished | Unparseable | Invalid


COMPLAINTS = 100  # of one call: a list of a million wrong items has as many
MESSAGE = 300  # characters of a complaint: the schema's words may quote the whole argument


class BadTool(ValueError):
    """An offered tool that has no name, or whose parameters are no JSON Schema."""


class Tools:
    """The offered tools, each with a validator compiled once. Raises BadTool.

    `tools`: dicts with "name", "parameters" (a JSON Schema; absent: any object), "description".
    """

    def __init__(self, tools: list[dict]):
        self.by_name: dict[str, dict] = {}
        self._validators: dict = {}
        for tool in tools:
            name, schema = tool.get("name"), tool.get("parameters") or {"type": "object"}
            if not isinstance(name, str) or not name:
                raise BadTool(f"a tool with a name was expected, {tool!r} came")
            try:
                kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
                kind.check_schema(schema)
            except jsonschema.SchemaError as error:
                fault = f" at {error.json_path}: {error.message[:MESSAGE]}"
                raise BadTool(f"tool {name}: a JSON Schema was expected{fault}") from None
            except (
                TypeError,
                AttributeError,
                RecursionError,
            ):  # a `$schema` that is no text; objects in objects in objects
                raise BadTool(f"tool {name}: a JSON Schema was expected, {type(schema).__name__} came") from None
            self.by_name[name] = tool
            self._validators[name] = kind(schema, registry=Registry())  # an empty registry: no reference is fetched

    def complaints(self, name: str, arguments: dict) -> list[str]:
        """What the offered tools have against this call, each with the path it is about, at most COMPLAINTS. Raises nothing.

        What a schema cannot judge is refused: an integer past double range against `multipleOf`, a reference that leads
        nowhere or round and round.
        """
        if name not in self._validators:
            return [f"unknown tool {name!r}; offered: {', '.join(self.by_name) or 'none'}"]
        try:
            found = list(islice(self._validators[name].iter_errors(arguments), COMPLAINTS))
            errors = sorted(found, key=lambda error: error.json_path)
        except (ArithmeticError, RecursionError, Unresolvable) as error:
            return [f"$: the tool's schema cannot judge these arguments ({type(error).__name__.lstrip('_')})"]
        return [f"{error.json_path}: {error.message[:MESSAGE]}" for error in errors]


def finalise(text: str, name: str = "", tools: Tools | None = None, complete: bool = True) -> Final:
    """What a call's whole text is worth, at the end of its turn.

    `text`: all fragments joined; nothing, or the four letters null, mean {} in a complete turn. `tools`: the offered
    tools, None to judge by the object rule alone. `complete`: whether the turn ended with the provider's good word.
    """
    if not complete:
        return Unfinished(text)
    try:
        arguments = {} if text in ("", "null") else strict(text)
    except NotStrict as error:
        return Unparseable(text, error.reason, error.position)
    if not isinstance(arguments, dict):
        return Invalid(text, arguments, (f"$: an object was expected, {type(arguments).__name__} came",), False)
    if not name:
        return Invalid(text, arguments, ("the call was never named",), False)
    complaints = tools.complaints(name, arguments) if tools is not None else []
    return Invalid(text, arguments, tuple(complaints)) if complaints else Ready(arguments)
