"""What chapter 1 claims, held against the captures; and that its exercise can be solved on every text it uses."""

import pytest
from conftest import random_cuts
from partial_json_parser import loads

from streamkit.events import TextDelta
from streamkit.finalise import Tools
from streamkit.lab.answers import cuts
from streamkit.lab.captures import find_captures, read_capture
from streamkit.lab.course.chapter1 import BROKEN, CLIENTS, FRAGMENTS, TYPED, WAYS, Given, attempt, cases, diagnose
from streamkit.lab.first_sight import sights
from streamkit.lab.naive import FRAGMENT_CLIENTS, RunsWhenItParses
from streamkit.lab.trial import AppendsAndParsesOnce, breaks, ran
from streamkit.strict import NotStrict, strict

CAPTURES = [read_capture(path) for path in find_captures()]
TURNS = [(capture, capture.turn()) for capture in CAPTURES]
READY = [(call, capture.tools) for capture, turn in TURNS for call in turn.calls if call.outcome == "ready"]


def prefixes(call):
    """What is held after each fragment but the last."""
    held = ""
    for fragment in call.fragments[:-1]:
        held += fragment.text
        yield held


def test_a_text_delta_makes_the_text_longer_and_changes_nothing_before():
    for capture, turn in TURNS:
        pieces = [event.text for event in capture.events() if isinstance(event, TextDelta)]
        assert "".join(pieces) == turn.text


def test_no_ready_call_parses_before_its_last_fragment():
    assert len(READY) > 50
    for call, _ in READY:
        for held in prefixes(call):
            with pytest.raises(NotStrict):
                strict(held)


def test_a_closed_prefix_may_satisfy_the_schema_and_be_wrong():
    """All three kinds occur: refused, accepted and right, accepted and wrong."""
    kinds = set()
    for call, tools in READY[:40]:
        offered = Tools(tools)
        for held in prefixes(call) if len(call.text) <= 500 else ():
            closed = loads(held)
            kinds.add("refused" if offered.complaints(call.name, closed) else closed == call.arguments)
    assert kinds == {"refused", True, False}


def test_the_announcement_is_whole_from_the_start():
    """The early name never changes, and comes before the last fragment."""
    for _, turn in TURNS:
        for call in turn.calls:
            assert len(call.names) == 1 and call.announced_at <= turn.calls[-1].fragments[-1].at


def test_on_the_captures_the_right_client_never_fails_and_each_kind_of_naive_one_is_there():
    right = dict.fromkeys([AppendsAndParsesOnce, *FRAGMENT_CLIENTS], 0)
    good = [(c, t) for c, t in TURNS if t.next == "run" and all(call.outcome == "ready" for call in t.calls)]
    for capture, turn in good:
        required = {field for tool in capture.tools for field in tool["parameters"].get("required", [])}
        for client in right:
            right[client] += ran(capture.events(), client(required)) == [(c.name, c.arguments) for c in turn.calls]
    assert right[AppendsAndParsesOnce] == len(good)
    shares = {client: count / len(good) for client, count in right.items() if client is not AppendsAndParsesOnce}
    assert min(shares.values()) < 0.1 and max(shares.values()) == 1, "some fail almost everywhere, some never here"


def test_the_sights_are_in_order():
    shown = list(sights(capture for capture, turn in TURNS if turn.verdict == "complete"))
    assert len(shown) > 50 and len({sight.api for sight in shown}) == 3
    assert all(sight.announced <= sight.held_back and sight.announced <= sight.finished for sight in shown)
    assert any(sight.held_back >= sight.finished for sight in shown), "in some the proxy swallows the early name"


# The exercise.


def test_every_client_is_tried_on_typed_and_on_captured_texts():
    tried = {(case.given.client, case.group) for case in cases()}
    assert {name for name, _ in tried} == {client.__name__ for client in CLIENTS}
    assert len(tried) == 2 * len(CLIENTS)


def test_the_answer_breaks_each_client_on_every_ready_call_that_a_cut_can_break():
    for call, tools in READY:
        required = next(tool["parameters"].get("required", []) for tool in tools if tool["name"] == call.name)
        ways = cuts(call.text)
        assert len(ways) <= WAYS and all("".join(way) == call.text and len(way) <= FRAGMENTS for way in ways)
        for client in CLIENTS if len(call.text) <= 250 else ():
            if any(
                breaks(client, [call.text[:at], call.text[at:]], call.text, required) for at in range(1, len(call.text))
            ):
                assert any(breaks(client, way, call.text, required) for way in ways), (client, call.text)


@pytest.mark.parametrize(("text", "required"), TYPED)
def test_the_right_client_survives_random_cuts_of_the_typed_texts(text, required):
    for number in range(50):
        ends = sorted(random_cuts(len(text), f"{text}{number}", 4))
        way = [text[a:b] for a, b in zip([0, *ends], [*ends, len(text)], strict=True)]
        assert not breaks(AppendsAndParsesOnce, way, text)
        assert not breaks(RunsWhenItParses, way, text), "its fault is no cut"


@pytest.mark.parametrize(
    ("answer", "pointer"),
    [
        (lambda text: None, "shape"),
        (lambda text: [text], "shape"),
        (lambda text: [5, 7], "shape"),
        (lambda text: [[text[:3], 7]], "shape"),
        (lambda text: [[text[:3], text[4:]]], "append"),
        (lambda text: [[text, text]], "append"),
        (lambda text: [[text.replace(": ", ":")]], "append"),
        (lambda text: [[*text]], "few"),
        (lambda text: [[text]] * (WAYS + 1), "few"),
        (lambda text: [], None),
    ],
)
def test_what_is_no_honest_cut_is_said_to_be_none(answer, pointer):
    given = Given("StripsFragments", '{"query": "desk lamp"}', ["query"])
    got = attempt(answer, given)
    assert got != BROKEN and diagnose(given, BROKEN, got) == pointer
