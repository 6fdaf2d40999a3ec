"""What came of one case in one library, and what every adapter needs: the question, the time-out, the tools as functions."""

import inspect
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

QUESTION = "Please do it."
KEY = "none"
TIMEOUT = 3.0  # seconds without a byte, after which a client gives up
TYPES = {"string": str, "integer": int, "number": float, "boolean": bool}


@dataclass
class Observed:
    """`calls`: (name, arguments), handed over or run; arguments are a text or an object. `finish`: the finish reason that the
    caller can see, None for none. `error`: what was raised, in one line. `answered`: the model was asked again, with a result
    for a call."""

    calls: list = field(default_factory=list)
    finish: str | None = None
    error: str | None = None
    answered: bool = False

    def ran(self, name: str, arguments: dict) -> None:
        self.calls.append((name, arguments))

    as_dict = asdict


def functions(case: dict, ran: Callable[[str, dict], None]) -> list[Callable]:
    """A typed Python function for each offered tool, the form of a tool that every framework's first page shows.

    Each has the parameters of its schema, tells `ran` its name and arguments, and answers "ok".
    """
    return [_function(tool["name"], tool["parameters"], ran) for tool in case["tools"]]


def _function(name: str, schema: dict, ran: Callable[[str, dict], None]) -> Callable:
    types = {key: TYPES[value["type"]] for key, value in schema["properties"].items()}
    signature = inspect.Signature(
        [
            inspect.Parameter(key, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=type_)
            for key, type_ in types.items()
        ],
        return_annotation=str,
    )

    def tool(*given, **named):
        ran(
            name, dict(signature.bind(*given, **named).arguments)
        )  # TypeError, as of any function, where one is missing
        return "ok"

    tool.__name__ = tool.__qualname__ = name
    tool.__doc__ = f"The tool {name}."
    tool.__signature__ = signature
    tool.__annotations__ = types | {"return": str}
    return tool


def chat_tools(case: dict) -> list[dict]:
    """The offered tools as Chat Completions takes them."""
    return [{"type": "function", "function": {"description": f"The tool {t['name']}.", **t}} for t in case["tools"]]


def answers(value) -> bool:
    """Whether a request, parsed, holds the result of a call, in the words of any of the APIs."""
    if isinstance(value, list):
        return any(map(answers, value))
    if not isinstance(value, dict):
        return False
    told = value.get("role") == "tool" or value.get("type") in ("tool_result", "function_call_output")
    return told or "functionResponse" in value or any(map(answers, value.values()))


def in_a_line(error: BaseException) -> str:
    """`TypeError: what it says`, at most 200 characters, no line break."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
