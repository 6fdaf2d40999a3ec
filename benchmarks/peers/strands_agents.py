"""strands-agents: an `Agent` over its OpenAI and Anthropic models, which stream; tools by `tool`."""

from strands import Agent, tool
from strands.models.anthropic import AnthropicModel
from strands.models.openai import OpenAIModel

from .observed import KEY, QUESTION, TIMEOUT, Observed, functions


def observe(case: dict, url: str, seen: Observed) -> None:
    client = {"api_key": KEY, "max_retries": 0, "timeout": TIMEOUT}
    if case["api"] == "anthropic-messages":
        model = AnthropicModel(client_args=client | {"base_url": url}, model_id="m", max_tokens=99)
    else:
        model = OpenAIModel(client_args=client | {"base_url": f"{url}/v1"}, model_id="m")
    tools = [tool(function) for function in functions(case, seen.ran)]
    agent = Agent(model=model, tools=tools, callback_handler=None, retry_strategy=None)
    seen.finish = agent(QUESTION).stop_reason
