"""The naive clients: right where a flat call comes in one fragment, wrong where their name says, and there only."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamkit.events import CallDelta, TextDelta, TurnBroken, TurnFinished
from streamkit.lab.naive import (
    FRAGMENT_CLIENTS,
    CountsBraces,
    DropsBlankFragments,
    DropsRepeats,
    NaiveClient,
    ParsesEachFragment,
    RunsAtRequiredFields,
    RunsWhenItParses,
    ScrapesFragments,
    StopsAtAnEmptyFragment,
    StripsFragments,
)
from streamkit.lab.naive_reads import READ_CLIENTS, DecodesEachRead, TakesReadsForLines
from streamkit.lab.trial import AppendsAndParsesOnce, breaks, ran, route
from streamkit.turn import turn_of
from streamkit.wire import reader

flat = st.dictionaries(st.text(), st.text() | st.integers() | st.booleans() | st.none(), min_size=1, max_size=4)
texts = st.builds(
    lambda value, ascii, indent: json.dumps(value, ensure_ascii=ascii, indent=indent),
    flat,
    st.booleans(),
    st.sampled_from([None, 1]),
)


@pytest.mark.parametrize("kind", [AppendsAndParsesOnce, NaiveClient, *FRAGMENT_CLIENTS])
@given(texts)
def test_a_flat_call_in_one_fragment_is_right_in_all_of_them(kind, text):
    assert not breaks(kind, [text], text, list(json.loads(text)))


@pytest.mark.parametrize("kind", [AppendsAndParsesOnce, NaiveClient])
@given(texts, st.data())
def test_only_appending_survives_every_cut(kind, text, data):
    ends = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=20)))
    way = [text[a:b] for a, b in zip([0, *ends], [*ends, len(text)], strict=True)]
    assert not breaks(kind, way, text)


SEARCH = '{"query": "desk lamp", "limit": 1000}'
QUOTED = r'{"query": "the \"Sun\" lamp"}'
FAULTS = [  # client, text, fragments that break it, fragments that do not
    (StripsFragments, SEARCH, ['{"query": "desk', ' lamp", "limit": 1000}'], ['{"query":', ' "desk lamp", "limit": 1000}']),
    (DropsBlankFragments, SEARCH, ['{"query": "desk', " ", 'lamp", "limit": 1000}'], ['{"query":', " ", '"desk lamp", "limit": 1000}']),
    (DropsRepeats, SEARCH, ['{"query": "desk lamp", "limit": 10', "0", "0", "}"], ['{"query": "desk lamp", "limit": 1', "0", "00}"]),
    (StopsAtAnEmptyFragment, SEARCH, ["", SEARCH], [SEARCH, ""]),
    (ParsesEachFragment, SEARCH, ["{", SEARCH[1:]], [SEARCH]),
    (ScrapesFragments, SEARCH, ['{"query"', ': "desk lamp", "limit": 1000}'], ['{"query": "desk lamp",', ' "limit": 1000}']),
    (CountsBraces, QUOTED, ['{"query": "the \\', '"Sun\\" lamp"}'], ['{"query": "the ', '\\"Sun\\" lamp"}']),
    (RunsWhenItParses, SEARCH, [SEARCH, "}"], list(SEARCH)),
    (RunsAtRequiredFields, SEARCH, ['{"query": "desk', ' lamp", "limit": 1000}'], ['{"que', 'ry": "desk lamp", "limit": 1000}']),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text", "fatal", "harmless"), FAULTS, ids=[fault[0].__name__ for fault in FAULTS])
def test_each_fault_shows_at_its_own_cut(kind, text, fatal, harmless):
    if kind is RunsWhenItParses:  # its fault is no cut: the text goes on after it parsed, and nothing may run
        assert route(fatal, kind()).ran and not route(fatal, AppendsAndParsesOnce()).ran
    else:
        assert "".join(fatal) == text
        assert breaks(kind, fatal, text, ["query"]) and not breaks(AppendsAndParsesOnce, fatal, text)
    assert not breaks(kind, harmless, text, ["query"])


def test_every_client_has_a_fault_shown_and_a_sentence():
    assert {fault[0] for fault in FAULTS} == set(FRAGMENT_CLIENTS)
    assert all(len(client.__doc__.splitlines()[0]) > 30 for client in FRAGMENT_CLIENTS + READ_CLIENTS)


def test_the_right_client_runs_nothing_in_a_turn_that_did_not_end_well():
    opened = CallDelta(0, 0, id="c", name="refund", text="{}")
    for last in (TurnFinished(0, "length"), TurnBroken(0, "interrupted", "disconnect")):
        assert ran([opened, last], AppendsAndParsesOnce()) == []
    assert ran([opened, TurnFinished(0, "tool_calls")], AppendsAndParsesOnce()) == [("refund", {})]
    assert ran([opened, TurnFinished(0, "length")], RunsWhenItParses()) == [("refund", {})]


def test_a_client_that_falls_over_is_said_to():
    events = [TextDelta(0, None, "Hm."), CallDelta(0, 0, id="c", name="t", text="{"), TurnFinished(0, "tool_calls")]
    assert ran(events, NaiveClient()) == [("raised", None)]


def read_by(make, pieces):
    wire = make("openai-chat")
    events = [event for piece in pieces for event in wire.feed(piece, 0.0)]
    return turn_of(events + wire.close("clean", 0.0)).text


BODY = 'data: {"choices":[{"delta":{"content":"Grüße"}}]}\n\ndata: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'.encode()
INSIDE = BODY.index("ü".encode()) + 1


@pytest.mark.parametrize("make", [reader, *READ_CLIENTS])
def test_readers_of_whole_events_are_right(make):
    assert read_by(make, [BODY]) == "Grüße"


@pytest.mark.parametrize(
    ("make", "at", "seen"),
    [
        (reader, INSIDE, "Grüße"),
        (DecodesEachRead, INSIDE, "Gr��ße"),
        (TakesReadsForLines, 20, ""),
        (DecodesEachRead, 20, "Grüße"),
    ],
)
def test_a_read_that_ends_inside_something(make, at, seen):
    assert read_by(make, [BODY[:at], BODY[at:]]) == seen
