"""litellm: `completion(stream=True)`, its chunks put together by `stream_chunk_builder`."""

import litellm

from .observed import KEY, QUESTION, TIMEOUT, Observed, chat_tools


def observe(case: dict, url: str, seen: Observed) -> None:
    messages = [{"role": "user", "content": QUESTION}]
    to = (
        {"model": "anthropic/m", "api_base": url}
        if case["api"] == "anthropic-messages"
        else {"model": "openai/m", "api_base": f"{url}/v1"}
    )
    response = litellm.completion(
        messages=messages, tools=chat_tools(case), stream=True, api_key=KEY, timeout=TIMEOUT, max_retries=0, **to
    )
    choice = litellm.stream_chunk_builder(list(response), messages=messages).choices[0]
    seen.finish = choice.finish_reason
    for call in choice.message.tool_calls or ():
        seen.calls.append((call.function.name, call.function.arguments))
