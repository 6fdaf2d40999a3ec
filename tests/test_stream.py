"""A body as events: the same as all at once, and every way in which a transport ends it has its name."""

import asyncio

import pytest
from conftest import ALL_CASES

from streamkit.lab.cases import events_of, reads_of
from streamkit.stream import read_events

API, FRAME = "openai-chat", b'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'


def collect(*given, **more):
    async def work():
        async with asyncio.timeout(10):
            return [event async for event in read_events(*given, **more)]

    return asyncio.run(work())


@pytest.mark.parametrize("case", [c for c in ALL_CASES if c.get("ends", "clean") == "clean"], ids=lambda c: c["name"])
def test_it_gives_what_the_reader_gives(case):
    reads = reads_of(case)
    assert collect(case["api"], reads) == events_of(case["api"], reads, "clean")


def raising(*things):
    """A body whose reads these are; an exception among them is raised."""

    async def body():
        for thing in things:
            if isinstance(thing, BaseException):
                raise thing
            if thing == "silence":
                await asyncio.sleep(30)
            yield thing

    return body()


class ReadTimeout(Exception):
    """A transport's own, which is no TimeoutError."""


class RemoteProtocolError(Exception):
    """Another one."""


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (ConnectionResetError(), "disconnect"),
        (RemoteProtocolError(), "disconnect"),
        (EOFError(), "disconnect"),
        (TimeoutError(), "timeout"),
        (ReadTimeout(), "timeout"),
        ("silence", "timeout"),
    ],
    ids=repr,
)
def test_a_fault_of_the_transport_is_an_ending(end, reason):
    events = collect(API, raising(FRAME, end), silence=0.05)
    assert events[0].text == "Hi" and (events[-1].verdict, events[-1].reason) == ("interrupted", reason)


@pytest.mark.parametrize("fault", [TypeError("x"), KeyError("x"), RuntimeError("x")], ids=repr)
def test_a_fault_of_the_program_goes_through(fault):
    with pytest.raises(type(fault)):
        collect(API, raising(FRAME, fault))


def test_it_stops_where_the_stream_is_over_and_closes_the_body():
    closed = []

    async def body():
        try:
            yield b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
            await asyncio.sleep(30)
        finally:
            closed.append(True)

    assert [type(event).__name__ for event in collect(API, body())] == ["TurnFinished"] and closed == [True]


def test_bytes_get_the_clocks_time_and_reads_keep_theirs():
    now = iter([100.0, 100.5, 101.25])
    assert [e.at for e in collect(API, [FRAME, FRAME], clock=lambda: next(now))][:2] == [0.5, 1.25]
    assert [e.at for e in collect(API, [(7.0, FRAME), (8.0, FRAME)])][:2] == [7.0, 8.0]
