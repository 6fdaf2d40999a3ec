"""A history read as what was said, in order, whichever of the three APIs it is for. It raises nothing, whatever comes."""

from collections.abc import Iterator
from typing import Any, NamedTuple

ROLES = {
    "openai-chat": ("system", "developer", "user", "assistant", "tool"),
    "openai-responses": ("system", "developer", "user", "assistant"),
    "anthropic-messages": ("system", "user", "assistant"),
}


class Said(NamedTuple):
    """One thing in a history: `kind` is "text", "call", "result", "other", or "odd" (value: what is wrong with its shape).

    `message` counts from 0. `value`: the text, the arguments as they stand, the result.
    """

    message: int
    where: str
    kind: str
    id: Any = None
    name: Any = None
    value: Any = None


def read(messages: list, api: str) -> list[Said]:
    """All that was said in a history."""
    return [one for number, message in enumerate(messages) for one in _message(number, message, api)]


def _message(number: int, message: Any, api: str) -> Iterator[Said]:
    where = f"message {number}"
    if not isinstance(message, dict):
        yield Said(number, where, "odd", value=f"an object was expected, {type(message).__name__} came")
    elif api == "openai-responses" and message.get("type") not in (None, "message"):
        yield _item(number, where, message)
    elif not isinstance(message.get("role"), str) or message["role"] not in ROLES[api]:
        came = told(message.get("role"))
        yield Said(number, where, "odd", value=f"a role of {', '.join(ROLES[api])} was expected, {came} came")
    elif message["role"] == "tool":
        yield Said(number, where, "result", message.get("tool_call_id"), None, message.get("content"))
    else:
        calls = message.get("tool_calls") if api == "openai-chat" else None
        if calls == []:
            yield Said(number, where, "odd", value="an empty list of calls; leave tool_calls out where there is none")
        if not (calls and not message.get("content")):  # beside calls, no text is no empty block
            yield from _content(number, where, message, api)
        yield from (_chat_call(number, f"{where}, call {n}", call) for n, call in enumerate(_list(calls)))


def _content(number: int, where: str, message: dict, api: str) -> Iterator[Said]:
    content = message.get("content")
    if isinstance(content, str) or not content:
        yield Said(number, where, "text", value=content)
    elif not isinstance(content, list):
        yield Said(number, where, "odd", value=f"text or a list was expected as content, {type(content).__name__} came")
    else:
        for place, block in enumerate(content):
            yield _block(number, f"{where}, block {place}", block, message["role"], api)


def _block(number: int, where: str, block: Any, role: str, api: str) -> Said:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str):
        return Said(number, where, "odd", value="a block with a type was expected")
    if kind in ("text", "input_text", "output_text"):
        return Said(number, where, "text", value=block.get("text"))
    if api != "anthropic-messages" or kind not in ("tool_use", "tool_result"):
        return Said(number, where, "other")
    if (kind, role) not in (("tool_use", "assistant"), ("tool_result", "user")):
        return Said(number, where, "odd", value=f"{kind} in a message of the {role}")
    if kind == "tool_use":
        return Said(number, where, "call", block.get("id"), block.get("name"), block.get("input"))
    return Said(number, where, "result", block.get("tool_use_id"), None, block.get("content", ""))


def _chat_call(number: int, where: str, call: Any) -> Said:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return Said(number, where, "odd", value="a call with a function was expected")
    return Said(number, where, "call", call.get("id"), function.get("name"), function.get("arguments"))


def _item(number: int, where: str, item: dict) -> Said:
    if item["type"] == "function_call":
        return Said(number, where, "call", item.get("call_id"), item.get("name"), item.get("arguments"))
    if not isinstance(item["type"], str):
        return Said(number, where, "odd", value=f"an item with a type was expected, {told(item['type'])} came")
    if item["type"] == "function_call_output":
        return Said(number, where, "result", item.get("call_id"), None, item.get("output"))
    return Said(number, where, "other")


def _list(value: Any) -> list:
    return value if isinstance(value, list) else [] if value is None else [value]


def told(value: Any) -> str:
    """A value of any kind in a complaint: at most 60 characters, of what cannot be written out its type."""
    try:
        return repr(value)[:60]
    except (ValueError, RecursionError):  # an integer of thousands of digits; lists in lists in lists
        return f"{type(value).__name__} too large to show"
