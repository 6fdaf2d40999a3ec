"""The published clients as runners over given bytes: name → (API, function of a list of responses, each a list of reads).

Nothing goes over a socket: a transport inside the client's own HTTP library hands over the reads. Each client is used as its
documentation says, up to the calls that it hands over; retries are off.
"""

import asyncio
from collections.abc import Callable

HEADERS = {"content-type": "text/event-stream; charset=utf-8"}
ASKED = {"model": "m", "messages": [{"role": "user", "content": "?"}]}
KEY = {"api_key": "none", "base_url": "http://127.0.0.1:9/v1", "max_retries": 0}
Run = Callable[[list[list[bytes]]], int]


class Wire:
    """The transport: `next` is the response that the next request gets."""

    def __init__(self):
        try:
            import httpx2 as http
        except ImportError:  # the clients' older versions
            import httpx as http

        self.http, self.next = http, []
        wire = self

        class Body(http.SyncByteStream, http.AsyncByteStream):
            def __iter__(self):
                return iter(wire.next)

            async def __aiter__(self):
                for read in wire.next:
                    yield read

        def answer(request):
            return http.Response(200, headers=HEADERS, stream=Body())

        self.client = http.Client(transport=http.MockTransport(answer))
        self.async_client = http.AsyncClient(transport=http.MockTransport(answer))


def openai_raw() -> tuple[str, Run]:
    import openai

    wire = Wire()
    client = openai.OpenAI(http_client=wire.client, **KEY)
    return "openai-chat", _iterated(wire, lambda: client.chat.completions.create(stream=True, **ASKED))


def openai_stream() -> tuple[str, Run]:
    import openai

    wire = Wire()
    client = openai.OpenAI(http_client=wire.client, **KEY)

    def calls(stream) -> int:
        for _ in stream:
            pass
        return len(stream.get_final_completion().choices[0].message.tool_calls or ())

    return "openai-chat", _collected(wire, lambda: client.chat.completions.stream(**ASKED), calls)


def anthropic_raw() -> tuple[str, Run]:
    import anthropic

    wire = Wire()
    client = anthropic.Anthropic(http_client=wire.client, **KEY)
    return "anthropic-messages", _iterated(wire, lambda: client.messages.create(stream=True, max_tokens=9, **ASKED))


def anthropic_stream() -> tuple[str, Run]:
    import anthropic

    wire = Wire()
    client = anthropic.Anthropic(http_client=wire.client, **KEY)

    def calls(stream) -> int:
        return sum(block.type == "tool_use" for block in stream.get_final_message().content)

    return "anthropic-messages", _collected(wire, lambda: client.messages.stream(max_tokens=9, **ASKED), calls)


def _iterated(wire: Wire, begin: Callable) -> Run:
    """Every chunk of a raw stream is taken, and none kept."""
    return lambda responses: sum(1 for wire.next in responses for _ in begin())


def _collected(wire: Wire, begin: Callable, calls: Callable) -> Run:
    """A helper that collects; `calls` reads to the end and counts."""

    def run(responses):
        found = 0
        for wire.next in responses:
            with begin() as stream:
                found += calls(stream)
        return found

    return run


def langchain_openai() -> tuple[str, Run]:
    from langchain_openai import ChatOpenAI

    wire = Wire()
    model = ChatOpenAI(model="m", http_client=wire.client, **KEY)
    return "openai-chat", _added(wire, model)


def langchain_anthropic() -> tuple[str, Run]:
    import anthropic
    from langchain_anthropic import ChatAnthropic

    wire = Wire()
    model = ChatAnthropic(model="claude-x", api_key="none", max_retries=0)
    model.__dict__["_client"] = anthropic.Anthropic(http_client=wire.client, **KEY)  # it takes no client of its own
    return "anthropic-messages", _added(wire, model)


def _added(wire: Wire, model) -> Run:
    def run(responses):
        calls = 0
        for wire.next in responses:
            whole = None
            for chunk in model.stream("?"):
                whole = chunk if whole is None else whole + chunk
            calls += len(whole.tool_calls)
        return calls

    return run


def pydantic_ai_openai() -> tuple[str, Run]:
    import openai
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    wire = Wire()
    client = openai.AsyncOpenAI(http_client=wire.async_client, **KEY)
    return "openai-chat", _requested(wire, OpenAIChatModel("m", provider=OpenAIProvider(openai_client=client)))


def pydantic_ai_anthropic() -> tuple[str, Run]:
    import anthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    wire = Wire()
    client = anthropic.AsyncAnthropic(http_client=wire.async_client, **KEY)
    return "anthropic-messages", _requested(
        wire, AnthropicModel("m", provider=AnthropicProvider(anthropic_client=client))
    )


def _requested(wire: Wire, model) -> Run:
    from pydantic_ai.direct import model_request_stream
    from pydantic_ai.messages import ModelRequest

    async def all_of(responses):
        calls = 0
        for wire.next in responses:
            async with model_request_stream(model, [ModelRequest.user_text_prompt("?")]) as stream:
                async for _ in stream:
                    pass
                calls += sum(part.part_kind == "tool-call" for part in stream.get().parts)
        return calls

    return lambda responses: asyncio.run(all_of(responses))


MAKERS = {
    "openai, raw stream": openai_raw,
    "openai, `.stream`": openai_stream,
    "anthropic, raw stream": anthropic_raw,
    "anthropic, `messages.stream`": anthropic_stream,
    "langchain-openai": langchain_openai,
    "langchain-anthropic": langchain_anthropic,
    "pydantic-ai, Chat": pydantic_ai_openai,
    "pydantic-ai, Messages": pydantic_ai_anthropic,
}
PACKAGES = ("openai", "anthropic", "langchain-core", "langchain-openai", "langchain-anthropic", "pydantic-ai-slim")


def installed() -> dict[str, tuple[str, Run]]:
    """The clients that can be imported; the others are named on the screen."""
    found = {}
    for name, make in MAKERS.items():
        try:
            found[name] = make()
        except ImportError as error:
            print(f"Not installed and left out: {name} ({error.name})")
    return found
