"""The assistant's part of a history: text, calls, and what only a replay needs, in the order of the blocks.

`parts` are text, Calls, and payloads that go back as they came.
"""

import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress

from .blocks import Block
from .events import Call, Turn
from .results import call_id, clean
from .strict import NotStrict, strict


def parts_of(turn: Turn, api: str, calls: dict[int, Call], replay: bool) -> list:
    """The parts that a history has. `calls`: those to be told, by ordinal. `replay`: also signed thinking, and what ran on
    the provider's side, where its result is there."""
    parts: list = []
    answered = {p["tool_use_id"] for block in turn.blocks for p in sendable(block.extras) if _is_server_result(p)}
    asked = {call.id for call in turn.calls if call.kind == "server" and call.outcome in ("ready", "invalid")}
    for block in turn.blocks:
        if block.kind == "text":
            text = clean(block.text)
            if text.strip():
                parts.append(text)
        elif block.kind == "call" and block.call.ordinal in calls:
            parts.append(calls[block.call.ordinal])
        elif replay and api == "anthropic-messages":
            parts += _of_anthropic(block, asked & answered)
        elif replay and api == "openai-responses":
            parts += [p for p in sendable(block.extras) if p.get("type") == "reasoning"]
    while parts and api == "openai-responses" and isinstance(parts[-1], dict):
        parts.pop()  # reasoning that nothing follows is refused
    return parts


def with_line(parts: list, line: str) -> list:
    """The parts with a note: at the end of the last text, else in front of the first call."""
    texts = [place for place, part in enumerate(parts) if isinstance(part, str)]
    if texts:
        return [f"{p}\n\n{line}" if place == texts[-1] else p for place, p in enumerate(parts)]
    place = next((place for place, part in enumerate(parts) if isinstance(part, Call)), len(parts))
    return [*parts[:place], line, *parts[place:]]


def said(parts: list, api: str) -> list[dict]:
    """The assistant's messages (Responses: items) for these parts; nothing for none."""
    if api == "openai-responses":
        return [_item(part, place) for place, part in enumerate(parts)]
    if not parts:
        return []
    if api == "anthropic-messages":
        return [{"role": "assistant", "content": [_block(part) for part in parts]}]
    message: dict = {"role": "assistant", "content": "".join(part for part in parts if isinstance(part, str)) or None}
    if calls := [_tool_call(part) for part in parts if isinstance(part, Call)]:
        message["tool_calls"] = calls
    return [message]


def from_user(text: str, api: str, before: Iterable[dict] = ()) -> list[dict]:
    """A text as the user's message, after the messages `before`; Anthropic wants it in one message with the results."""
    before = list(before)
    if api == "openai-responses":
        return [*before, {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}]
    if api == "openai-chat":
        return [*before, {"role": "user", "content": text}]
    results = before[0]["content"] if before else []
    return [{"role": "user", "content": [*results, {"type": "text", "text": text}]}]


def arguments_of(call: Call) -> dict:
    """The arguments that a told call had: those that ran, else those that were parsed. Also of a call read back from a store."""
    arguments = (call.detail or {}).get("arguments", call.arguments)
    return _parsed(call.text) or {} if arguments is None else arguments


def arguments_text(call: Call) -> str:
    """The same as text: as the model wrote it, since a provider's cache goes by that; else written anew."""
    arguments = arguments_of(call)
    return call.text if _parsed(call.text) == arguments else json.dumps(arguments, ensure_ascii=False)


def _parsed(text: str):
    try:
        return strict(text)
    except NotStrict:
        return None


def _tool_call(call: Call) -> dict:
    function = {"name": call.name, "arguments": arguments_text(call)}
    return {"id": call_id(call, "openai-chat"), "type": "function", "function": function}


def _item(part, place: int) -> dict:
    if isinstance(part, dict):
        return part
    if isinstance(part, Call):
        identity = {"call_id": call_id(part, "openai-responses"), "name": part.name}
        return {"type": "function_call", **identity, "arguments": arguments_text(part), "status": "completed"}
    minted = hashlib.sha256(f"{place} {part}".encode()).hexdigest()[:24]
    content = [{"type": "output_text", "text": part, "annotations": []}]
    return {"type": "message", "id": f"msg_{minted}", "role": "assistant", "status": "completed", "content": content}


def _block(part) -> dict:
    if isinstance(part, dict):
        return part
    if isinstance(part, Call):
        identity = {"id": call_id(part, "anthropic-messages"), "name": part.name}
        return {"type": "tool_use", **identity, "input": arguments_of(part)}
    return {"type": "text", "text": part}


def _of_anthropic(block: Block, served: set[str]) -> list[dict]:
    """Thinking with its signature, and what the provider ran, call and result: unchanged, or not at all."""
    payloads = sendable(block.extras)
    if block.kind == "thinking":
        signature = "".join(p["signature"] for p in payloads if isinstance(p.get("signature"), str))
        return [{"type": "thinking", "thinking": block.text, "signature": signature}] if signature else []
    if block.kind == "call":
        call = block.call
        identity = {"id": call.id, "name": call.name, "input": arguments_of(call)}
        return [{"type": "server_tool_use", **identity}] if call.kind == "server" and call.id in served else []
    return [
        payload
        for payload in payloads
        if payload.get("type") == "redacted_thinking"
        or (_is_server_result(payload) and payload["tool_use_id"] in served)
    ]


def sendable(payloads: Iterable) -> list[dict]:
    """Those that a request can carry back as they came: not with half a surrogate pair or NaN in them."""
    found = []
    for payload in payloads:
        with suppress(ValueError):  # UnicodeEncodeError is one
            json.dumps(payload, ensure_ascii=False, allow_nan=False).encode()
            found += [payload] if isinstance(payload, dict) else []
    return found


def _is_server_result(payload: dict) -> bool:
    if not isinstance(payload.get("tool_use_id"), str):
        return False
    kind = payload.get("type")
    return isinstance(kind, str) and kind.endswith("_tool_result") and kind != "mcp_tool_result"
