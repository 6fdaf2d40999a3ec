"""Decoding server-sent events: streamkit's decoder beside httpx-sse and those inside the official clients.

    python benchmarks/sse.py            about a minute
    python benchmarks/sse.py --check    exit status 1 where a goal is missed

Every decoder gets the same bytes in the same reads and must find the same number of events with the same data. httpx-sse is used
as its own documentation uses it, over a response of httpx.
"""

import argparse
import statistics
import sys

from side_by_side import CAPTURES, about, cut, goal, in_turns, ratio, table

from streamkit.lab.captures import find_captures, read_capture
from streamkit.wire.sse import SSEDecoder

READS = (1_400, 65_536)  # bytes: what one packet of a network carries, and what a fast local one hands over
SIZE = 3_000_000  # bytes of each kind of stream
MEGABYTES_A_SECOND, TIMES_HTTPX_SSE = 65, 1.7  # the goals, at 1,400 bytes
KINDS = {"Chat Completions": "openai-chat", "Messages": "anthropic-messages", "Responses": "openai-responses"}


def ours(reads: list[bytes]) -> list[str]:
    decoder = SSEDecoder()
    return [event.data for read in reads for event in decoder.feed(read)]


def by_httpx_sse(reads: list[bytes]) -> list[str]:
    import httpx
    import httpx_sse

    class Body(httpx.SyncByteStream):
        def __iter__(self):
            return iter(reads)

    response = httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Body())
    return [event.data for event in httpx_sse.EventSource(response).iter_sse()]


def by_openai(reads: list[bytes]) -> list[str]:
    from openai._streaming import SSEDecoder as Theirs

    return [event.data for event in Theirs().iter_bytes(iter(reads))]


def by_anthropic(reads: list[bytes]) -> list[str]:
    from anthropic._streaming import SSEDecoder as Theirs

    return [event.data for event in Theirs().iter_bytes(iter(reads))]


def peers() -> dict:
    """The decoders that are installed."""
    found = {}
    for name, run in (("httpx-sse", by_httpx_sse), ("openai", by_openai), ("anthropic", by_anthropic)):
        try:
            run([b"data: x\n\n"])
            found[name] = run
        except ImportError:
            print(f"Not installed and left out: {name}")
    return found


def body(api: str, size: int) -> bytes:
    """The recorded bodies of one API, one after another, repeated up to about `size` bytes."""
    whole = b"".join(capture.body for capture in map(read_capture, find_captures(CAPTURES)) if capture.api == api)
    whole = whole[: whole.rindex(b"\n\n") + 2]
    return whole * max(1, size // len(whole))


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--check", action="store_true")
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--size", type=int, default=SIZE)
    chosen = options.parse_args()
    others, rows, missed = peers(), [], False
    print(about("httpx-sse", "httpx", "openai", "anthropic") + "\n")
    for kind, api in KINDS.items():
        stream = body(api, chosen.size)
        for size in READS:
            reads = cut(stream, size)
            right = ours(reads)
            for name, run in others.items():
                assert run(reads) == right, f"{name} finds other events"
            runners = {"streamkit": ours, **others}
            times = in_turns(
                {name: lambda run=run, reads=reads: run(reads) for name, run in runners.items()}, chosen.rounds
            )
            speed = statistics.median(len(stream) / 1e6 / seconds for seconds in times["streamkit"])
            cells = [kind, f"{size:,}", f"{len(right):,}", f"{speed:,.0f}"]
            judged = size == READS[0]
            cells.append(goal(speed, MEGABYTES_A_SECOND) if judged else "")
            missed |= judged and speed < MEGABYTES_A_SECOND
            for name in others:
                middle, words = ratio(times, name)
                judging = judged and name == "httpx-sse"
                cells.append(words + (f"; goal {goal(middle, TIMES_HTTPX_SSE)}" if judging else ""))
                missed |= judging and middle < TIMES_HTTPX_SSE
            rows.append(cells)
    columns = ["frames of", "bytes a read", "events", "streamkit, MB a second", "goal"]
    table(columns + [f"{name}: times as long" for name in others], rows)
    return 1 if missed and chosen.check else 0


if __name__ == "__main__":
    sys.exit(main())
