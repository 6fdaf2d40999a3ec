"""Gemini `streamGenerateContent` (alt=sse): whole calls, or calls in `partialArgs`, a JSON path and a piece each.

A part with a name and no `willContinue` is a whole call. Otherwise the call stays open until a `functionCall` without
`willContinue`, or the finish; its arguments are assembled path by path, and their text is made once, at that moment.
"""

import json
import re
from itertools import pairwise

from ..events import CallDelta, CallFinished, Opaque, TextDelta, ThinkingDelta
from ..strict import DEPTH
from .reader import Reader, text

STEP = re.compile(r"\.([^.\[\]'\"]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\[\"((?:[^\"\\]|\\.)*)\"\]")
VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")


class Gemini(Reader):
    """`candidates` frames; only the first candidate is the turn. Calls are numbered across frames (case 078)."""

    def __init__(self):
        super().__init__()
        self._count = 0
        self._forming: Assembly | None = None

    def read(self, payload: dict, at: float, events: list) -> None:
        blocked = (payload.get("promptFeedback") or {}).get("blockReason")
        if blocked:
            self.finish(events, at, blocked)
        for candidate in payload.get("candidates") or ():
            if candidate.get("index"):
                continue
            for part in (candidate.get("content") or {}).get("parts") or ():
                self._part(part, at, events)
            if candidate.get("finishReason"):
                self.leave(events, at)
                self.finish(events, at, candidate["finishReason"])

    def leave(self, events: list, at: float) -> None:
        """The open call's text as far as it was assembled; the finish, or its absence, says what it is worth."""
        if self._forming is not None:
            arguments = self._forming.text()
            events.append(CallDelta(at, self._count, None, None, arguments))
            self._forming = None

    def _part(self, part: dict, at: float, events: list) -> None:
        if "functionCall" in part:
            self._call(part["functionCall"], at, events)
            if part.get("thoughtSignature"):
                events.append(Opaque(at, self._count, {"thoughtSignature": part["thoughtSignature"]}))
        elif part.get("text"):
            event = ThinkingDelta if part.get("thought") else TextDelta
            events.append(event(at, None, text(part["text"])))
        elif part and "text" not in part:
            events.append(Opaque(at, None, part))

    def _call(self, call: dict, at: float, events: list) -> None:
        if call.get("name"):
            self.leave(events, at)
            self._count += 1
            events.append(CallDelta(at, self._count, text(call.get("id")), text(call["name"])))
            self._forming = Assembly()
        if self._forming is None:
            if call:
                raise ValueError("pieces of a call that was never named")
            return
        if call.get("args"):
            self._forming.whole(json.loads(self.whole_object(call["args"])))
        for piece in call.get("partialArgs") or ():
            self._forming.add(piece)
        if not call.get("willContinue"):
            self.leave(events, at)
            events.append(CallFinished(at, self._count))


class Text(list):
    """A string that is still growing: its pieces."""


class Assembly:
    """Arguments that arrive as (path, piece): put together as they come, made into text once."""

    def __init__(self):
        self._root: dict = {}
        self._begun = False

    def whole(self, arguments: dict) -> None:
        self._root, self._begun = arguments, True

    def add(self, piece: dict) -> None:
        """One `partialArgs` entry. Raises ValueError for a path that does not fit what has come before."""
        path = piece["jsonPath"]
        steps = [
            int(number) if number else name or quoted or double for name, number, quoted, double in STEP.findall(path)
        ]
        if len(steps) > DEPTH:
            raise ValueError(f"a JSON path of at most {DEPTH} steps was expected, {len(steps)} came")
        if not steps or "$" + "".join(m.group() for m in STEP.finditer(path)) != path:
            raise ValueError(f"a JSON path of names and indexes was expected, {path!r} came")
        self._begun = True
        place = self._root
        for step, after in pairwise(steps):
            place = self._enter(place, step, [] if isinstance(after, int) else {})
        value = next((piece[name] for name in VALUES if name in piece), None)
        if isinstance(value, str):
            self._enter(place, steps[-1], Text()).append(value)
        else:
            self._enter(place, steps[-1], None)
            place[steps[-1]] = value

    @staticmethod
    def _enter(place, step, fresh):
        if isinstance(step, int):
            if not isinstance(place, list) or isinstance(place, Text) or step > len(place):
                raise ValueError(f"index {step} has no place")
            if step == len(place):
                place.append(fresh)
            return place[step]
        return place.setdefault(step, fresh)

    def text(self) -> str:
        """The arguments as JSON text; "" where nothing came."""
        return json.dumps(joined(self._root), ensure_ascii=False, separators=(",", ":")) if self._begun else ""


def joined(value):
    if isinstance(value, Text):
        return "".join(value)
    if isinstance(value, list):
        return [joined(item) for item in value]
    if isinstance(value, dict):
        return {name: joined(item) for name, item in value.items()}
    return value
