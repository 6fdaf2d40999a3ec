"""pydantic-ai: `Agent.run` with a handler of stream events, so that it streams; tools are plain functions."""

import asyncio

from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from .observed import KEY, QUESTION, TIMEOUT, Observed, functions


async def _read(context, events):
    async for _ in events:
        pass


def observe(case: dict, url: str, seen: Observed) -> None:
    async def run():
        common = {"api_key": KEY, "max_retries": 0, "timeout": TIMEOUT}
        if case["api"] == "anthropic-messages":
            client = AsyncAnthropic(base_url=url, **common)
            model = AnthropicModel("m", provider=AnthropicProvider(anthropic_client=client))
        else:
            kind = OpenAIResponsesModel if case["api"] == "openai-responses" else OpenAIChatModel
            model = kind("m", provider=OpenAIProvider(openai_client=AsyncOpenAI(base_url=f"{url}/v1", **common)))
        result = await Agent(model, tools=functions(case, seen.ran)).run(QUESTION, event_stream_handler=_read)
        seen.finish = result.response.finish_reason

    asyncio.run(run())
