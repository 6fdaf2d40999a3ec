"""Which fragment belongs to which call: rules 4 and 5 of the case format, event by event."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamkit.accumulator import Accumulator
from streamkit.events import ArgumentSnapshot, CallDelta, CallFinished, TextDelta


def delta(index=None, id=None, name=None, text="", at=0.0):
    return CallDelta(at, index, id, name, text)


def calls_of(*events):
    accumulator = Accumulator()
    for event in events:
        accumulator.add(event)
    return [(call.id, call.name, call.text) for call in accumulator.calls]


@pytest.mark.parametrize(
    ("events", "calls"),
    [
        # the index keys the buffer, whatever the names and the order
        ([delta(1, "a", "s", "1"), delta(0, "b", "s", "2"), delta(1, text="3")], [("a", "s", "13"), ("b", "s", "2")]),
        # a new id with a name on an occupied index opens a new call; an id without a name does not
        ([delta(0, "a", "s", "1"), delta(0, "b", "s", "2"), delta(0, text="3")], [("a", "s", "1"), ("b", "s", "23")]),
        ([delta(0, "a", "s", "1"), delta(0, "b", None, "2")], [("a", "s", "12")]),
        ([delta(0, "a", "s", "1"), delta(0, "a", "s", "2")], [("a", "s", "12")]),
        # an id that comes late
        ([delta(0, None, "s"), delta(0, "a", "s", "1"), delta(0, "a", None, "2")], [("a", "s", "12")]),
        ([delta(0, None, None, "1"), delta(0, "a", "s", "2")], [("a", "s", "12")]),
        ([delta(0, None, "s", "1"), delta(0, "b", "t", "2")], [(None, "s", "1"), ("b", "t", "2")]),
        # without an index
        ([delta(id="a", name="s", text="1"), delta(text="2"), delta(id="a", text="3")], [("a", "s", "123")]),
        (
            [delta(id="a", name="s"), delta(id="b", name="s", text="1"), delta(id="a", text="2")],
            [("a", "s", "2"), ("b", "s", "1")],
        ),
        (
            [delta(id="a", name="s"), delta(id="b", name="s"), delta(text="1")],
            [("a", "s", ""), ("b", "s", ""), (None, "", "1")],
        ),
        ([delta(text="1"), delta(text="2")], [(None, "", "12")]),
        # a finished call is not open
        (
            [delta(0, "a", "s"), CallFinished(0, 0), delta(1, "b", "t"), delta(text="1")],
            [("a", "s", ""), ("b", "t", "1")],
        ),
        # names: restated, or in pieces
        ([delta(0, "a", "get_wea"), delta(0, None, "ther"), delta(0, None, "get_weather")], [("a", "get_weather", "")]),
        # a second call with the same id keeps none, so that one is minted
        (
            [delta(0, "a", "s", "1"), delta(1, "a", "s", "2"), delta(1, "a", "s", "3")],
            [("a", "s", "1"), (None, "s", "23")],
        ),
        # empty says nothing
        ([delta(0, "", "", ""), delta(0, "a", "s", "1"), delta(0, "", "", "2")], [("a", "s", "12")]),
        # snapshots replace, and the closing event decides
        ([delta(0, "a", "s", "1"), ArgumentSnapshot(0, 0, "x")], [("a", "s", "x")]),
        ([delta(0, "a", "s", "1"), CallFinished(0, 0, "b", "x")], [("b", "s", "x")]),
        ([delta(0, "a", "s", "1"), delta(1, "b", "s"), CallFinished(0, 1, "a", "")], [("a", "s", "1"), ("b", "s", "")]),
        ([CallFinished(0, 0, "b", "x"), TextDelta(0, None, "hi")], []),
    ],
)
def test_routing(events, calls):
    assert calls_of(*events) == calls


def test_an_equal_snapshot_keeps_the_times_of_the_fragments():
    accumulator = Accumulator()
    for event in (
        delta(0, "a", "s", "1", 0.1),
        delta(0, text="2", at=0.2),
        ArgumentSnapshot(0.9, 0, "12"),
        CallFinished(1.0, 0, "a", "12"),
    ):
        accumulator.add(event)
    call = accumulator.calls[0]
    assert [fragment.at for fragment in call.fragments] == [0.1, 0.2]
    assert (call.announced_at, call.finished_at) == (0.1, 1.0)


@given(st.lists(st.tuples(st.integers(0, 3), st.text(max_size=4)), max_size=40))
def test_any_interleaving_by_index_is_every_call_by_itself(fragments):
    seen = {index for index, _ in fragments}
    events = [delta(index, f"id{index}", "same_tool") for index in seen] + [delta(i, text=t) for i, t in fragments]
    whole = {f"id{index}": "".join(text for i, text in fragments if i == index) for index in seen}
    assert {id: text for id, _, text in calls_of(*events)} == whole


def test_one_accumulator_a_stream():
    first, second = Accumulator(), Accumulator()
    first.add(delta(0, "a", "s", "1"))
    second.add(delta(0, "b", "s", "2"))
    assert [call.text for call in first.calls + second.calls] == ["1", "2"]
