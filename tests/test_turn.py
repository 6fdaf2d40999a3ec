"""The verdict on a turn and on its calls."""

import pytest

from streamkit.events import CallDelta, CallFinished, Opaque, TextDelta, TurnBroken, TurnFinished
from streamkit.turn import GOOD, LIMITS, TurnBuilder, mint, turn_of

CALL = CallDelta(0.1, 0, "a", "list_alerts", "{}")
TOOLS = [{"name": "list_alerts"}, {"name": "x", "parameters": {"type": "object", "required": ["a"]}}]


def outcomes(*events):
    turn = turn_of(events, TOOLS)
    return turn.verdict, turn.reason, [(call.outcome, call.effect) for call in turn.calls], turn.next


@pytest.mark.parametrize("reason", sorted(GOOD))
def test_a_listed_finish_completes(reason):
    assert outcomes(CALL, TurnFinished(1, reason)) == ("complete", reason, [("ready", "none")], "run")


@pytest.mark.parametrize("reason", sorted(LIMITS))
def test_a_limit_interrupts(reason):
    assert outcomes(CALL, TurnFinished(1, reason)) == ("interrupted", reason, [("unfinished", "none")], "end")


@pytest.mark.parametrize("reason", ["content_filter", "refusal", "", "STOPPED", "MALFORMED_FUNCTION_CALL"])
def test_any_other_finish_fails(reason):
    assert outcomes(CALL, TurnFinished(1, reason)) == ("failed", reason, [("unfinished", "none")], "end")


@pytest.mark.parametrize(
    ("events", "verdict", "reason"),
    [
        ([], "interrupted", "eof_without_finish"),
        ([TurnFinished(1, "tool_calls"), TurnFinished(2, "stop")], "complete", "stop"),
        ([TurnFinished(1, "length"), TurnFinished(2, "stop")], "complete", "stop"),
        ([TurnFinished(1, "stop"), TurnFinished(2, "length")], "interrupted", "length"),
        ([TurnFinished(1, "stop"), TurnFinished(2, "content_filter")], "failed", "content_filter"),
        ([TurnFinished(1, "content_filter"), TurnFinished(2, "stop")], "failed", "content_filter"),
        ([TurnFinished(1, "stop"), TurnBroken(2, "failed", "provider_error")], "failed", "provider_error"),
        ([TurnFinished(1, "stop"), TurnBroken(2, "interrupted", "timeout")], "complete", "stop"),
        ([TurnFinished(1, "stop"), CallDelta(2, 0, None, None, "x")], "failed", "protocol_error"),
        ([TurnFinished(1, "stop"), CallDelta(2, 1, "b", "list_alerts")], "failed", "protocol_error"),
        ([TurnFinished(1, "stop"), CallDelta(2, 0, None, "_more")], "failed", "protocol_error"),
        ([TurnFinished(1, "stop"), CallDelta(2, 0, "a", "list_alerts")], "complete", "stop"),  # restated
        ([TurnFinished(1, "stop"), CallDelta(2, 0, "", "", "")], "complete", "stop"),
        ([TurnBroken(1, "failed", "protocol_error"), TurnFinished(2, "stop")], "failed", "protocol_error"),
    ],
)
def test_repeated_and_late_ends(events, verdict, reason):
    assert outcomes(CALL, *events)[:2] == (verdict, reason)


def test_nothing_after_a_failure_is_taken():
    turn = turn_of(
        [CALL, TurnBroken(1, "failed", "protocol_error"), CallDelta(2, 0, None, None, "}"), TextDelta(3, None, "x")]
    )
    assert turn.calls[0].text == "{}" and turn.text == ""


BROKEN = CallDelta(0.2, 1, "b", "x", '{"a":')
REFUSED = CallDelta(0.2, 1, "b", "x", "{}")
UNNAMED = CallDelta(0.2, 1, "b", None, "{}")
SERVER = CallDelta(0.2, 1, "b", "web_search", '{"a":', "server")


@pytest.mark.parametrize(
    ("sibling", "expected", "next_step"),
    [
        (BROKEN, [("ready", "not_run"), ("unparseable", "none")], "end"),
        (UNNAMED, [("ready", "not_run"), ("invalid", "none")], "end"),
        (REFUSED, [("ready", "none"), ("invalid", "none")], "run"),
        (SERVER, [("ready", "none"), ("unparseable", "none")], "run"),
    ],
)
def test_one_call_that_cannot_be_trusted_holds_back_its_siblings(sibling, expected, next_step):
    assert outcomes(CALL, sibling, TurnFinished(1, "tool_calls"))[2:] == (expected, next_step)


def test_done_without_calls_and_with_server_calls_alone():
    assert outcomes(TextDelta(0, None, "hi"), TurnFinished(1, "stop"))[3] == "done"
    assert outcomes(CallDelta(0.2, 1, "b", "web_search", "{}", "server"), TurnFinished(1, "stop"))[3] == "done"


def test_moves_are_told_once_each():
    builder = TurnBuilder(TOOLS)
    moves = [
        m
        for e in (CALL, CallDelta(0.2, 0, None, None, " "), CallFinished(0.3, 0), TurnFinished(0.4, "stop"))
        for m in builder.add(e)
    ]
    moves += builder.end(0.5)
    assert [(m.at, m.ordinal, m.outcome, m.effect) for m in moves] == [
        (0.1, 0, "forming", "none"),
        (0.3, 0, "finished", "none"),
        (0.5, 0, "ready", "none"),
    ]


def test_minted_ids_repeat_and_differ_by_all_they_hang_on():
    assert mint("c", 1, 0, 0) == mint("c", 1, 0, 0)
    assert (
        len({mint("c", 1, 0, 0), mint("d", 1, 0, 0), mint("c", 2, 0, 0), mint("c", 1, 1, 0), mint("c", 1, 0, 1)}) == 5
    )
    call = turn_of([CallDelta(0, 0, None, "list_alerts")], conversation="c", turn=1).calls[0]
    assert call.minted and call.id == mint("c", 1, 0, 0)


@pytest.mark.parametrize(("limit", "event"), [("EVENTS", TextDelta(0, None, "a")), ("BLOCKS", Opaque(0, None, {}))])
def test_a_turn_of_too_many_events_or_blocks_fails(monkeypatch, limit, event):
    """Each is kept, so without a limit a stream that never ends would fill the memory. What came before is there."""
    monkeypatch.setattr(f"streamkit.turn.{limit}", 10)
    good = turn_of([*[event] * 9, TurnFinished(0, "stop")])
    assert good.verdict == "complete"
    builder = TurnBuilder()
    for _ in range(1_000):
        builder.add(event)
    builder.add(CallDelta(1, 0, "a", "x", "{}"))
    builder.add(TurnFinished(1, "stop"))
    builder.end()
    assert (builder.turn.verdict, builder.turn.reason, builder.turn.calls) == ("failed", "protocol_error", [])
    assert 10 <= sum(len(block.pieces) + len(block.extras) for block in builder.blocks) <= 11
