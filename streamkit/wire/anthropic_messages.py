"""Anthropic Messages: indexed content blocks, each with a start, deltas and a stop.

The stop reason arrives in `message_delta` and counts at `message_stop`. `content_block_stop` closes a block, not the
thought: under a limit it closes the last block over cut arguments (case 055).
"""

from ..events import ArgumentSnapshot, CallDelta, CallFinished, Opaque, TextDelta, ThinkingDelta
from .reader import Reader, key, text

CALLS = {"tool_use": "client", "server_tool_use": "server", "mcp_tool_use": "server"}


class AnthropicMessages(Reader):
    def __init__(self):
        super().__init__()
        self._reason = ""
        self._calls: set = set()  # indexes of the blocks that are calls
        self._preset: set = set()  # calls whose block start held an input, which the first delta replaces (case 084)

    def read(self, payload: dict, at: float, events: list) -> None:
        kind = payload.get("type")
        if kind == "content_block_delta":
            self._delta(key(payload.get("index")), payload["delta"], at, events)
        elif kind == "content_block_start":
            self._start(key(payload.get("index")), payload["content_block"], at, events)
        elif kind == "content_block_stop":
            index = key(payload.get("index"))
            if index in self._calls:
                events.append(CallFinished(at, index))
        elif kind == "message_delta":
            self._reason = text((payload.get("delta") or {}).get("stop_reason")) or self._reason
        elif kind == "message_stop":
            self.over = True
            if self._reason:
                self.finish(events, at, self._reason)

    def _start(self, index, block: dict, at: float, events: list) -> None:
        kind = block.get("type")
        if kind in CALLS:
            self._calls.add(index)
            events.append(CallDelta(at, index, text(block.get("id")), text(block.get("name")), "", CALLS[kind]))
            if block.get("input"):
                self._preset.add(index)
                events.append(ArgumentSnapshot(at, index, self.whole_object(block["input"])))
        elif kind == "text":
            events.append(TextDelta(at, index, text(block.get("text"))))
        elif kind == "thinking":
            events.append(ThinkingDelta(at, index, text(block.get("thinking"))))
        else:
            events.append(Opaque(at, index, block))

    def _delta(self, index, delta: dict, at: float, events: list) -> None:
        kind = delta.get("type")
        if kind == "input_json_delta":
            piece = text(delta.get("partial_json"))
            if piece and index in self._preset:
                self._preset.remove(index)
                events.append(ArgumentSnapshot(at, index, piece))
            else:
                events.append(CallDelta(at, index, None, None, piece))
        elif kind == "text_delta":
            events.append(TextDelta(at, index, text(delta.get("text"))))
        elif kind == "thinking_delta":
            events.append(ThinkingDelta(at, index, text(delta.get("thinking"))))
        else:  # signatures, citations: kept beside the block they belong to
            events.append(Opaque(at, index, delta))
