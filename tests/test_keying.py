"""Who keys rightly on which streams: each naive client is wrong where chapter 2 says, and the picture shows the table."""

import pytest

from streamkit.accumulator import Accumulator
from streamkit.lab import keying
from streamkit.lab.answers import Keyed
from streamkit.lab.captures import load
from streamkit.lab.naive_keys import KEY_CLIENTS

KINDS = keying.streams_by_kind(keying.recorded_captures())
CLIENTS = {kind.__name__: kind for kind in KEY_CLIENTS} | {"Keyed": Keyed, "Accumulator": Accumulator}

WRONG_ON = {  # of the synthetic cases
    "KeyedByName": {"id twice", "name in pieces"},
    "LastCallWins": {"id twice", "name repeated", "name in pieces"},
    "MergesObjects": {"index missing", "index null", "index reused", "id twice", "name in pieces"},
    "KeyedByPosition": {"index from 1", "index missing", "index null", "index reused", "name in pieces"},
    "KeyedById": {"id changes", "id twice", "name in pieces"},
    "AppendsToTheLastCall": {"name repeated", "name in pieces"},
    "Keyed": {"index missing", "index null", "index reused", "name in pieces"},
    "Accumulator": set(),
}
ON_TWO_CALLS = {  # to one tool: recorded one after the other, and interleaved
    "KeyedByName": (False, False),
    "LastCallWins": (False, False),
    "MergesObjects": (False, False),
    "KeyedById": (True, False),
    "AppendsToTheLastCall": (True, False),
    "Keyed": (True, True),
    "Accumulator": (True, True),
}


@pytest.mark.parametrize("name", WRONG_ON)
def test_each_key_is_wrong_where_the_chapter_says(name):
    assert {kind for kind in keying.BENT if not keying.right(CLIENTS[name], *KINDS[kind])} == WRONG_ON[name]


@pytest.mark.parametrize("name", ON_TWO_CALLS)
def test_each_key_on_recorded_and_interleaved_streams(name):
    for kind, good in zip(("one tool twice", "interleaved"), ON_TWO_CALLS[name], strict=True):
        streams = [stream for stream in KINDS[kind] if len({tool for tool, _ in stream.calls}) == 1]
        assert streams and {keying.right(CLIENTS[name], stream) for stream in streams} == {good}


def test_a_position_is_no_index_on_recorded_streams():
    """Anthropic's first call has index 1 where text came before it, and in Responses the index is text."""
    for stream in KINDS["one tool twice"]:
        api = load(stream.name).api
        assert keying.right(CLIENTS["KeyedByPosition"], stream) == (api == "openai-chat")


def test_cut_off_calls_are_in_no_kind():
    assert all(isinstance(whole, dict) for kind in KINDS for stream in KINDS[kind] for _, whole in stream.calls)


def test_the_grid_shows_the_scores():
    table = keying.scores(CLIENTS, KINDS)
    chart = keying.score_chart(table, KINDS)
    axes = chart.figure.axes[0]
    words = {(text.get_position()): text.get_text() for text in axes.texts}
    hatched = {(p.get_x() + 0.5, p.get_y() + 0.5) for p in axes.patches if p.get_hatch()}
    for y, client in enumerate(table):
        for x, (kind, (good, count)) in enumerate(table[client].items()):
            assert words[x, y] == (f"{good}/{count}" if count > 1 else "right" if good else "wrong")
            assert ((x, y) in hatched) == (good < count)
            assert count == len(KINDS[kind])
    assert chart.data == table
    assert "Accumulator: wrong on nothing" in chart.alt and "Keyed: wrong on index missing" in chart.alt
