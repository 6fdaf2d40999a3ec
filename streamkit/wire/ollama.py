"""Ollama `/api/chat`: one JSON object a line, calls whole, `done` on the last line."""

from ..events import CallDelta, CallFinished, TextDelta, ThinkingDelta
from .ndjson import NDJSONDecoder
from .reader import Reader, text


class Ollama(Reader):
    """Calls add up over lines; a later line never replaces an earlier one (case 081)."""

    decoder = NDJSONDecoder

    def __init__(self):
        super().__init__()
        self._count = 0

    def read(self, payload: dict, at: float, events: list) -> None:
        message = payload.get("message") or {}
        if message.get("thinking"):
            events.append(ThinkingDelta(at, None, text(message["thinking"])))
        if message.get("content"):
            events.append(TextDelta(at, None, text(message["content"])))
        for call in message.get("tool_calls") or ():
            function = call.get("function") or {}
            arguments = function.get("arguments")
            arguments = self.whole_object(arguments) if isinstance(arguments, dict) else text(arguments)
            events.append(CallDelta(at, self._count, text(call.get("id")), text(function.get("name")), arguments))
            events.append(CallFinished(at, self._count))
            self._count += 1
        if payload.get("done"):
            self.over = True
            self.finish(events, at, payload.get("done_reason") or "done")
