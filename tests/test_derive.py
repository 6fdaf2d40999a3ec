"""The derived boundary set: only the closing events moved, and only where all of them came with the turn's end."""

import pytest

from streamkit.events import CallFinished, TurnFinished
from streamkit.lab.captures import find_captures, load, read_capture, write_capture
from streamkit.lab.derive import DERIVED, derived, split_frames

CAPTURES = [read_capture(path) for path in find_captures()]
MOVABLE = [c for c in CAPTURES if c.api != "openai-chat" and c.ending == "clean" and c.turn().calls]


def of_calls(turn):
    return [(call.id, call.name, call.text, call.outcome) for call in turn.calls]


def test_there_is_something_to_derive():
    assert {capture.api for capture in MOVABLE} == {"anthropic-messages", "openai-responses"} and len(MOVABLE) >= 30


@pytest.mark.parametrize("capture", MOVABLE, ids=lambda capture: capture.name)
def test_each_closing_event_stands_at_its_calls_last_fragment(capture):
    made = derived(capture)
    before, after = capture.turn(), made.turn()
    assert of_calls(after) == of_calls(before) and (after.text, after.verdict, after.reason) == (
        before.text,
        before.verdict,
        before.reason,
    )
    assert [event.at for event in capture.events() if isinstance(event, CallFinished)] == [capture.reads[-1].at] * len(
        before.calls
    )  # together
    for was, call in zip(before.calls, after.calls, strict=True):
        last = was.fragments[-1].at if was.fragments else was.announced_at
        assert call.finished_at == last
        assert [fragment.at for fragment in call.fragments] == [fragment.at for fragment in was.fragments]
    events = made.events()
    order = [event for event in events if isinstance(event, CallFinished | TurnFinished)]
    assert isinstance(order[-1], TurnFinished) and order[-1].at == capture.reads[-1].at
    for event in order[:-1]:  # nothing of the call comes behind its closing event
        assert not any(
            getattr(later, "index", None) == event.index
            for later in events[events.index(event) + 1 :]
            if not isinstance(later, TurnFinished)
        )


@pytest.mark.parametrize("capture", MOVABLE, ids=lambda capture: capture.name)
def test_the_edit_moves_bytes_and_says_so(capture, tmp_path):
    made = derived(capture)
    assert made.header == capture.header | {"derived": DERIVED} and "derived" not in capture.header
    assert sorted(frame.raw for frame in split_frames(made)[0]) == sorted(
        frame.raw for frame in split_frames(capture)[0]
    )
    assert (made.ended_at, made.ending, len(made.body)) == (capture.ended_at, capture.ending, len(capture.body))
    assert [read.at for read in made.reads] == sorted({read.at for read in capture.reads})
    back = read_capture(write_capture(tmp_path / "d.jsonl", made.header, made.reads, made.ended_at, made.ending))
    assert back.body == made.body and back.header["derived"] == DERIVED
    assert derived(made) is None  # once is enough


def test_where_nothing_is_to_move_there_is_no_derived_capture():
    for name in (
        "chat-two-searches",
        "messages-plain-text",
        "responses-plain-text",
        "messages-killed-in-second-call",
        "responses-cancel-in-arguments",
    ):
        assert derived(load(name)) is None, name


def test_what_came_in_one_read_has_no_boundaries_to_tell_apart():
    capture = load("messages-two-searches")
    capture.reads = [type(capture.reads[0])(capture.ended_at, capture.body)]
    assert derived(capture) is None


def test_frames_do_not_depend_on_where_the_reads_were_cut():
    capture = load("responses-two-searches")
    whole = [frame.raw for frame in split_frames(capture)[0]]
    for size in (1, 7, 1000):
        body = capture.body
        cut = read_capture(capture.path)
        cut.reads = [type(capture.reads[0])(0.0, body[at : at + size]) for at in range(0, len(body), size)]
        assert [frame.raw for frame in split_frames(cut)[0]] == whole
