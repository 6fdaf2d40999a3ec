"""Memory and time at the edges: what is taken within a stated bound, and what is refused with a stated limit.

    python benchmarks/limits.py            about three minutes, the table of results/limits.md
    python benchmarks/limits.py --part 50  at a fiftieth of the size
    python benchmarks/limits.py fragments  one row

Every row runs in a process of its own, whose largest resident size the system tells (so not on Windows), and runs a second time
at a quarter of the size: four times as long is linear. Exit status 1 where an outcome or a bound is another than stated.
"""

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from streamkit.accumulator import Accumulator
from streamkit.events import CallDelta, Opaque, TurnFinished
from streamkit.fields import Fields
from streamkit.finalise import finalise
from streamkit.history import persist, problems
from streamkit.lab.captures import read_capture
from streamkit.lab.problem import Problem
from streamkit.preview import FieldMap, Preview
from streamkit.turn import BLOCKS, EVENTS, TurnBuilder
from streamkit.wire import reader

MB, READ = 10**6, 65_536
HEADER = b'{"format":"streamkit-capture","version":1,"api":"openai-chat"}\n'


def body(api: str, head: bytes, fill: bytes, size: int, tail: bytes = b"", read: int = READ) -> str:
    """The verdict on a response of `head`, `size` bytes of `fill`, and `tail`, in reads of `read` bytes."""
    wire, builder = reader(api), TurnBuilder()
    piece = fill * max(1, read // len(fill))
    events = wire.feed(head, 0.0)
    for _ in range(size // len(piece)):
        events += wire.feed(bytes(memoryview(piece)), 0.0)  # a copy each time, as a socket gives
    events += wire.feed(tail, 0.0) + wire.close("clean", 0.0)
    for event in events:
        builder.add(event)
    builder.end()
    return f"turn {builder.turn.verdict} ({builder.turn.reason})"


def event(size):
    return body("openai-chat", b"data: ", b"x", size)


def event_in_one_read(size):
    return body("openai-chat", b"data: ", b"x", size, read=size)


def event_of_short_lines(size):
    return body("openai-chat", b"", b"data: xy\n", size)


def line(size):
    return body("ollama", b'{"message":{"content":"', b"x", size)


def comment(size):
    return body("anthropic-messages", b": ", b"x", size)


def fragments_alone(count):
    held = Accumulator()
    held.add(CallDelta(0.0, 0, "a", "x"))
    for number in range(count):
        held.add(CallDelta(number * 1e-6, 0, None, None, str(number % 10)))
    assert len(held.calls[0].text) == count
    return "kept whole"


def fragments(count):
    builder = TurnBuilder()
    for number in range(count):
        builder.add(CallDelta(number * 1e-6, 0, None, "x" if not number else None, "1"))
    builder.add(TurnFinished(1.0, "stop"))
    builder.end()
    kept = len(builder.turn.calls[0].fragments)
    assert kept == min(count, EVENTS)
    return f"turn {builder.turn.verdict} ({builder.turn.reason})"


def frames(count):
    wire, builder = reader("openai-chat"), TurnBuilder()
    frame = b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"","arguments":"1"}}]}}]}\n\n'
    for _ in range(count // 100):
        for each in wire.feed(frame * 100, 0.0):
            builder.add(each)
    builder.end()
    return f"turn {builder.turn.verdict} ({builder.turn.reason})"


def blocks(count):
    builder = TurnBuilder()
    for number in range(count):
        builder.add(Opaque(0.0, count - number, {}))
    builder.end()
    assert len(builder.blocks) == min(count, BLOCKS + 1)
    return f"turn {builder.turn.verdict} ({builder.turn.reason})"


def finished(builder) -> str:
    """The whole way of a turn's calls: judged, run, stored, looked at."""
    builder.add(TurnFinished(1.0, "tool_calls"))
    builder.end()
    turn = builder.turn
    for call in turn.calls:
        call.effect, call.detail = "ran", {"result": "ok"}
    for api in ("openai-chat", "anthropic-messages"):
        assert not problems(persist(turn, api), api, turn)
    ready = sum(call.outcome == "ready" for call in turn.calls)
    return "all ready" if ready == len(turn.calls) else f"{ready} ready"


def open_calls(count):
    builder = TurnBuilder()
    for number in range(count):
        builder.add(CallDelta(0.0, count - number, f"id{number}", "x", "{"))
    for piece in ('"a"', ":", '"', "b", '"', "}"):
        for number in range(count):
            builder.add(CallDelta(0.5, count - number, None, None, piece))
    return finished(builder)


def calls_in_one_frame(count):
    calls = [{"function": {"name": "x", "arguments": {"a": number}}} for number in range(count)]
    frame = json.dumps({"message": {"tool_calls": calls}, "done": False}).encode() + b"\n"
    wire, builder = reader("ollama"), TurnBuilder()
    for each in wire.feed(frame, 0.0):
        builder.add(each)
    return finished(builder)


def nested_arguments(depth):
    final = finalise('{"a":' + "[" * depth + "]" * depth + "}", "x")
    return f"call {final.outcome} ({final.reason})"


def nested_frame(depth):
    frame = b'data: {"a":' + b"[" * depth + b"]" * depth + b"}\n\n"
    return body("openai-chat", frame, b"\n", READ)


def in_file(text: bytes, tail: bytes = b"", fill: bytes = b"x", size: int = 0, name: str = "c.jsonl") -> str:
    """What the reader of captures says of a file."""
    import gzip

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        with gzip.open(path, "wb", 1) if name.endswith("gz") else path.open("wb") as file:
            file.write(HEADER + text)
            for _ in range(size // READ):
                file.write(fill * READ)
            file.write(tail)
        try:
            return f"{len(read_capture(path).body)} bytes read"
        except Problem as problem:
            return f"refused: {str(problem).rpartition(f'{path}, ')[2]}"


def nested_line(depth):
    return in_file(b"[" * depth + b"\n")


def capture_line(size):
    return in_file(b'[0.1,"data","', b'"]\n[0.2,"end","clean"]\n', size=size)


def compressed_line(size):
    return in_file(b'[0.1,"data","', b'"]\n[0.2,"end","clean"]\n', size=size, name="c.jsonl.gz")


def wrong(text: str) -> str:
    """What the field scanner and the preview say of an argument text in fragments of seven characters."""
    fields = Fields()
    preview = Preview("x", {"x": FieldMap("X", {"a": "text"})})
    for start in range(0, len(text), 7):
        fields.feed(text[start : start + 7])
        preview.add(text[start : start + 7], start * 1e-6)
    assert "unreadable" in preview.to_text()
    return f"no field ({fields.wrong.reason})"


def nested_fields(depth):
    return wrong('{"a":' + "[" * depth + "]" * depth + "}")


def digits_in_fields(count):
    return wrong('{"a":' + "1" * count + "}")


def digits_in_arguments(count):
    final = finalise('{"a":' + "1" * count + "}", "x")
    return f"call {final.outcome} ({final.reason})"


def digits_in_a_frame(count):
    return body("openai-chat", b'data: {"a":', b"1", count, b"}\n\n")


def digits_in_a_line(count):
    return in_file(b'[0.1,"data",', b"]\n", b"1", count)


FAILED = "turn failed (protocol_error)"
ROWS = {  # name → (function, size, what is expected at full size, bound in MB above the bare process)
    "one event of 100 MB": (event, 100 * MB, FAILED, 150),
    "the same, in one read": (event_in_one_read, 100 * MB, FAILED, 250),
    "one event of 100 MB in lines of two bytes": (event_of_short_lines, 100 * MB, FAILED, 300),
    "one line of 100 MB (Ollama)": (line, 100 * MB, FAILED, 150),
    "one comment of 100 MB": (comment, 100 * MB, FAILED, 150),
    "10,000,000 fragments, accumulator alone": (fragments_alone, 10_000_000, "kept whole", 3_000),
    "10,000,000 fragments, a turn": (fragments, 10_000_000, FAILED, 350),
    "10,000,000 fragments off the wire": (frames, 10_000_000, FAILED, 350),
    "1,000,000 blocks, each before the last": (blocks, 1_000_000, FAILED, 50),
    "10,000 open calls, interleaved": (open_calls, 10_000, "all ready", 100),
    "10,000 calls in one frame": (calls_in_one_frame, 10_000, "all ready", 100),
    "100,000 levels in arguments": (nested_arguments, 100_000, "call unparseable (nested too deep)", 30),
    "100,000 levels in a frame": (nested_frame, 100_000, FAILED, 30),
    "100,000 levels in a capture's line": (nested_line, 100_000, "refused: line 2: nested too deeply", 30),
    "100,000 levels in the field scanner": (nested_fields, 100_000, "no field (nested too deep)", 30),
    "10,000,000 digits in arguments": (digits_in_arguments, 10_000_000, "call unparseable (number too long)", 100),
    "10,000,000 digits in a frame": (digits_in_a_frame, 10_000_000, FAILED, 150),
    "10,000,000 digits in a capture's line": (digits_in_a_line, 10_000_000, "refused: line 2: a number of thousands of digits", 150),
    "10,000,000 digits in the field scanner": (digits_in_fields, 10_000_000, "no field (number too long)", 400),
    "a capture's line of 100 MB": (capture_line, 100 * MB, "refused: line 2: longer than 67108864 bytes", 200),
    "the same, compressed": (compressed_line, 100 * MB, "refused: line 2: longer than 67108864 bytes", 200),
}  # fmt: skip


def child(name: str, part: int) -> None:
    """One row in this process: prints outcome, seconds, and MB above what the bare process had."""
    import resource

    unit = 1024 if sys.platform != "darwin" else 1  # kilobytes on Linux, bytes on macOS
    bare = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    function, size, *_ = ROWS[name]
    began = time.process_time()
    outcome = function(max(100, size // part))
    took = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    print(json.dumps([outcome, took, (peak - bare) / MB]))


def measured(name: str, part: int) -> tuple[str, float, float]:
    command = [sys.executable, __file__, "--child", name, "--part", str(part)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        return f"stopped: {done.stderr.strip().splitlines()[-1:]}", 0.0, 0.0
    return tuple(json.loads(done.stdout))


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("only", nargs="?", default="", help="rows whose name has this in it")
    options.add_argument("--part", type=int, default=1, help="a part of the size: outcomes are then not judged")
    options.add_argument("--child", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.child:
        child(chosen.child, chosen.part)
        return 0
    print(f"Python {platform.python_version()}, {platform.system()}, {platform.machine()}\n")
    print("| what comes | outcome | seconds | of a quarter | MB | bound, MB |\n|---|---|---:|---:|---:|---:|")
    missed = False
    for name, (_, _, expected, bound) in ROWS.items():
        if chosen.only not in name:
            continue
        _, before, _ = measured(name, chosen.part * 4)
        outcome, took, peak = measured(name, chosen.part)
        right = chosen.part > 1 or outcome == expected
        missed |= not right or peak > bound
        marks = "" if right else f" (expected: {expected})"
        over = " **over**" if peak > bound else ""
        print(f"| {name} | {outcome}{marks} | {took:.2f} | {before:.2f} | {peak:,.0f}{over} | {bound:,} |", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
