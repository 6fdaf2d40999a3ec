"""anthropic: `messages.stream`, up to the final message that it hands over, whose inputs are parsed."""

import anthropic

from .observed import KEY, QUESTION, TIMEOUT, Observed


def observe(case: dict, url: str, seen: Observed) -> None:
    client = anthropic.Anthropic(api_key=KEY, base_url=url, max_retries=0, timeout=TIMEOUT)
    tools = [{"name": tool["name"], "input_schema": tool["parameters"]} for tool in case["tools"]]
    messages = [{"role": "user", "content": QUESTION}]
    with client.messages.stream(model="m", max_tokens=99, messages=messages, tools=tools) as stream:
        message = stream.get_final_message()
    seen.finish = message.stop_reason
    for block in message.content:
        if block.type == "tool_use":
            seen.calls.append((block.name, block.input))
