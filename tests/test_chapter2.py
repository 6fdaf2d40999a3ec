"""What chapter 2 claims: how each wrong key shows, and that the given parts of its exercises suffice."""

import json
import re
from itertools import pairwise

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamkit.accumulator import Accumulator
from streamkit.events import CallDelta
from streamkit.finalise import Tools
from streamkit.lab import keying
from streamkit.lab.captures import load
from streamkit.lab.cases import events_of, reads_of
from streamkit.lab.exercises import run
from streamkit.lab.exercises.registry import exercises
from streamkit.lab.fill import written
from streamkit.lab.interleave import one_cut
from streamkit.lab.naive_keys import KeyedByName, MergesObjects, arguments, held, whole_then_more
from streamkit.lab.paths import BOOK

CHAPTER = BOOK / "02_keying_the_accumulator.ipynb"
CAPTURES = list(keying.recorded_captures())
KINDS = keying.streams_by_kind(CAPTURES)
TWICE = [load(stream.name) for stream in KINDS["one tool twice"]]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text('ab"\\{}[]: 1'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('ab"}', max_size=3), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.text('ab"}', max_size=3), VALUES, max_size=3)


@given(OBJECTS, OBJECTS, st.sampled_from(["", " ", "\n"]))
def test_two_complete_objects_never_make_one(first, second, between):
    first, second = json.dumps(first), json.dumps(second)
    both = first + between + second
    assert arguments(both) == both  # it does not parse
    assert whole_then_more(both) == len(first)
    assert whole_then_more(first + between) is None
    assert all(
        whole_then_more(first[:end]) is None for end in range(len(first))
    )  # no signature of its own on a cut call


def test_keyed_by_name_every_sequential_pair_goes_on_after_a_whole_value():
    assert len(TWICE) >= 3
    for one in TWICE:
        ((_, text),) = held(KeyedByName, one.events())
        first, *_ = [call.text for call in one.turn().calls]
        assert whole_then_more(text) == len(first)


def test_no_recorded_stream_interleaves_its_calls():
    for one in CAPTURES:
        order = [event.index for event in one.events() if isinstance(event, CallDelta)]
        assert sum(before != after for before, after in pairwise(order)) <= max(len(set(order)) - 1, 0)


def test_no_stream_of_the_corpus_interleaves_and_two_calls_under_one_name_always_go_on(corpus):
    twice = 0
    for case in corpus:
        events = [e for e in events_of(case["api"], reads_of(case), case.get("ends", "clean")) if type(e) is CallDelta]
        order = [event.index for event in events if event.text and event.kind == "client"]
        assert sum(before != after for before, after in pairwise(order)) <= max(len(set(order)) - 1, 0), case["name"]
        calls = held(Accumulator, events)
        for name, text in held(KeyedByName, events):
            own = [whole for called, whole in calls if called == name and whole]
            if len(own) > 1 and all(isinstance(whole, dict) for whole in own):
                twice += 1
                assert whole_then_more(text) is not None, case["name"]
    assert len(corpus) > 800 and twice > 40


def test_a_one_cut_interleaving_that_parses_holds_a_value_that_no_call_had():
    tried, parsed = 0, 0
    for one in TWICE:
        calls = one.turn().calls
        for a, b in ((calls[0], calls[1]), (calls[1], calls[0])):
            for _, _, text in one_cut(a.text, b.text):
                tried += 1
                if not isinstance(found := arguments(text), dict):
                    continue
                parsed += 1
                assert found not in (a.arguments, b.arguments)
                assert {str(one) for one in leaves(found)} - {
                    str(one) for call in calls for one in leaves(call.arguments)
                }
                assert Tools(one.tools).complaints(a.name, found)
    assert 0 < parsed < tried / 1000


def leaves(value):
    if isinstance(value, dict):
        for inner in value.values():
            yield from leaves(inner)
    else:
        yield value


def test_merged_objects_are_one_valid_call_that_nobody_made():
    for one in TWICE:
        calls = one.turn().calls
        ((name, merged),) = held(MergesObjects, one.events())
        assert merged == {**calls[0].arguments, **calls[1].arguments}
        assert not Tools(one.tools).complaints(name, merged)


# The exercises


CALL_OF = """
        if event.index is not None:
            call = self.at.get(event.index)
            if call and event.id and event.name and event.id != call.id and (call.id or call.name not in ("", event.name)):
                call = None
        elif event.id:
            call = next((one for one in self.calls if one.id == event.id), None)
        else:
            still_open = [one for one in self.calls if one.finished_at is None]
            call = still_open[0] if len(still_open) == 1 else None
        call = call or self.open(event)
        if event.id and not call.id and all(event.id != one.id for one in self.calls):
            call.id = event.id
        if event.name and event.name != call.name:
            call.names.append(event.name)
        return call
"""


@pytest.fixture
def at_once(monkeypatch):
    """Pieces run here and without a time limit: they are known to end, and a busy machine must not cut them."""
    monkeypatch.setattr(run, "PROCESSES", False)


def test_the_given_parts_of_the_last_exercise_and_the_five_rules_suffice(at_once):
    exercise = exercises()["accumulator"]
    stub = written(CHAPTER)["accumulator"]
    solved, count = re.subn(r"\n        \.\.\.\n", CALL_OF, stub)
    assert count == 1
    assert run.verdict(exercise, solved)["state"] == "pass"


def test_each_rule_of_the_last_exercise_is_needed(at_once):
    """Left out one by one, each rule is asked for by its own pointer."""
    exercise, stub = exercises()["accumulator"], written(CHAPTER)["accumulator"]
    without = {
        "occupied": ("if call and event.id and event.name", "if False and event.name"),
        "first-id": ("event.id and event.name and event.id != call.id and", "event.id and event.id != call.id and"),
        "no-index": ("if event.index is not None:", "if True:"),
        "id-twice": (" and all(event.id != one.id for one in self.calls)", ""),
        "restated": ("if event.name and event.name != call.name:", "if event.name:"),
        "pieces": ("if event.name and event.name != call.name:", "if event.name and not call.name:"),
    }
    for pointer, (rule, left_out) in without.items():
        assert rule in CALL_OF
        solved = stub.replace("\n        ...\n", CALL_OF.replace(rule, left_out))
        assert run.verdict(exercise, solved)["pointer"] == pointer


def test_the_chapter_prints_no_words_of_the_standard_library():
    outputs = [str(cell.outputs) for cell in nbformat.read(CHAPTER, 4).cells if cell.cell_type == "code"]
    assert outputs and not re.search(r"Extra data|Expecting|Unterminated|Traceback", "".join(outputs))
