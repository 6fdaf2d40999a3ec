"""Bytes → events, one file per API. Nothing here knows a socket, a file or a clock."""

from .anthropic_messages import AnthropicMessages
from .gemini import Gemini
from .ollama import Ollama
from .openai_chat import OpenAIChat
from .openai_responses import OpenAIResponses
from .reader import Reader

READERS: dict[str, type[Reader]] = {
    "openai-chat": OpenAIChat,
    "openai-responses": OpenAIResponses,
    "anthropic-messages": AnthropicMessages,
    "gemini": Gemini,
    "ollama": Ollama,
}
APIS = tuple(READERS)


class UnknownAPI(ValueError):
    """The name of an API that the kit does not read."""


def reader(api: str) -> Reader:
    """A fresh reader for one response of `api`. Raises UnknownAPI."""
    if api not in READERS:
        raise UnknownAPI(f"an api was expected (one of {', '.join(APIS)}), {api!r} came")
    return READERS[api]()
