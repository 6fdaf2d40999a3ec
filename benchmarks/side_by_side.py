"""What the benchmarks share: runners in turns, ratios with their spread, streams to read, the machine in one line.

Times are processor seconds of this process. All runners go in turns within one round and the order moves on with each round; a
ratio compares one round with itself, so that what else a machine does changes both sides.
"""

import gc
import importlib.metadata
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

CAPTURES = Path(__file__).resolve().parents[1] / "data" / "captures"
Times = dict[str, list[float]]


def in_turns(runners: dict[str, Callable[[], object]], rounds: int) -> Times:
    """Name → processor seconds, one for each round. One unmeasured run of each comes first."""
    names = list(runners)
    for run in runners.values():
        run()
    times: Times = {name: [] for name in names}
    for number in range(rounds):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            gc.collect()
            begin = time.process_time()
            runners[name]()
            times[name].append(time.process_time() - begin)
    return times


def ratio(times: Times, name: str, ours: str = "streamkit") -> tuple[float, str]:
    """How many times as long as ours: the median over the rounds, and that with its spread in words."""
    found = [theirs / own for theirs, own in zip(times[name], times[ours], strict=True)]
    return statistics.median(found), spread(found)


def spread(values: list[float]) -> str:
    """The median with the least and the most."""
    digits = 1 if statistics.median(values) < 20 else 0
    return f"{statistics.median(values):,.{digits}f} ({min(values):,.{digits}f} to {max(values):,.{digits}f})"


def goal(value: float, least: float) -> str:
    """A goal and whether it is met: `least`: what was to be reached."""
    return f"{least:,}: {'met' if value >= least else 'MISSED'}"


def about(*packages: str) -> str:
    """Python, the machine, and the versions of the packages that are installed, in one line."""
    found = []
    for name in packages:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"{name}: not installed, left out")
    return ", ".join([f"Python {platform.python_version()}", f"{processor()}, {os.cpu_count()} cores", *found])


def processor() -> str:
    """The processor's name, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def table(columns: list[str], rows: list[list[str]]) -> None:
    """Print a Markdown table."""
    for row in (columns, ["---"] * len(columns), *rows):
        print(f"| {' | '.join(row)} |")
    print(flush=True)


def cut(body: bytes, size: int) -> list[bytes]:
    """The body in reads of `size` bytes."""
    return [body[at : at + size] for at in range(0, len(body), size)]


def one_call(api: str, fragments: int) -> bytes:
    """A response with one call of so many fragments of 4 characters, framed as the API's provider frames it."""
    arguments = json.dumps({"text": "x" * (4 * fragments - 12)})
    pieces = [arguments[at : at + 4] for at in range(0, len(arguments), 4)]
    return b"".join((_chat if api == "openai-chat" else _messages)(pieces))


def _chat(pieces: list[str]) -> list[bytes]:
    def frame(delta: dict, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        whole = {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [choice],
        }
        return f"data: {json.dumps(whole, separators=(',', ':'))}\n\n".encode()

    named = {
        "index": 0,
        "id": "call_1",
        "type": "function",
        "function": {"name": "note", "arguments": ""},
    }
    frames = [frame({"role": "assistant", "content": None, "tool_calls": [named]})]
    frames += [frame({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}) for piece in pieces]
    return [*frames, frame({}, "tool_calls"), b"data: [DONE]\n\n"]


def _messages(pieces: list[str]) -> list[bytes]:
    def frame(kind: str, **more) -> bytes:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **more}, separators=(',', ':'))}\n\n".encode()

    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None,
               "stop_sequence": None, "usage": usage}  # fmt: skip
    block = {"type": "tool_use", "id": "toolu_1", "name": "note", "input": {}}
    return [
        frame("message_start", message=message),
        frame("content_block_start", index=0, content_block=block),
        *(frame("content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": p}) for p in pieces),
        frame("content_block_stop", index=0),
        frame("message_delta", delta={"stop_reason": "tool_use", "stop_sequence": None}, usage={"output_tokens": 9}),
        frame("message_stop"),
    ]
