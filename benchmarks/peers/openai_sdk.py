"""openai: `chat.completions.stream` and `responses.stream`, up to the final completion that they hand over."""

import openai

from .observed import KEY, QUESTION, TIMEOUT, Observed, chat_tools


def observe(case: dict, url: str, seen: Observed) -> None:
    client = openai.OpenAI(api_key=KEY, base_url=f"{url}/v1", max_retries=0, timeout=TIMEOUT)
    if case["api"] == "openai-responses":
        tools = [{"type": "function", "strict": False, **tool} for tool in case["tools"]]
        with client.responses.stream(model="m", input=QUESTION, tools=tools) as stream:
            for _ in stream:
                pass
            response = stream.get_final_response()
        seen.finish = response.status
        for item in response.output:
            if item.type == "function_call":
                seen.calls.append((item.name, item.arguments))
        return
    messages = [{"role": "user", "content": QUESTION}]
    with client.chat.completions.stream(model="m", messages=messages, tools=chat_tools(case)) as stream:
        for _ in stream:
            pass
        choice = stream.get_final_completion().choices[0]
    seen.finish = choice.finish_reason
    for call in choice.message.tool_calls or ():
        seen.calls.append((call.function.name, call.function.arguments))
