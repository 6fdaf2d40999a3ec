"""OpenAI Chat Completions, and the many servers that speak it.

A call's fragments carry `index`; the id and the name come with the first one. There is no completion event of a call,
only the finish reason of the turn. `[DONE]` closes the transport and decides nothing.
"""

from ..events import CallDelta, TextDelta, ThinkingDelta
from .reader import Reader, key, provider_error, text


class OpenAIChat(Reader):
    """`chat.completion.chunk` frames. Only the first of several choices is the turn."""

    def __init__(self):
        super().__init__()
        self._refused = False

    def read(self, payload: dict, at: float, events: list) -> None:
        for choice in payload.get("choices") or ():
            if choice.get("index"):
                continue
            if choice.get("error"):
                self.fail(events, at, provider_error(choice["error"]))
                return
            delta = choice.get("delta")
            if delta:
                self._read_delta(delta, at, events)
            reason = choice.get("finish_reason")
            if reason:  # after the delta: the last fragment may come with it (case 041)
                self.finish(events, at, "refusal" if self._refused and reason == "stop" else reason)

    def _read_delta(self, delta: dict, at: float, events: list) -> None:
        thinking = delta.get("reasoning_content") or delta.get("reasoning")
        if thinking and isinstance(thinking, str):
            events.append(ThinkingDelta(at, None, thinking))
        content = delta.get("content")
        if content:
            if isinstance(content, str):
                events.append(TextDelta(at, None, content))
            else:
                self._read_parts(content, at, events)
        if delta.get("refusal"):
            self._refused = True
            events.append(TextDelta(at, None, text(delta["refusal"])))
        for call in delta.get("tool_calls") or ():
            function = call.get("function") or {}
            arguments = function.get("arguments")
            if isinstance(arguments, dict):  # case 020
                arguments = self.whole_object(arguments)
            events.append(
                CallDelta(at, key(call.get("index")), text(call.get("id")), text(function.get("name")), text(arguments))
            )
        if delta.get("function_call"):  # the form before tool_calls: one call, no index, no id
            function = delta["function_call"]
            events.append(
                CallDelta(at, "function_call", None, text(function.get("name")), text(function.get("arguments")))
            )

    @staticmethod
    def _read_parts(parts: list, at: float, events: list) -> None:
        """Content as a list of parts, as Mistral sends it: text, and thinking that holds text."""
        for part in parts:
            if part.get("type") == "text":
                events.append(TextDelta(at, None, text(part.get("text"))))
            elif part.get("type") == "thinking":
                inner = part.get("thinking")
                pieces = [inner] if isinstance(inner, str) else [text(p.get("text")) for p in inner or ()]
                events.extend(ThinkingDelta(at, None, piece) for piece in pieces)
