"""smolagents: `OpenAIModel.generate_stream` and its `agglomerate_stream_deltas`, whose message is what an agent is handed."""

from smolagents import OpenAIModel
from smolagents.models import agglomerate_stream_deltas

from .observed import KEY, QUESTION, TIMEOUT, Observed, chat_tools


def observe(case: dict, url: str, seen: Observed) -> None:
    client = {"max_retries": 0, "timeout": TIMEOUT}
    model = OpenAIModel("m", api_base=f"{url}/v1", api_key=KEY, client_kwargs=client, retry=False)
    messages = [{"role": "user", "content": [{"type": "text", "text": QUESTION}]}]
    message = agglomerate_stream_deltas(list(model.generate_stream(messages, tools=chat_tools(case))))
    for call in message.tool_calls or ():
        seen.calls.append((call.function.name, call.function.arguments))
