"""The decoder of server-sent events against a reference that reads the whole text at once, and the points of the
WHATWG text one by one."""

import importlib
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamkit.wire import ndjson, reader, sse
from streamkit.wire.sse import SSEDecoder, TooLong

wire_reader = importlib.import_module("streamkit.wire.reader")  # the package has a function of that name


def reference(body: bytes) -> list[tuple[str, str, str]]:
    """WHATWG HTML 9.2.6, word by word, on the whole stream: slow, and nothing to cut."""
    text = body.decode("utf-8", "replace").removeprefix("\ufeff")
    events, event, data, last_id = [], "", "", ""
    *lines, _unended = re.split("\r\n|\n|\r", text)
    for line in lines:
        if line == "":
            if data:
                events.append((event or "message", data.removesuffix("\n"), last_id))
            event = data = ""
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            event = value
        elif field == "data":
            data += value + "\n"
        elif field == "id" and "\0" not in value:
            last_id = value
    return events


def decode(chunks) -> list[tuple[str, str, str]]:
    decoder = SSEDecoder()
    return [(e.event, e.data, e.id) for chunk in chunks for e in decoder.feed(chunk)]


PIECES = st.sampled_from(
    [
        "data",
        "data:",
        "data: ",
        "event:",
        "event: ",
        "id:",
        "id: 7",
        "retry: 10",
        ":",
        ": hi",
        "x",
        " ",
        "\r",
        "\n",
        "\r\n",
    ]
    + ["\n\n", "æ", "🌊", "\ufeff", "\0", "{}"]
)
STREAMS = st.lists(PIECES | st.sampled_from(["data: a\n\n", "event: e\ndata: b\r\n\r\n"]), max_size=40).map("".join)


@given(STREAMS.map(str.encode) | st.binary(max_size=60), st.lists(st.integers(0, 120)))
def test_any_cut_gives_the_events_of_the_reference(body, places):
    edges = [0, *sorted({p for p in places if p < len(body)}), len(body)]
    chunks = [body[a:b] for a, b in pairwise(edges)]
    assert decode(chunks) == reference(body)
    assert decode([bytes([byte]) for byte in body]) == reference(body)


@pytest.mark.parametrize(
    ("body", "data"),
    [
        (b"\xef\xbb\xbfdata: a\n\n", ["a"]),  # one byte-order mark is dropped
        (b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n", []),  # a second one is part of the field's name
        (b"data: a\rdata: b\r\r", ["a\nb"]),
        (b"data:a\n\ndata:  a\n\n", ["a", " a"]),  # one space is dropped, not two
        (b": comment\n\nevent: x\n\ndata: a\n\n", ["a"]),  # no data, no event (096)
        (b"data\n\n", [""]),
        (b"data: a\n", []),  # unterminated: never dispatched
        (b"dat: a\ndata: b\n\n", ["b"]),
    ],
)
def test_points_of_the_text(body, data):
    assert [d for _, d, _ in decode([body])] == data
    assert [d for _, d, _ in decode([bytes([b]) for b in body])] == data


def test_an_event_without_data_does_not_lend_its_name():
    assert decode([b"event: x\n\ndata: a\n\n"]) == [("message", "a", "")]


def test_id_and_retry():
    decoder = SSEDecoder()
    events = decoder.feed(b"id: 7\ndata: a\n\ndata: b\n\nid: 8\0\nretry: 250\nretry: x\ndata: c\n\n")
    assert [e.id for e in events] == ["7", "7", "7"]
    assert decoder.retry == 250


@pytest.mark.parametrize("body", [b"data: a", b"data: a\n", b"data: a\r", b"\xef\xbb\xbfdata: a"])
def test_rest_hands_over_the_unterminated_event(body):
    decoder = SSEDecoder()
    assert decoder.feed(body) == []
    assert decoder.rest().data == "a"


@pytest.mark.parametrize("body", [b"", b"\xef\xbb", b"data: a\n\n", b"event: x\n"])
def test_rest_is_nothing_without_data(body):
    decoder = SSEDecoder()
    decoder.feed(body)
    assert decoder.rest() is None


def test_broken_utf8_is_said():
    good, bad = SSEDecoder().feed(b"data: \xc3\xa6\n\ndata: \xc3(\n\n")
    assert (good.data, good.intact) == ("æ", True)
    assert (bad.data, bad.intact) == ("\ufffd(", False)


def test_a_character_split_between_reads_is_whole():
    assert decode([b"data: \xf0\x9f", b"\x8c\x8a\n\n"]) == [("message", "🌊", "")]


@pytest.mark.parametrize("piece", [b"x" * 100, b"data: x\n", b"data: " + b"x" * 94])
def test_an_event_without_end_is_refused(monkeypatch, piece):
    monkeypatch.setattr(sse, "LIMIT", 10_000)
    decoder = SSEDecoder()
    with pytest.raises(TooLong):
        for _ in range(10_000):
            decoder.feed(piece)


def test_many_small_events_are_no_long_one(monkeypatch):
    monkeypatch.setattr(sse, "LIMIT", 1000)
    decoder = SSEDecoder()
    assert sum(len(decoder.feed(b"data: x\n\ndata: ")) for _ in range(1000)) == 1000


BODIES = st.lists(
    st.sampled_from([b"data: " + b"x" * 20 + b"\n", b"data: y\n", b": " + b"c" * 30 + b"\n", b"\n", b"\r\n", b"data:" + b"z" * 55]),
    max_size=30,
).map(b"".join)  # fmt: skip


@given(BODIES, st.data(), st.sampled_from(["openai-chat", "ollama"]))
def test_an_event_too_long_is_refused_at_the_same_place_however_the_bytes_are_cut(body, data, api):
    """And what ended before it is there: one large read must not lose what small ones would have given."""
    with pytest.MonkeyPatch.context() as patch:
        for place, limit in ((sse, 60), (ndjson, 60)):
            patch.setattr(place, "LIMIT", limit)
        patch.setattr(wire_reader, "STEP", 20)
        patch.setattr(wire_reader, "BODY", 500)
        cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=12)))
        pieces = [body[a:b] for a, b in pairwise([0, *cuts, len(body)])]
        assert frames_of(api, pieces) == frames_of(api, [body])


