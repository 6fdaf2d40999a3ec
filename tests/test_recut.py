"""Every capture gives the same turn however its bytes are cut: byte by byte, at each event boundary, at 200 random places.

What is compared is the whole list of events, all fed with one time: a turn is made of nothing else.
"""

import re
from itertools import pairwise

import pytest
from conftest import random_cuts

from streamkit.lab.captures import find_captures, load, read_capture
from streamkit.wire import reader

CAPTURES = [read_capture(path) for path in find_captures()]
SMALL = {
    "openai-chat": "chat-no-arguments",
    "anthropic-messages": "messages-no-arguments",
    "openai-responses": "responses-query-alone",
}


def events(capture, pieces):
    """The events that the pieces make, all at one time."""
    wire = reader(capture.api)
    made = [event for piece in pieces for event in wire.feed(piece, 0.0)]
    return made + wire.close(capture.ending, 0.0)


def boundaries(body: bytes) -> list[int]:
    """Where an event ends: behind each blank line."""
    return [found.end() for found in re.finditer(rb"\r\n\r\n|\n\n|\r\r", body)]


def cut(body: bytes, places: list[int]) -> list[bytes]:
    places = [0, *places, len(body)]
    return [body[start:end] for start, end in pairwise(places)]


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda capture: capture.name)
def test_any_cut_gives_the_same_turn(capture):
    body, whole = capture.body, events(capture, [read.data for read in capture.reads])
    assert [event._replace(at=0.0) for event in capture.events()] == whole
    assert events(capture, [body]) == whole
    assert events(capture, [body[at : at + 1] for at in range(len(body))]) == whole
    assert events(capture, cut(body, boundaries(body))) == whole
    for place in random_cuts(len(body), capture.name, 200):
        assert events(capture, cut(body, [place])) == whole


@pytest.mark.parametrize("name", SMALL.values())
def test_a_cut_at_every_position_gives_the_same_turn(name):
    capture = load(name)
    body, whole = capture.body, events(capture, [capture.body])
    for place in range(len(body) + 1):
        assert events(capture, cut(body, [place])) == whole, place


def test_the_cuts_reach_inside_characters():
    """The check is worth something only where characters of several bytes are there to be cut."""
    for name in ("chat-world-text", "messages-world-text", "responses-world-text"):
        assert any(byte >= 0x80 for byte in load(name).body)
