"""The reducer of content blocks: order, coordinates, and the states of a call."""

import pytest

from streamkit.blocks import Blocks, on_screen
from streamkit.events import Call, CallMoved, Opaque, TextDelta, ThinkingDelta


def blocks_of(*events, calls=()):
    blocks = Blocks(list(calls))
    for event in events:
        blocks.add(event)
    return [(b.kind, b.call.id if b.call else b.text) for b in blocks.blocks]


CALL = Call(0, None, id="a")


def test_text_on_both_sides_of_a_call_stays_there():
    assert blocks_of(
        TextDelta(0, None, "one "),
        TextDelta(1, None, "two"),
        CallMoved(2, 0, "forming"),
        TextDelta(3, None, "three"),
        calls=[CALL],
    ) == [("text", "one two"), ("call", "a"), ("text", "three")]


def test_a_coordinate_decides_where_it_is_given():
    at_two = Call(0, 2, id="a")
    assert blocks_of(
        ThinkingDelta(0, 0, "hm"),
        CallMoved(1, 0, "forming"),
        TextDelta(2, 3, "after"),
        TextDelta(3, 1, "before"),
        TextDelta(4, 3, "!"),
        calls=[at_two],
    ) == [("thinking", "hm"), ("text", "before"), ("call", "a"), ("text", "after!")]


def test_what_only_a_replay_needs_stays_beside_its_block():
    blocks = Blocks([])
    for event in (ThinkingDelta(0, 0, "hm"), Opaque(1, 0, {"signature": "x"}), Opaque(2, 1, {"type": "redacted"})):
        blocks.add(event)
    assert [(b.kind, b.extras) for b in blocks.blocks] == [
        ("thinking", [{"signature": "x"}]),
        ("opaque", [{"type": "redacted"}]),
    ]


def test_a_call_moves_in_its_place():
    blocks = Blocks([CALL])
    for event in (
        CallMoved(0, 0, "forming"),
        TextDelta(1, None, "x"),
        CallMoved(2, 0, "ready"),
        CallMoved(3, 0, "ready", "claimed"),
    ):
        blocks.add(event)
    assert [b.kind for b in blocks.blocks] == ["call", "text"]
    assert blocks.blocks[0].state == "running"


@pytest.mark.parametrize(
    ("outcome", "effect", "detail", "word"),
    [
        ("forming", "none", None, "preparing"),
        ("finished", "none", None, "preparing"),
        ("finished", "claimed", None, "running"),
        ("ready", "ran", None, "ran"),
        ("unfinished", "ran", {"reason": "disconnect"}, "ran"),
        ("ready", "duplicate", None, "ran"),
        ("ready", "failed", None, "failed"),
        ("ready", "in_doubt", None, "may have run"),
        ("ready", "not_run", None, "not run"),
        ("ready", "changed", None, "not run"),
        ("invalid", "none", {"answerable": True}, "refused"),
        ("invalid", "none", {"answerable": False}, "unreadable"),
        ("unparseable", "none", {"reason": "not JSON"}, "unreadable"),
        ("unfinished", "none", {"reason": "disconnect"}, "cut off"),
        ("unfinished", "none", {"reason": "cancelled"}, "cancelled"),
    ],
)
def test_the_words_of_the_table(outcome, effect, detail, word):
    assert on_screen(outcome, effect, detail) == word
