"""Streams that are made from recorded ones: calls interleaved, fragments cut anew, two streams read at once.

In no recorded stream that was looked at do the fragments of two client calls alternate. The protocols allow it, since every
fragment says which call it is for. So it is made here, and what is made says so in its header.
"""

import random
import re
from collections.abc import Iterator
from pathlib import Path

from ..events import ArgumentSnapshot, CallDelta, CallFinished
from ..wire import reader
from .captures import Capture, Read
from .problem import Problem

FRAME = re.compile(rb".*?(?:\r\n|\n|\r){2}", re.DOTALL)  # an event of a server-sent stream with its blank line
OF_A_CALL = (CallDelta, ArgumentSnapshot, CallFinished)


def one_cut(first: str, second: str) -> Iterator[tuple[int, int, str]]:
    """Every way to interleave two argument texts with one cut in each: (i, j, first[:i] + second[:j] + first[i:] + second[j:]).

    `i` and `j` count characters. The first is really cut; the second may go in whole (j is its length).
    """
    for i in range(1, len(first)):
        for j in range(1, len(second) + 1):
            yield i, j, first[:i] + second[:j] + first[i:] + second[j:]


def interleaved(capture: Capture, seed: int | None = None) -> Capture:
    """The same response with the frames of its calls alternating, or in an order drawn with `seed`. Made, not recorded.

    The frames of one call keep their order, all other frames and all times their places. Raises Problem where there are
    no two calls to interleave.
    """
    frames = frames_of(capture)
    places = [place for place, (_, _, owner) in enumerate(frames) if owner is not None]
    queues: dict = {}
    for place in places:
        _, data, owner = frames[place]
        queues.setdefault(owner, []).append(data)
    if len(queues) < 2:
        raise Problem(f"{capture.path}: a stream with two calls in fragments was expected, {len(queues)} came")
    reads = [Read(at, data) for at, data, _ in frames]
    for place, data in zip(places, merged(list(queues.values()), seed), strict=True):
        reads[place] = Read(reads[place].at, data)
    how = "in turn" if seed is None else f"in an order drawn with seed {seed}"
    made = f"interleaved: the frames of {len(queues)} calls of {capture.name} come {how}; recorded one call after the other"
    path = Path(f"{capture.name}-interleaved{'' if seed is None else f'-{seed}'}.jsonl")
    return Capture(path, capture.header | {"derived": made}, reads, capture.ended_at, capture.ending)


def frames_of(capture: Capture) -> list[tuple[float, bytes, tuple | None]]:
    """The frames of a server-sent stream, together its exact body: (seconds, bytes, the call they belong to).

    A frame's time is that of the read which completed it. The call is ("call", index); None for a frame that belongs to none,
    or to several.
    """
    ends, offset = [], 0
    for at, data in capture.reads:
        offset += len(data)
        ends.append((offset, at))
    wire, frames, offset, mark = reader(capture.api), [], 0, 0
    body = capture.body
    pieces = FRAME.findall(body)
    rest = body[sum(map(len, pieces)) :]
    for data in [*pieces, *([rest] if rest else [])]:
        offset += len(data)
        while ends[mark][0] < offset:
            mark += 1
        at = ends[mark][1]
        owners = {("call", event.index) for event in wire.feed(data, at) if isinstance(event, OF_A_CALL)}
        frames.append((at, data, owners.pop() if len(owners) == 1 else None))
    return frames


def merged(queues: list[list], seed: int | None = None) -> list:
    """Several queues as one, each in its own order: one item of each in turn, or drawn by chance with `seed`."""
    chance = random.Random(seed) if seed is not None else None
    queues, order, turn = [list(reversed(queue)) for queue in queues if queue], [], 0
    while queues:
        if chance is not None:
            turn = chance.choices(range(len(queues)), [len(queue) for queue in queues])[0]
        turn %= len(queues)
        order.append(queues[turn].pop())
        if queues[turn]:
            turn += 1
        else:
            del queues[turn]
    return order


def recut_fragments(events: list, size: int = 1) -> list:
    """The same events, every argument fragment cut into pieces of `size` characters. Only the first piece keeps id and name."""
    cut = []
    for event in events:
        if not isinstance(event, CallDelta) or len(event.text) <= size:
            cut.append(event)
            continue
        pieces = [event.text[start : start + size] for start in range(0, len(event.text), size)]
        cut.append(event._replace(text=pieces[0]))
        cut += [event._replace(id=None, name=None, text=piece) for piece in pieces[1:]]
    return cut


def at_once(*streams: list) -> list[tuple[int, object]]:
    """The events of several streams as if they had come at once, in order of time, each as (number of its stream, event).

    The times of all but the first are moved so that the first deltas of their calls fall together. Raises Problem for a
    stream without a call.
    """
    begins = [next((event.at for event in stream if isinstance(event, CallDelta)), None) for stream in streams]
    if None in begins:
        raise Problem(f"streams with calls were expected, stream {begins.index(None)} has none")
    moved = [
        (number, event._replace(at=event.at + (begins[0] - begins[number])))
        for number, stream in enumerate(streams)
        for event in stream
    ]
    return sorted(moved, key=lambda pair: pair[1].at)