def frames_of(api: str, pieces: list[bytes]) -> tuple[list, list]:
    """The data that a reader was given, and whether it failed."""
    given, wire = [], reader(api)
    wire._take = lambda frame, at, events: given.append(frame.data)
    events = [event for piece in pieces for event in wire.feed(piece, 0.0)] + wire.close("clean", 0.0)
    return given, [event.verdict for event in events]


def test_what_ended_before_an_event_too_long_is_kept(monkeypatch):
    """A body in one read, as a recording made behind a buffer is."""
    text = b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'
    wire = reader("openai-chat")
    events = wire.feed(text * 3 + b"data: " + b"x" * 33 * 2**20, 0.0)
    assert [type(event).__name__ for event in events] == ["TextDelta"] * 3 + ["TurnBroken"]
    wire = reader("openai-chat")
    assert len(wire.feed(text * (33 * 2**20 // len(text)), 0.0)) == 33 * 2**20 // len(text)


def test_a_response_of_more_than_its_bound_fails(monkeypatch):
    text = b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'
    monkeypatch.setattr(wire_reader, "BODY", 3 * len(text))
    wire = reader("openai-chat")
    events = [event for _ in range(5) for event in wire.feed(text, 0.0)] + wire.close("clean", 0.0)
    assert [type(event).__name__ for event in events] == ["TextDelta"] * 3 + ["TurnBroken"]
    assert events[-1].reason == "protocol_error"


@pytest.mark.parametrize("comments", [0, 30])
@pytest.mark.parametrize("lines", [1, 2, 40])
@pytest.mark.parametrize("over", [-2, -1, 0, 1, 60, 130])
def test_where_an_event_is_too_long_does_not_depend_on_the_cut(monkeypatch, lines, over, comments):
    monkeypatch.setattr(sse, "LIMIT", 1_000)
    room = 1_000 + over - 7 * lines
    sizes = [room // lines + (n < room % lines) for n in range(lines)]
    body = (
        b"".join(b"data: " + b"x" * size + b"\n" for size in sizes) + b": a comment\n" * comments + b"\ndata: next\n\n"
    )
    found = set()
    for step in (1, 3, 50, 400, 999, len(body)):
        decoder = SSEDecoder()
        try:
            events = [e for at in range(0, len(body), step) for e in decoder.feed(body[at : at + step])]
            found.add(len(events))
        except sse.TooLong:
            found.add("too long")
    assert len(found) == 1
