"""What goes back to the model for a call, shaped for each provider: its result, its error, or the in-band error of an invalid call.

Only an invalid call is answered although nothing ran: it parsed and has a name, so the model can be told all that is wrong
and correct it. A call that was cut or does not parse has no answer; its turn has ended.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from typing import Any

from .events import Call

HISTORIES = ("openai-chat", "openai-responses", "anthropic-messages")
NAMES = {"openai-chat": r"[\w-]{1,64}", "openai-responses": r"[\w-]{1,64}", "anthropic-messages": r"[\w-]{1,128}"}
IDS = {"openai-chat": r"(?s).{1,40}", "openai-responses": r"(?s).{1,64}", "anthropic-messages": r"[\w-]+"}
SURROGATES = re.compile(r"[\ud800-\udfff]")


def known(api: str) -> str:
    """`api`, if there are histories for it. Raises ValueError."""
    if api not in HISTORIES:
        raise ValueError(f"api: expected one of {', '.join(HISTORIES)}, got {api!r}")
    return api


def fits(patterns: dict[str, str], api: str, text: Any) -> bool:
    """Whether the provider takes this text as a name (NAMES) or as an id (IDS)."""
    return isinstance(text, str) and re.fullmatch(patterns[api], text, re.ASCII) is not None


def clean(text: str) -> str:
    """Text that every encoder takes: halves of a surrogate pair that came apart are joined, lone ones become U+FFFD (case 036)."""
    if SURROGATES.search(text):
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def call_id(call: Call, api: str) -> str:
    """The call's own id, or a hash of it where this provider refuses such ids."""
    if fits(IDS, api, call.id) and not SURROGATES.search(call.id):
        return call.id
    return "call_" + hashlib.sha256(call.id.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def content(call: Call) -> tuple[str, bool] | None:
    """What the model is told of a call, and whether it is an error; None where a call has no answer."""
    detail = call.detail or {}
    if call.effect in ("ran", "duplicate"):
        return as_text(detail.get("result")), False
    if call.effect == "failed":
        return as_text(detail.get("error")), True
    if call.outcome == "invalid" and call.effect == "none" and detail.get("answerable"):
        lines = (f"- {complaint}" for complaint in detail["complaints"])
        return clean("\n".join(("The call was not run, since its arguments are not valid:", *lines))), True
    return None


def as_text(value: Any) -> str:
    """A result as the text that the model reads: text as it is, anything else as JSON."""
    return clean(value if isinstance(value, str) and value.strip() else json.dumps(value, ensure_ascii=False))


def result(call: Call, api: str) -> dict:
    """The answer to one call: a tool message (Chat), an item (Responses), a block of a user message (Messages).

    Raises ValueError for a call that has none. Chat and Responses have no mark for an error: the text begins with the word.
    """
    told = content(call)
    if told is None:
        raise ValueError(
            f"call {call.ordinal}: expected one that ran, failed or is invalid; {call.outcome} has no result"
        )
    text, error = told
    id = call_id(call, known(api))
    if api == "anthropic-messages":
        block = {"type": "tool_result", "tool_use_id": id, "content": text}
        return block | {"is_error": True} if error else block
    text = f"Error: {text}" if error else text
    if api == "openai-chat":
        return {"role": "tool", "tool_call_id": id, "content": text}
    return {"type": "function_call_output", "call_id": id, "output": text}


def results(calls: Iterable[Call], api: str) -> list[dict]:
    """The answers to several calls, as messages: those of Anthropic go into one user message, which must come next."""
    answers = [result(call, api) for call in calls]
    return [{"role": "user", "content": answers}] if answers and api == "anthropic-messages" else answers
