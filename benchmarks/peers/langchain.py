"""langchain-core: a chat model's chunks added up, with langchain-openai and langchain-anthropic; `tool_calls` are parsed."""

from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI

from .observed import KEY, QUESTION, TIMEOUT, Observed, chat_tools


def observe(case: dict, url: str, seen: Observed) -> None:
    common = {"model": "m", "api_key": KEY, "max_retries": 0, "timeout": TIMEOUT}
    if case["api"] == "anthropic-messages":
        model = ChatAnthropic(base_url=url, max_tokens=99, **common)
    else:
        model = ChatOpenAI(base_url=f"{url}/v1", use_responses_api=case["api"] == "openai-responses", **common)
    whole = None
    for chunk in model.bind_tools(chat_tools(case)).stream(QUESTION):
        whole = chunk if whole is None else whole + chunk
    said = whole.response_metadata
    seen.finish = said.get("finish_reason") or said.get("stop_reason") or said.get("status")
    seen.calls += [(call["name"], call["args"]) for call in whole.tool_calls]
