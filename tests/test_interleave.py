"""Streams made from recorded ones: what is made keeps every call whole, differs only in order, and says that it was made."""

import itertools
from pathlib import Path

import pytest
from conftest import ALL_CASES
from hypothesis import given
from hypothesis import strategies as st

from streamkit.events import CallDelta, TextDelta
from streamkit.lab.captures import Capture, Read, find_captures, load, read_capture
from streamkit.lab.cases import events_of, reads_of
from streamkit.lab.interleave import at_once, frames_of, interleaved, merged, one_cut, recut_fragments
from streamkit.lab.problem import Problem

CAPTURES = [read_capture(path) for path in find_captures()]
TWO_CALLS = [one for one in CAPTURES if len(one.turn().calls) > 1 and not one.header.get("derived")]
SEEDS = (None, 0, 1, 2)


def texts(capture) -> dict:
    return {call.index: (call.name, call.text) for call in capture.turn().calls}


def changes(capture) -> int:
    return changes_of([event.index for event in capture.events() if isinstance(event, CallDelta)])


def changes_of(order: list) -> int:
    return sum(before != after for before, after in itertools.pairwise(order))


def case_capture(name: str) -> Capture:
    case = next(case for case in ALL_CASES if case["name"] == name)
    return Capture(
        Path(f"{name}.jsonl"), {"api": case["api"]}, [Read(*read) for read in reads_of(case)], 1.0, case["ends"]
    )


def test_frames_are_the_exact_body_with_the_times_of_their_events():
    assert len(CAPTURES) > 20
    for one in CAPTURES:
        frames = frames_of(one)
        assert b"".join(data for _, data, _ in frames) == one.body
        again = Capture(one.path, one.header, [Read(at, data) for at, data, _ in frames], one.ended_at, one.ending)
        assert again.events() == one.events()


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_interleaved_keeps_every_call_and_alternates(seed):
    assert len(TWO_CALLS) >= 3
    for one in TWO_CALLS:
        made = interleaved(one, seed)
        assert texts(made) == texts(one)
        assert sorted(made.body) == sorted(one.body)
        assert [read.at for read in made.reads] == sorted(read.at for read in made.reads)
        assert (made.turn().verdict, made.turn().text) == (one.turn().verdict, one.turn().text)
        assert changes(one) == len(one.turn().calls) - 1 < 5 < changes(made)


def test_what_is_made_says_so_and_leaves_the_recorded_one_alone():
    one = load("chat-two-searches")
    made = interleaved(one, 7)
    assert "chat-two-searches" in made.header["derived"] and "seed 7" in made.header["derived"]
    assert made.name == "chat-two-searches-interleaved-7" and not made.path.exists()
    assert "derived" not in one.header


def test_a_seed_gives_the_same_stream_each_time_and_another_seed_another():
    one = load("messages-two-searches")
    assert interleaved(one, 3).body == interleaved(one, 3).body
    assert len({interleaved(one, seed).body for seed in SEEDS}) == len(SEEDS)


def test_without_two_calls_there_is_nothing_to_interleave():
    with pytest.raises(Problem, match="two calls in fragments was expected, 1 came"):
        interleaved(load("chat-preamble-then-call"))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end_and_a_frame_for_two_calls(end):
    """Case 012 announces both calls in one frame, which belongs to neither and stays where it is."""
    one = case_capture("012-interleaved-by-index")
    ended = Capture(
        one.path, one.header, [Read(at, data.replace(b"\n", end.encode())) for at, data in one.reads], 1.0, "clean"
    )
    assert sum(owner is not None for _, _, owner in frames_of(ended)) == 4
    for seed in SEEDS:
        assert texts(interleaved(ended, seed)) == texts(one)


def test_an_unterminated_last_frame_is_kept():
    one = case_capture("093-no-trailing-blank-line")
    assert b"".join(data for _, data, _ in frames_of(one)) == one.body


@given(st.text(min_size=1, max_size=9), st.text(min_size=1, max_size=9))
def test_every_one_cut_interleaving_comes_once(first, second):
    ways = list(one_cut(first, second))
    assert len(ways) == len({(i, j) for i, j, _ in ways}) == (len(first) - 1) * len(second)
    for i, j, text in ways:
        rest = text[i + j :]
        assert text[:i] + rest[: len(first) - i] == first
        assert text[i : i + j] + rest[len(first) - i :] == second


@given(st.lists(st.integers(0, 6), max_size=4), st.one_of(st.none(), st.integers()))
def test_merged_queues_lose_nothing_and_keep_their_order(sizes, seed):
    queues = [[(queue, item) for item in range(size)] for queue, size in enumerate(sizes)]
    order = merged(queues, seed)
    assert [[item for item in order if item[0] == queue] for queue in range(len(queues))] == queues
    assert len(order) == sum(sizes)
    assert queues == [[(queue, item) for item in range(size)] for queue, size in enumerate(sizes)]


def test_in_turn_means_one_of_each():
    assert merged([[1, 2, 3], [4], [5, 6]]) == [1, 4, 5, 2, 6, 3]


@given(st.text(max_size=20), st.integers(1, 5))
def test_fragments_cut_anew_are_the_same_text_announced_once(text, size):
    events = [
        TextDelta(0.1, 0, "ab" * size),
        CallDelta(0.2, 1, "a", "search", text),
        CallDelta(0.3, 1, None, None, "x"),
    ]
    cut = recut_fragments(events, size)
    assert cut[0] == events[0] and cut[-1] == events[-1]
    own = cut[1:-1]
    assert "".join(event.text for event in own) == text
    assert all(len(event.text) <= size and event.at == 0.2 for event in own)
    assert [(event.id, event.name) for event in own] == [("a", "search")] + [(None, None)] * (len(own) - 1)


def test_two_streams_at_once_come_in_order_of_time_and_their_calls_begin_together():
    streams = [load("chat-scope-last").events(), load("chat-scope-all-archived").events()]
    together = at_once(*streams)
    assert [event.at for _, event in together] == sorted(event.at for _, event in together)
    own = [[event for number, event in together if number == n] for n in (0, 1)]
    assert own[0] == streams[0]
    assert [event._replace(at=0) for event in own[1]] == [event._replace(at=0) for event in streams[1]]
    begins = [next(event.at for event in stream if isinstance(event, CallDelta)) for stream in own]
    assert begins[1] == pytest.approx(begins[0])
    assert changes_of([number for number, event in together if isinstance(event, CallDelta)]) > 5


def test_at_once_needs_calls():
    with pytest.raises(Problem, match="stream 1 has none"):
        at_once(load("chat-scope-last").events(), load("chat-plain-text").events())


def test_events_of_a_made_stream_survive_every_cut():
    made = interleaved(load("responses-two-searches"), 1)
    bytewise = [(0.0, bytes([byte])) for byte in made.body]
    again = events_of(made.api, bytewise, made.ending)
    assert [event._replace(at=0) for event in again] == [event._replace(at=0) for event in made.events()]
