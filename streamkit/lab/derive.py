"""A second boundary set: each call's closing event moved behind its call's last fragment.

The local model server sends every call's closing event in the same read as the turn's end, so in its captures call completion
and turn completion coincide. Providers that close each call by itself send the closing event right behind the last fragment.
A derived capture shows that order; it is an edit, says so in its header (`derived`), and must be named so wherever it is shown.
"""

import json
from typing import NamedTuple

from streamkit.lab.capture_lines import Read
from streamkit.lab.captures import Capture

DERIVED = "each call's closing event moved behind its call's last fragment"


class Frame(NamedTuple):
    """One server-sent event of a body: the time of the read that completed it, its bytes, its decoded data (None if none)."""

    at: float
    raw: bytes
    data: dict | None


def derived(capture: Capture) -> Capture | None:
    """The capture with each closing event at its call's last fragment, at that fragment's time; None where there is nothing to move.

    Only for captures in which all closing events came in the read that ended the turn. Chat Completions has no such events.
    The reads are cut anew at event boundaries; bytes, apart from their order, and the ending stay as they were.
    """
    if capture.api not in ("anthropic-messages", "openai-responses"):
        return None
    frames, rest = split_frames(capture)
    last, closing, ended = _places(frames)
    moves = {place: last[key] for place, key in closing.items() if key in last}
    if not moves or ended is None or any(frames[place].at != frames[ended].at for place in closing):
        return None
    if all(frames[place].at == frames[to].at for place, to in moves.items()):
        return None
    behind: dict[int, list[int]] = {}
    for place, to in moves.items():
        behind.setdefault(to, []).append(place)
    reads: list[Read] = []
    for place, frame in enumerate(frames):
        if place not in moves:
            _append(reads, frame.at, frame.raw)
            for moved in behind.get(place, ()):
                _append(reads, frame.at, frames[moved].raw)
    if rest:
        _append(reads, capture.ended_at, rest)
    header = capture.header | {"derived": DERIVED}
    path = capture.path.with_name(f"{capture.name}-derived.jsonl")
    return Capture(path, header, reads, capture.ended_at, capture.ending)


def split_frames(capture: Capture) -> tuple[list[Frame], bytes]:
    """The body's server-sent events (each with its blank line) and what follows the last of them."""
    frames, held = [], bytearray()
    for at, data in capture.reads:
        seen = max(len(held) - 1, 0)  # a blank line may be split over two reads
        held += data
        while (end := held.find(b"\n\n", seen)) >= 0:
            raw = bytes(held[: end + 2])
            del held[: end + 2]
            seen = 0
            frames.append(Frame(at, raw, _data(raw)))
    return frames, bytes(held)


def _data(raw: bytes) -> dict | None:
    text = "\n".join(line[5:].decode("utf-8", "replace") for line in raw.split(b"\n") if line.startswith(b"data:"))
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _places(frames: list[Frame]) -> tuple[dict, dict[int, object], int | None]:
    """Where each call's last fragment is, which frames close which call, and where the turn ends."""
    last, closing, ended = {}, {}, None
    calls = set()
    for place, frame in enumerate(frames):
        data = frame.data or {}
        kind, item = data.get("type"), data.get("item") or {}
        if kind == "content_block_start" and (data.get("content_block") or {}).get("type") == "tool_use":
            calls.add(data.get("index"))
            last[data.get("index")] = place
        elif kind == "content_block_delta" and data.get("index") in calls:
            last[data["index"]] = place
        elif kind == "content_block_stop" and data.get("index") in calls:
            closing[place] = data["index"]
        elif kind == "response.output_item.added" and item.get("type") == "function_call":
            last[item.get("id")] = place
        elif kind == "response.function_call_arguments.delta":
            last[data.get("item_id")] = place
        elif kind == "response.function_call_arguments.done":
            closing[place] = data.get("item_id")
        elif kind == "response.output_item.done" and item.get("type") == "function_call":
            closing[place] = item.get("id")
        elif kind in ("message_stop", "response.completed", "response.incomplete", "response.failed"):
            ended = place
    return last, closing, ended


def _append(reads: list[Read], at: float, raw: bytes) -> None:
    if reads and reads[-1].at == at:
        reads[-1] = Read(at, reads[-1].data + raw)
    else:
        reads.append(Read(at, raw))
