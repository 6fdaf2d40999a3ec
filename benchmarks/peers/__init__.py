"""The published libraries that the cases are put through: for each its form, the APIs it is given, and what it is made of.

Each module of this folder has one `observe(case, url)`, which lets its library read the case from `url` and says what came of it.
"""

from typing import NamedTuple


class Peer(NamedTuple):
    """`form` is what is judged: `text` or `parsed` arguments that it hands over, or the tools that it `runs`.

    `module`: the file of this folder. `apis`: those of the cases that it is given. `packages`: its own distribution first.
    """

    form: str
    module: str
    apis: tuple[str, ...]
    packages: tuple[str, ...]

    @property
    def kind(self) -> str:
        return "framework, runs tools" if self.form == "runs" else f"reader, hands over {self.form}"


CHAT, RESPONSES, MESSAGES, GEMINI = "openai-chat", "openai-responses", "anthropic-messages", "gemini"

PEERS = {
    "anthropic": Peer("parsed", "anthropic_sdk", (MESSAGES,), ("anthropic",)),
    "google-genai": Peer("runs", "google_genai", (GEMINI,), ("google-genai",)),
    "langchain-core": Peer(
        "parsed",
        "langchain",
        (CHAT, MESSAGES, RESPONSES),
        ("langchain-core", "langchain-openai", "langchain-anthropic"),
    ),
    "litellm": Peer("text", "lite_llm", (CHAT, MESSAGES), ("litellm",)),
    "llm": Peer("runs", "llm_tool", (CHAT,), ("llm",)),
    "openai": Peer("text", "openai_sdk", (CHAT, RESPONSES), ("openai",)),
    "openai-agents": Peer("runs", "openai_agents", (CHAT,), ("openai-agents",)),
    "pydantic-ai-slim": Peer(
        "runs", "pydantic_agent", (CHAT, MESSAGES, RESPONSES), ("pydantic-ai-slim", "openai", "anthropic")
    ),
    "smolagents": Peer("text", "smol_agents", (CHAT,), ("smolagents", "openai")),
    "strands-agents": Peer("runs", "strands_agents", (CHAT, MESSAGES), ("strands-agents", "openai", "anthropic")),
}
