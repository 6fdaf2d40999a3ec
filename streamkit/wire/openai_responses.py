"""OpenAI Responses: output items, each added, filled by deltas, and done.

The closing item decides a call's id and text, since the answer must refer to it. The final snapshot may replace the
text of a streamed call that has no closing item; it never adds a call (cases/FORMAT.md, rule 7).
"""

from ..events import ArgumentSnapshot, CallDelta, CallFinished, Opaque, TextDelta, ThinkingDelta
from .reader import Reader, key, provider_error, text

FUNCTIONS = ("function_call", "custom_tool_call")
RUN_BY_CLIENT = ("computer_call", "local_shell_call", "apply_patch_call")
REQUESTS = ("mcp_approval_request",)


class OpenAIResponses(Reader):
    """Items are keyed by `output_index`, or by the item's id where a server sends no index."""

    def __init__(self):
        super().__init__()
        self._open: dict = {}  # key → call_id of a call without its closing item
        self._calls: set = set()
        self._spoken: set = set()  # keys of the message items whose text has come
        self._refused = False

    def read(self, payload: dict, at: float, events: list) -> None:
        kind = payload.get("type") or ""
        if kind.endswith("_call_arguments.delta") or kind == "response.custom_tool_call_input.delta":
            events.append(CallDelta(at, self._key(payload), None, None, text(payload.get("delta"))))
        elif kind in ("response.output_text.delta", "response.refusal.delta"):
            self._say(payload, payload.get("delta"), at, events)
            self._refused |= kind == "response.refusal.delta"
        elif kind in ("response.reasoning_summary_text.delta", "response.reasoning_text.delta"):
            events.append(ThinkingDelta(at, self._key(payload), text(payload.get("delta"))))
        elif kind == "response.output_item.added":
            self._added(payload["item"], self._key(payload), at, events)
        elif kind == "response.output_item.done":
            self._closed(payload["item"], payload, at, events)
        elif kind.endswith("_call_arguments.done"):
            if text(payload.get("arguments")):
                events.append(ArgumentSnapshot(at, self._key(payload), payload["arguments"]))
        elif kind in ("response.completed", "response.incomplete", "response.failed", "response.cancelled"):
            self._end(kind.removeprefix("response."), payload.get("response") or {}, at, events)
        elif kind == "error":
            self.fail(events, at, provider_error(payload))

    def _key(self, payload: dict):
        index = payload.get("output_index")
        return key(index if index is not None else payload.get("item_id") or (payload.get("item") or {}).get("id"))

    def _say(self, payload: dict, piece, at: float, events: list) -> None:
        index = self._key(payload)
        self._spoken.add(index)
        events.append(TextDelta(at, index, text(piece)))

    def _added(self, item: dict, index, at: float, events: list) -> None:
        kind = text(item.get("type"))
        if not (kind.endswith("_call") or kind in REQUESTS):
            return
        self._calls.add(index)
        self._open[index] = item.get("call_id") or item.get("id")
        name = text(item.get("name")) or ("" if kind in FUNCTIONS else kind)
        identity = text(item.get("call_id")) or (text(item.get("id")) if kind not in FUNCTIONS else "")
        events.append(
            CallDelta(at, index, identity, name, "", who_runs(item), None if kind == "function_call" else kind)
        )

    def _closed(self, item: dict, payload: dict, at: float, events: list) -> None:
        index, kind = self._key(payload), text(item.get("type"))
        if kind.endswith("_call") or kind in REQUESTS:
            if index not in self._calls:  # no announcement came: the closing item is all there is
                self._added(item, index, at, events)
            self._open.pop(index, None)
            arguments = item.get("arguments", item.get("input"))
            arguments = self.whole_object(arguments) if isinstance(arguments, dict) else text(arguments)
            complete = item.get("status") in (None, "", "completed")
            events.append(CallFinished(at, index, text(item.get("call_id")), arguments, complete))
        elif kind == "message":
            if index not in self._spoken:
                for part in item.get("content") or ():
                    self._say(payload, part.get("text") or part.get("refusal"), at, events)
            self._refused |= any(part.get("type") == "refusal" for part in item.get("content") or ())
        else:
            events.append(Opaque(at, index, item))

    def _end(self, kind: str, response: dict, at: float, events: list) -> None:
        self.over = True
        if kind == "failed":
            self.fail(events, at, provider_error(response.get("error")))
        elif kind == "incomplete":
            self.finish(events, at, (response.get("incomplete_details") or {}).get("reason") or "incomplete")
        elif kind == "completed":
            held = {call_id: index for index, call_id in self._open.items() if call_id}
            for item in response.get("output") or ():
                if item.get("type") in FUNCTIONS and item.get("call_id") in held and text(item.get("arguments")):
                    events.append(ArgumentSnapshot(at, held[item["call_id"]], item["arguments"]))
            self.finish(events, at, "refusal" if self._refused else "completed")
        else:
            self.finish(events, at, kind)


def who_runs(item: dict) -> str:
    """ "client" for calls that wait for us, "server" for those that the provider runs itself."""
    kind = item["type"]
    if kind in FUNCTIONS or kind in RUN_BY_CLIENT:
        return "client"
    if kind == "tool_search_call":
        return "client" if item.get("execution") == "client" else "server"
    if kind == "shell_call":
        return "client" if (item.get("environment") or {}).get("type") == "local" else "server"
    return "server"
