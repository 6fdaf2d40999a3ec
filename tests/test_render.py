"""What a user sees of a turn: in order, escaped, every call in a stated state, and the same after a reload."""

import json

import pytest
from conftest import ALL_CASES, random_cuts

from streamkit.blocks import Block, restored
from streamkit.events import Call, CallDelta, TextDelta, TurnBroken, TurnFinished
from streamkit.lab.captures import find_captures, read_capture
from streamkit.lab.cases import events_of, reads_of, recut, turn_of_case
from streamkit.lab.faults import boundaries
from streamkit.lab.paths import CAPTURES
from streamkit.render import ENDED, SIGNS, to_html, to_text
from streamkit.turn import turn_of
from streamkit.wire import reader

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</style>",
    "\x1b[2J",
    "a\x00b",
    "\u202egnp.exe",
    '"><b>',
    "$x^2$",
]


def states(blocks):
    return {block.state for block in blocks if block.kind == "call"}


@pytest.mark.parametrize("case", ALL_CASES, ids=lambda case: case["name"])
def test_no_case_ends_in_a_state_that_still_waits(case):
    turn = turn_of_case(case)
    waiting = {block.call.outcome for block in turn.blocks if block.kind == "call" and block.state not in ENDED}
    assert waiting <= ({"ready"} if turn.next == "run" else set())  # those are the dispatcher's, who says the next word


@pytest.mark.parametrize("case", ALL_CASES, ids=lambda case: case["name"])
def test_a_cut_turn_leaves_no_block_waiting(case):
    reads = reads_of(case)
    size = sum(len(data) for _, data in reads)
    for place in random_cuts(size, case["name"], 200):
        cut = recut(reads, [place])[: 1 if 0 < place < size else 0]
        turn = turn_of(events_of(case["api"], cut, "disconnect"), case.get("tools"))
        if turn.next == "end":
            assert states(turn.blocks) <= ENDED
            assert "preparing" not in to_text(turn.blocks) and "running" not in to_html(turn.blocks)


@pytest.mark.parametrize("path", find_captures(CAPTURES), ids=lambda path: path.stem)
def test_a_cut_capture_leaves_no_block_waiting(path):
    """At each event boundary, and within some events. (test_recut: places inside one event give the same events.)"""
    capture = read_capture(path)
    body, wire, events, start = capture.body, reader(capture.api), [], 0
    for end in boundaries(body, capture.api):
        events += wire.feed(body[start:end], 0.0)
        start = end
        finished = any(isinstance(event, TurnFinished | TurnBroken) for event in events[-3:])
        ended(turn_of(events if finished else [*events, TurnBroken(0.0, "interrupted", "disconnect")], capture.tools))
    for place in random_cuts(len(body), path.stem, 200 if len(body) < 8_000 else 20):
        ended(turn_of(events_of(capture.api, [(0.0, body[:place])], "disconnect"), capture.tools))


def ended(turn):
    """No block of a turn waits; only ready calls may, which are the dispatcher's."""
    if turn.next != "run":
        assert states(turn.blocks) <= ENDED
        assert "preparing" not in to_text(turn.blocks) and "running" not in to_html(turn.blocks)


@pytest.mark.parametrize("path", find_captures(CAPTURES), ids=lambda path: path.stem)
def test_a_stored_turn_is_read_back_equal(path):
    turn = read_capture(path).turn()
    again = [restored(plain) for plain in json.loads(json.dumps([block.stored() for block in turn.blocks]))]
    assert again == turn.blocks
    assert (to_text(again), to_html(again)) == (to_text(turn.blocks), to_html(turn.blocks))


def test_equal_means_equal():
    assert Block("text", None, 0.0, ["a", "b"]) == Block("text", None, 0.0, ["ab"])
    assert Block("text", None, 0.0, ["a"]) != Block("text", None, 0.0, ["b"])


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_model_wrote_is_escaped(text):
    turn = turn_of([TextDelta(0, None, text), CallDelta(0, 0, text, text, "{}"), TurnFinished(1, "tool_calls")])
    page, plain = to_html(turn.blocks), to_text(turn.blocks)
    for tag in ("<script", "<img", "</style", "<b>alert", '"><b>'):
        assert tag not in page
    assert not set(plain) & {"\x1b", "\x00", "\u202e"} and not set(page) & {"\x1b", "\x00", "\u202e"}


def test_order_signs_and_labels():
    turn = turn_of(
        [
            TextDelta(0, None, "Looking."),
            CallDelta(1, 0, "a", "get_time", "{}"),
            TextDelta(2, None, "Done."),
            TurnFinished(3, "length"),
        ]
    )
    assert to_text(turn.blocks, {"get_time": "the clock"}) == "Looking.\n\n[✂ the clock: cut off]\n\nDone."
    assert len(SIGNS) == 11


def test_a_call_without_a_name_is_named_as_such():
    block = Block("call", 0, 0.0, call=Call(0, 0), outcome="forming", effect="none")
    assert to_text([block]) == "[… a tool without a name: preparing]"
