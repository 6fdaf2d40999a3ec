"""A conversation written once and put as a request body of each of the three APIs.

A conversation is a list of user(…), says(…) and result(…) in order; a call is (tool name, arguments) with the arguments as an
object, whose order of fields the model copies, or as text, where the writing itself (escapes) is to be copied.
"""

import json

SHORT = {"openai-chat": "chat", "anthropic-messages": "messages", "openai-responses": "responses"}
PATHS = {
    "openai-chat": "/v1/chat/completions",
    "anthropic-messages": "/v1/messages",
    "openai-responses": "/v1/responses",
}


def user(text: str) -> dict:
    """What the customer's clerk types."""
    return {"role": "user", "text": text}


def says(text: str, *calls: tuple, ids: list[str] | None = None) -> dict:
    """What the assistant said and called; `ids` are the calls' own, where they came from the provider."""
    return {"role": "assistant", "text": text, "calls": calls, "ids": ids}


def result(*texts: str) -> dict:
    """What the tools of the turn before gave back, in the order of its calls."""
    return {"role": "tool", "texts": texts}


def _text(arguments) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _object(arguments) -> dict:
    return json.loads(arguments) if isinstance(arguments, str) else arguments


def body(
    api: str,
    system: str,
    turns: list[dict],
    tools: list[dict],
    limit: int,
    choice: str = "auto",
    single: bool = False,
    **more,
) -> dict:
    """The request body, without the model. `choice` is auto or required, `single` asks for at most one call; `more` goes in as it is."""
    make = {"openai-chat": _chat, "anthropic-messages": _messages, "openai-responses": _responses}[api]
    made = make(system, turns, tools, limit, choice if tools else "auto")
    if tools and single and api == "anthropic-messages":
        made["tool_choice"]["disable_parallel_tool_use"] = True
    elif tools and single:
        made["parallel_tool_calls"] = False
    return {**made, **more}


def _chat(system, turns, tools, limit, choice):
    messages, last = [{"role": "system", "content": system}], []
    for place, turn in enumerate(turns):
        if turn["role"] == "user":
            messages.append({"role": "user", "content": turn["text"]})
        elif turn["role"] == "assistant":
            last = turn["ids"] or [f"call_{place}{n}" for n, _ in enumerate(turn["calls"])]
            calls = [
                {"id": id, "type": "function", "function": {"name": name, "arguments": _text(arguments)}}
                for id, (name, arguments) in zip(last, turn["calls"], strict=True)
            ]
            messages.append(
                {"role": "assistant", "content": turn["text"] or None} | ({"tool_calls": calls} if calls else {})
            )
        else:
            messages += [
                {"role": "tool", "tool_call_id": id, "content": text}
                for id, text in zip(last, turn["texts"], strict=True)
            ]
    functions = [{"type": "function", "function": tool} for tool in tools]
    return {"messages": messages, "max_tokens": limit} | ({"tools": functions, "tool_choice": choice} if tools else {})


def _messages(system, turns, tools, limit, choice):
    messages, last = [], []
    for place, turn in enumerate(turns):
        if turn["role"] == "user":
            messages.append({"role": "user", "content": turn["text"]})
        elif turn["role"] == "assistant":
            last = turn["ids"] or [f"toolu_{place}{n}" for n, _ in enumerate(turn["calls"])]
            text = [{"type": "text", "text": turn["text"]}] if turn["text"] else []
            uses = [
                {"type": "tool_use", "id": id, "name": name, "input": _object(arguments)}
                for id, (name, arguments) in zip(last, turn["calls"], strict=True)
            ]
            messages.append({"role": "assistant", "content": text + uses})
        else:
            results = [
                {"type": "tool_result", "tool_use_id": id, "content": text}
                for id, text in zip(last, turn["texts"], strict=True)
            ]
            messages.append({"role": "user", "content": results})
    offered = [{"name": t["name"], "description": t["description"], "input_schema": t["parameters"]} for t in tools]
    how = {"type": "any" if choice == "required" else choice}
    made = {"system": system, "messages": messages, "max_tokens": limit}
    return made | ({"tools": offered, "tool_choice": how} if tools else {})


def _responses(system, turns, tools, limit, choice):
    items, last = [], []
    for place, turn in enumerate(turns):
        if turn["role"] == "user":
            items.append({"type": "message", "role": "user", "content": [{"type": "input_text", "text": turn["text"]}]})
        elif turn["role"] == "assistant":
            last = turn["ids"] or [f"call_{place}{n}" for n, _ in enumerate(turn["calls"])]
            if turn["text"]:
                part = {"type": "output_text", "text": turn["text"], "annotations": []}
                items.append({"type": "message", "role": "assistant", "status": "completed", "content": [part]})
            items += [
                {
                    "type": "function_call",
                    "call_id": id,
                    "name": name,
                    "arguments": _text(arguments),
                    "status": "completed",
                }
                for id, (name, arguments) in zip(last, turn["calls"], strict=True)
            ]
        else:
            items += [
                {"type": "function_call_output", "call_id": id, "output": text, "status": "completed"}
                for id, text in zip(last, turn["texts"], strict=True)
            ]
    functions = [{"type": "function", **tool, "strict": False} for tool in tools]
    made = {"instructions": system, "input": items, "max_output_tokens": limit}
    return made | ({"tools": functions, "tool_choice": choice} if tools else {})
