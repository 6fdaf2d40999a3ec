"""openai-agents: `Runner.run_streamed` over Chat Completions, tools by `function_tool`."""

import asyncio

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

from .observed import KEY, QUESTION, TIMEOUT, Observed, functions

set_tracing_disabled(True)


def observe(case: dict, url: str, seen: Observed) -> None:
    async def run():
        client = AsyncOpenAI(api_key=KEY, base_url=f"{url}/v1", max_retries=0, timeout=TIMEOUT)
        model = OpenAIChatCompletionsModel("m", openai_client=client)
        agent = Agent("a", model=model, tools=[function_tool(function) for function in functions(case, seen.ran)])
        async for _ in Runner.run_streamed(agent, QUESTION, max_turns=4).stream_events():
            pass

    asyncio.run(run())
