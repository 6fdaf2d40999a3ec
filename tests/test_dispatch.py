"""Dispatch: at which boundary a tool runs, that it runs once, and that every call ends in a stated state."""

import _thread
import asyncio
import threading
import time

import pytest
from conftest import ALL_CASES

from streamkit.dispatch import (
    ASK,
    CALL_COMPLETION,
    REPORT,
    TURN_COMPLETION,
    Dispatcher,
    NotDone,
    Tool,
)
from streamkit.events import (
    CallDelta,
    CallFinished,
    CallMoved,
    Opaque,
    TextDelta,
    ThinkingDelta,
    TurnBroken,
    TurnFinished,
)
from streamkit.finalise import BadTool
from streamkit.key import idempotency_key
from streamkit.lab.cases import events_of, reads_of
from streamkit.ledger import Ledger
from streamkit.render import ENDED
from streamkit.store import StoreError

PAY = {"type": "object", "properties": {"cents": {"type": "integer"}}, "required": ["cents"]}
GOOD, LIMIT = TurnFinished(9, "tool_use"), TurnFinished(9, "max_tokens")
ERROR = TurnBroken(9, "failed", "provider_error:overloaded_error")


def call(index, text='{"cents": 5}', name="pay", id=None, at=1.0):
    """A call, announced and with its text in two fragments."""
    return [CallDelta(at, index, id or f"id{index}", name, text[:4]), CallDelta(at, index, None, None, text[4:])]


def done(index, complete=True):
    return CallFinished(2.0, index, None, None, complete)


def run(dispatcher, events, attempt=None, watch=None):
    return asyncio.run(dispatcher.run(events, attempt, watch))


def ends(turn):
    return [(one.outcome, one.effect) for one in turn.calls]


@pytest.fixture
def ledger(tmp_path):
    held = Ledger(tmp_path / "ledger.db")
    yield held
    held.close()


@pytest.fixture
def begin(ledger):
    """An attempt at one turn: the first, the second, …"""
    return lambda message="m1": ledger.begin("a conversation", message)


class Till:
    """A tool that counts what it did."""

    def __init__(self, **more):
        self.paid, self.keys = [], []
        self.tool = Tool("pay", self.run, parameters=PAY, **more)

    def run(self, arguments, key):
        self.paid.append(arguments["cents"])
        self.keys.append(key)
        return {"paid": arguments["cents"]}


# --- the boundaries ---------------------------------------------------------------------------------------------------


def order(dispatcher, events, attempt=None):
    """What happened in which order: "run" for a tool, and each event's number."""
    seen = []
    dispatcher.tools = {
        name: Tool(name, lambda arguments: seen.append("run"), parameters=tool.parameters)
        for name, tool in dispatcher.tools.items()
    }

    async def paced():
        for number, event in enumerate(events):
            seen.append(number)
            yield event
            await asyncio.sleep(0.01)  # a tool that may run has run by then

    turn = run(dispatcher, paced(), attempt)
    return turn, seen


def test_turn_completion_waits_for_the_end_of_the_stream():
    till = Till()
    events = [*call(0), done(0), *call(1, '{"cents": 6}'), done(1), GOOD, TextDelta(10, None, "")]
    turn, seen = order(Dispatcher([till.tool]), events)
    assert seen == [*range(len(events)), "run", "run"]
    assert ends(turn) == [("ready", "ran")] * 2


ANOTHER = {
    "the next call": call(1, '{"cents": 6}')[0],
    "text of another block": TextDelta(3, 1, "Now"),
    "an empty block of its own": TextDelta(3, 1, ""),
    "thinking": ThinkingDelta(3, 1, "hm"),
    "text without an index": TextDelta(3, None, "Now"),
    "a block of another kind": Opaque(3, 1, {"type": "image"}),
}


@pytest.mark.parametrize("event", ANOTHER.values(), ids=ANOTHER)
def test_call_completion_runs_once_the_model_went_on(ledger, begin, event):
    events = [*call(0), done(0), event, TextDelta(4, 2, "x"), GOOD]
    _, seen = order(Dispatcher([Till().tool], ledger, CALL_COMPLETION), events, begin())
    assert seen[:6] == [0, 1, 2, 3, "run", 4]


NO_PROOF = {
    "nothing": [],
    "its own late closing": [done(0)],
    "the closing of another block": [done(1)],
    "the rest of an earlier block's signature": [Opaque(3, "seen", {})],
    "an empty piece of an earlier block": [TextDelta(3, "seen", "")],
    "text without a word": [TextDelta(3, None, "")],
}


@pytest.mark.parametrize("between", NO_PROOF.values(), ids=NO_PROOF)
@pytest.mark.parametrize("end", [LIMIT, ERROR, TurnBroken(9, "interrupted", "timeout")])
def test_a_completion_event_alone_is_no_permission(ledger, begin, between, end):
    till = Till()
    first = [TextDelta(0, "seen", "Hello"), *call(1, '{"cents": 7', name="pay")]
    turn = run(Dispatcher([till.tool], ledger, CALL_COMPLETION), [*first, *call(0), done(0), *between, end], begin())
    assert till.paid == [] and {effect for _, effect in ends(turn)} == {"none"}


@pytest.mark.parametrize("finish", [GOOD, LIMIT])
def test_after_a_finish_nothing_runs_early(ledger, begin, finish):
    till = Till()
    events = [*call(0), done(0), finish, TextDelta(9.5, 1, "x"), TurnBroken(10, "failed", "provider_error")]
    turn = run(Dispatcher([till.tool], ledger, CALL_COMPLETION), events, begin())
    assert ends(turn) == [("unfinished", "none")] and till.paid == []


def test_at_the_finish_the_last_call_runs_too(ledger, begin):
    till = Till()
    events = [*call(0), done(0), *call(1, '{"cents": 6}'), done(1), GOOD]
    assert ends(run(Dispatcher([till.tool], ledger, CALL_COMPLETION), events, begin())) == [("ready", "ran")] * 2
    assert till.paid == [5, 6]


@pytest.mark.parametrize("boundary", [TURN_COMPLETION, CALL_COMPLETION])
def test_an_item_that_did_not_complete_never_runs(ledger, begin, boundary):
    till = Till()
    events = [*call(0), done(0, complete=False), *call(1, '{"cents": 6}'), done(1), TextDelta(3, 2, "x"), GOOD]
    turn = run(Dispatcher([till.tool], ledger, boundary), events, begin())
    assert turn.calls[0].effect == "not_run" and 5 not in till.paid
    if boundary == TURN_COMPLETION:
        assert till.paid == []  # nor does its sibling: dispatch is a matter of the whole turn


def test_an_item_of_the_providers_that_did_not_complete_holds_nobody_back():
    till = Till()
    search = [CallDelta(1, 0, "s", "search", "{}", "server"), done(0, complete=False)]
    assert ends(run(Dispatcher([till.tool]), [*search, *call(1), done(1), GOOD]))[1] == ("ready", "ran")


def test_call_completion_needs_a_ledger():
    with pytest.raises(ValueError, match=r"call completion requires a ledger.*Ledger\(path\)"):
        Dispatcher([], boundary=CALL_COMPLETION)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_stream_that_never_waits_does_not_keep_the_tools_from_running(ledger, begin, asynchronous):
    seen = []

    async def pay(arguments):
        seen.append("run")

    def events():
        yield from [*call(0), done(0), *(TextDelta(3, 1, "x") for _ in range(20))]
        seen.append("end")
        yield GOOD

    async def all_at_once():
        for event in events():
            yield event

    dispatcher = Dispatcher([Tool("pay", pay, parameters=PAY)], ledger, CALL_COMPLETION)
    run(dispatcher, all_at_once() if asynchronous else events(), begin())
    assert seen == ["run", "end"]


def test_what_ran_early_stays_when_the_stream_dies_and_the_retry_has_its_result(ledger, begin):
    till = Till()
    dispatcher = Dispatcher([till.tool], ledger, CALL_COMPLETION)
    broken = [*call(0), done(0), CallDelta(3, 1, "id1", "pay", '{"ce'), ERROR]
    turn = run(dispatcher, broken, begin())
    assert ends(turn) == [("unfinished", "ran"), ("unfinished", "none")]
    assert [block.state for block in turn.blocks] == ["ran", "cut off"]
    assert turn.calls[0].detail["result"] == turn.blocks[0].detail["result"] == {"paid": 5}
    again = run(dispatcher, [*call(0, '{ "cents":5 }', id="other"), done(0), GOOD], begin())
    assert ends(again) == [("ready", "duplicate")] and again.calls[0].detail["result"] == {"paid": 5}
    assert till.paid == [5]


def test_what_ran_early_stays_when_a_sibling_turns_out_bad(ledger, begin):
    events = [*call(0), done(0), CallDelta(3, 1, "c", "pay", "{"), TextDelta(4, 2, "x"), GOOD]
    turn, seen = order(Dispatcher([Till().tool], ledger, CALL_COMPLETION), events, begin())
    assert "run" in seen and ends(turn) == [("ready", "ran"), ("unparseable", "none")]


def test_a_bad_call_stops_early_dispatch_of_its_siblings(ledger, begin):
    till = Till()
    bad = [CallDelta(1, 0, "a", "pay", '{"cents":'), done(0)]
    events = [*bad, *call(1), done(1), TextDelta(3, 2, "x"), GOOD]
    turn = run(Dispatcher([till.tool], ledger, CALL_COMPLETION), events, begin())
    assert ends(turn) == [("unparseable", "none"), ("ready", "not_run")] and till.paid == []


def test_a_call_that_waits_its_turn_does_not_begin_after_a_bad_end(ledger, begin):
    paid = []

    async def slow(arguments):
        await asyncio.sleep(0.05)
        paid.append(arguments["cents"])

    events = [*call(0), done(0), *call(1, '{"cents": 6}'), done(1), CallDelta(3, 2, "c", "pay", "{"), GOOD]
    turn = run(Dispatcher([Tool("pay", slow, parameters=PAY)], ledger, CALL_COMPLETION), events, begin())
    assert ends(turn) == [("ready", "ran"), ("ready", "not_run"), ("unparseable", "none")] and paid == [5]


# --- the whole turn ---------------------------------------------------------------------------------------------------

SIBLINGS = {
    "text that does not parse": (CallDelta(2, 1, "b", "pay", '{"cents":'), "not_run"),
    "no name": (CallDelta(2, 1, "b", None, "{}"), "not_run"),
    "no object": (CallDelta(2, 1, "b", "pay", "[]"), "ran"),
    "a field of the wrong type": (CallDelta(2, 1, "b", "pay", '{"cents": "x"}'), "ran"),
    "an unknown tool": (CallDelta(2, 1, "b", "steal", "{}"), "ran"),
    "a call that the provider runs": (CallDelta(2, 1, "b", "search", '{"a":', "server"), "ran"),
}


@pytest.mark.parametrize(("sibling", "effect"), SIBLINGS.values(), ids=SIBLINGS)
def test_siblings(sibling, effect):
    till = Till()
    turn = run(Dispatcher([till.tool]), [*call(0), sibling, GOOD])
    assert turn.calls[0].effect == effect and turn.calls[1].effect == "none"
    assert till.paid == ([5] if effect == "ran" else [])


MOVES = {
    "none": {"none", "claimed", "duplicate", "changed", "not_run", "failed", "in_doubt"},
    "claimed": {"ran", "failed", "in_doubt"},
}


def moved_as_the_table_says(moves):
    """Each call from state to state along the table; "claimed" only where this dispatcher started the tool."""
    last = {}
    for move in moves:
        outcome, effect = last.get(move.ordinal, ("forming", "none"))
        assert move.effect == effect or move.effect in MOVES.get(effect, ()), (effect, move)
        assert outcome in ("forming", "finished") or move.outcome == outcome, (outcome, move)
        last[move.ordinal] = move.outcome, move.effect
    return last


@pytest.mark.parametrize("boundary", [TURN_COMPLETION, CALL_COMPLETION])
def test_every_case_cut_anywhere_ends_in_stated_states(tmp_path, boundary):
    """Over every case, whole and cut after each event: no block waits, and only what the table allows happened."""
    ledger = Ledger(tmp_path / "ledger.db")

    async def every():
        count = 0
        for case in ALL_CASES:
            events = events_of(case["api"], reads_of(case), case.get("ends", "clean"))
            started = []
            tools = [Tool(run=lambda given, s=started: s.append(given), **tool) for tool in case.get("tools") or ()]
            dispatcher = Dispatcher(tools, ledger, boundary)
            for cut in range(len(events) + 1):
                started.clear()
                moves = []
                attempt = ledger.begin(f"{case['name']} {cut}", "m")
                cut_off = [*events[:cut], TurnBroken(99, "interrupted", "disconnect")]
                turn = await dispatcher.run(cut_off, attempt, moves.append)
                moves = [move for move in moves if type(move) is CallMoved]
                assert {block.state for block in turn.blocks if block.kind == "call"} <= ENDED
                assert moved_as_the_table_says(moves) == {c.ordinal: (c.outcome, c.effect) for c in turn.calls}
                assert sum(move.effect == "claimed" for move in moves) == len(started)
                if boundary == TURN_COMPLETION and turn.next != "run":
                    assert not started
                count += len(started)
        return count

    assert asyncio.run(every()) > 40
    ledger.close()


# --- once -------------------------------------------------------------------------------------------------------------


def test_once_under_retries(ledger, begin):
    till = Till()
    dispatcher = Dispatcher([till.tool], ledger)
    texts = ['{"cents": 5, "to": "a"}', '{"to":"a","cents":5}', '{ "cents": 5.0, "to": "a" }']
    turns = [run(dispatcher, [*call(0, text, id=f"x{n}"), GOOD], begin()) for n, text in enumerate(texts)]
    assert till.paid == [5]
    assert [turn.calls[0].effect for turn in turns] == ["ran", "duplicate", "duplicate"]
    assert all(turn.calls[0].detail["result"] == {"paid": 5} for turn in turns)
    assert till.keys == [idempotency_key("a conversation", 0, "pay", {"cents": 5, "to": "a"})]
    run(dispatcher, [*call(0, texts[0]), GOOD], begin("another message"))
    assert till.paid == [5, 5]


def test_without_a_ledger_a_retry_does_it_again_and_a_turn_still_collapses():
    till = Till()
    dispatcher = Dispatcher([till.tool])
    for _ in range(2):
        assert ends(run(dispatcher, [*call(0), *call(1), GOOD])) == [("ready", "ran"), ("ready", "duplicate")]
    assert till.paid == [5, 5] and till.keys == [None, None]


@pytest.mark.parametrize("kept", [True, False], ids=["ledger", "no ledger"])
def test_occurrences(ledger, begin, kept):
    till = Till(occurrences=True)
    dispatcher = Dispatcher([till.tool], ledger if kept else None)
    for _ in range(2):
        run(dispatcher, [*call(0), *call(1), GOOD], begin() if kept else None)
    assert till.paid == [5, 5] * (1 if kept else 2)
    assert not kept or len(set(till.keys)) == 2


def test_a_later_attempt_waits_for_the_whole_turn(ledger, begin):
    till = Till()
    dispatcher = Dispatcher([till.tool], ledger, CALL_COMPLETION)
    begin()
    turn = run(dispatcher, [*call(0), done(0), TextDelta(3, 1, "Now"), ERROR], begin())
    assert ends(turn) == [("unfinished", "none")] and till.paid == []


@pytest.mark.parametrize("answer", [None, False, True, "later"])
def test_changed_is_reported_and_runs_only_where_somebody_decides(ledger, begin, answer):
    asked, till = [], Till()

    def decide(tool, arguments, changed):
        asked.append((tool, arguments, [entry.arguments for entry in changed.held]))
        return asyncio.sleep(0, True) if answer == "later" else answer

    dispatcher = Dispatcher([till.tool], ledger, CALL_COMPLETION, decide=None if answer is None else decide)
    run(dispatcher, [*call(0), done(0), TextDelta(3, 1, "Now"), ERROR], begin())
    turn = run(dispatcher, [*call(0, '{"cents": 6}'), GOOD], begin())
    effect = "ran" if answer in (True, "later") else "changed"
    assert ends(turn) == [("ready", effect)] and till.paid == [5, 6][: 2 if effect == "ran" else 1]
    assert asked == ([] if answer is None else [("pay", {"cents": 6}, [{"cents": 5}])])
    if effect == "changed":
        assert turn.calls[0].detail["held"][0]["result"] == {"paid": 5} and turn.earlier == []


def test_an_effect_of_another_attempt_goes_with_the_turn(ledger, begin):
    till = Till()
    dispatcher = Dispatcher([till.tool], ledger, CALL_COMPLETION)
    run(dispatcher, [*call(0), done(0), TextDelta(3, 1, "Now"), ERROR], begin())
    turn = run(dispatcher, [TextDelta(1, None, "All done."), TurnFinished(2, "stop")], begin())
    assert [(e["tool"], e["arguments"], e["result"]) for e in turn.earlier] == [("pay", {"cents": 5}, {"paid": 5})]


def test_equal_calls_run_in_the_order_of_the_model_and_one_at_a_time():
    log = []

    async def slow(arguments):
        log.append(("begin", arguments["cents"]))
        await asyncio.sleep(0.02 if arguments["cents"] == 5 else 0)
        log.append(("end", arguments["cents"]))

    run(Dispatcher([Tool("pay", slow, parameters=PAY)]), [*call(0), *call(1, '{"cents": 6}'), GOOD])
    assert log == [("begin", 5), ("end", 5), ("begin", 6), ("end", 6)]
    log.clear()
    run(Dispatcher([Tool("pay", slow, parameters=PAY, read_only=True)]), [*call(0), *call(1, '{"cents": 6}'), GOOD])
    assert log == [("begin", 5), ("begin", 6), ("end", 6), ("end", 5)]


# --- how a run ends ---------------------------------------------------------------------------------------------------


def raising(error):
    def tool(arguments):
        raise error

    async def coroutine(arguments):
        raise error

    return [tool, coroutine]


ENDINGS = {
    "NotDone": (NotDone("no such order"), "failed", "failed"),
    "an exception": (RuntimeError("lost"), "in_doubt", "failed"),
    "an exit": (SystemExit(1), "in_doubt", "failed"),
}


@pytest.mark.parametrize("form", [0, 1], ids=["function", "coroutine"])
@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(("error", "writing", "reading"), ENDINGS.values(), ids=ENDINGS)
def test_what_an_exception_leaves(ledger, begin, error, writing, reading, read_only, form):
    tool = Tool("pay", raising(error)[form], parameters=PAY, read_only=read_only)
    turn = run(Dispatcher([tool], ledger), [*call(0), GOOD], begin())
    effect = reading if read_only else writing
    assert ends(turn) == [("ready", effect)]
    assert str(error) in turn.calls[0].detail["error" if effect == "failed" else "reason"]
    assert [entry.state for entry in ledger.entries("a conversation", 0)] == ([] if read_only else [writing])


def test_a_time_out_is_a_doubt_and_a_late_word_still_counts(ledger, begin):
    go, told = threading.Event(), []

    def slow(arguments):
        go.wait(5)
        told.append(1)
        return "late"

    tool = Tool("pay", slow, parameters=PAY, timeout=0.05)
    dispatcher = Dispatcher([tool], ledger)
    turn = run(dispatcher, [*call(0), GOOD], begin())
    assert ends(turn) == [("ready", "in_doubt")] and turn.calls[0].detail["reason"] == "no answer in 0.05 s"
    assert not told and turn.blocks[0].state == "may have run"
    go.set()
    until(lambda: ledger.entries("a conversation", 0)[0].state == "ran")
    again = run(dispatcher, [*call(0), GOOD], begin())
    assert again.calls[0].effect == "duplicate" and again.calls[0].detail["result"] == "late" and told == [1]


def test_a_late_word_to_a_ledger_that_was_closed_harms_nothing(ledger, begin, caplog):
    go, over = threading.Event(), threading.Event()

    def slow(arguments):
        go.wait(5)
        over.set()

    run(Dispatcher([Tool("pay", slow, parameters=PAY, timeout=0.02)], ledger), [*call(0), GOOD], begin())
    ledger.close()
    go.set()
    assert over.wait(5)
    until(lambda: not any(thread.name == "streamkit" for thread in threading.enumerate()))
    assert not caplog.text


def until(true, seconds=5):
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.01)
    assert true()


def test_a_cancelled_coroutine_has_a_last_word():
    async def careful(arguments):
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            raise NotDone("the request was not sent") from None

    async def careless(arguments):
        await asyncio.sleep(5)

    for function, effect in ((careful, "failed"), (careless, "in_doubt")):
        turn = run(Dispatcher([Tool("pay", function, parameters=PAY, timeout=0.02)]), [*call(0), GOOD])
        assert turn.calls[0].effect == effect


DOWNSTREAM = {
    "it ran": (lambda arguments, key: {"was": key[:3]}, "ran", "ran"),
    "it never will": (lambda arguments, key: raising(NotDone("void"))[0](arguments), "failed", "failed"),
    "it does not know": (lambda arguments, key: raising(OSError("gone"))[0](arguments), "in_doubt", "in_doubt"),
    "it does not answer": (lambda arguments, key: time.sleep(0.5), "in_doubt", "in_doubt"),
}


@pytest.mark.parametrize("doubt", [ASK, REPORT])
@pytest.mark.parametrize(("ask", "effect", "state"), DOWNSTREAM.values(), ids=DOWNSTREAM)
def test_a_doubt_is_asked_about_with_the_same_key(ledger, begin, ask, effect, state, doubt):
    keys = []

    def asked(arguments, key):
        keys.append(key)
        return ask(arguments, key)

    def run_once(arguments, key):
        keys.append(key)
        raise OSError("the connection broke")

    tool = Tool("pay", run_once, parameters=PAY, ask=asked, timeout=0.1)
    turn = run(Dispatcher([tool], ledger, doubt=doubt), [*call(0), GOOD], begin())
    expected = (effect, state) if doubt == ASK else ("in_doubt", "in_doubt")
    entry = ledger.entries("a conversation", 0)[0]
    assert (turn.calls[0].effect, entry.state) == expected
    assert keys == [entry.key] * (2 if doubt == ASK else 1)
    if turn.calls[0].effect == "in_doubt" and doubt == REPORT:  # the next attempt asks
        keys.clear()
        again = run(Dispatcher([tool], ledger), [*call(0), GOOD], begin())
        assert again.calls[0].effect == {"ran": "duplicate"}.get(effect, effect) and keys == [entry.key]


def test_a_claim_that_another_attempt_holds_is_waited_for(ledger, begin):
    """It is never run a second time: either its end comes, or after the tool's time-out it is in doubt."""
    till, first = Till(timeout=0.3), begin()
    claim = ledger.claim(first, "pay", {"cents": 5})
    threading.Timer(0.05, lambda: ledger.settle(claim, "ran", "from the other")).start()
    moves = []
    turn = run(Dispatcher([till.tool], ledger), [*call(0), GOOD], begin(), moves.append)
    assert turn.calls[0].effect == "duplicate" and turn.calls[0].detail["result"] == "from the other"
    assert not [move for move in moves if getattr(move, "effect", "") == "claimed"]  # nothing said that it ran here
    ledger.claim(first, "pay", {"cents": 6}, proposed=[])
    turn = run(Dispatcher([till.tool], ledger), [*call(0, '{"cents": 6}'), *call(1), GOOD], begin())
    assert turn.calls[0].effect == "in_doubt" and till.paid == []
    assert [entry.state for entry in ledger.entries("a conversation", 0)] == ["ran", "in_doubt"]


class Broken:
    """A ledger whose file fails at one of its verbs."""

    def __init__(self, ledger, verb):
        self._ledger, self._verb = ledger, verb

    def __getattr__(self, name):
        if name == self._verb:
            return self._fail
        return getattr(self._ledger, name)

    def _fail(self, *_, **__):
        raise StoreError("the disk is full")


def test_a_ledger_that_fails(ledger, begin):
    """Before the run nothing runs; after it the claim stands, which is a doubt."""
    till = Till()
    turn = run(Dispatcher([till.tool], Broken(ledger, "claim")), [*call(0), GOOD], begin())
    assert ends(turn) == [("ready", "not_run")] and till.paid == [] and "disk" in turn.calls[0].detail["reason"]
    turn = run(Dispatcher([till.tool], Broken(ledger, "settle")), [*call(0), GOOD], begin("m2"))
    assert ends(turn) == [("ready", "in_doubt")] and till.paid == [5]
    assert [entry.state for entry in ledger.entries("a conversation", 1)] == ["claimed"]


def test_a_ledger_that_fails_while_a_claim_is_waited_for(ledger, begin):
    ledger.claim(begin(), "pay", {"cents": 5})
    till = Till()
    turn = run(Dispatcher([till.tool], Broken(ledger, "look")), [*call(0), GOOD], begin())
    assert ends(turn) == [("ready", "in_doubt")] and till.paid == []


def test_an_attempt_of_no_ledger_is_a_fault_and_the_call_still_ends(ledger):
    from streamkit.claims import Attempt

    till = Till()
    dispatch = Dispatcher([till.tool], ledger).turn(Attempt("nobody began it", 0, 0))
    with pytest.raises(ValueError, match="begin"):
        asyncio.run(dispatch.run([*call(0), GOOD]))
    assert ends(dispatch.turn) == [("ready", "not_run")] and till.paid == []
    with pytest.raises(ValueError, match=r"ledger\.begin"):
        Dispatcher([], ledger).turn()


def test_a_tool_cannot_change_what_is_stored(ledger, begin):
    def greedy(arguments):
        arguments["cents"] = 10**6
        return {"at": (1, 2), "odd": {3}}

    turn = run(Dispatcher([Tool("pay", greedy, parameters=PAY)], ledger), [*call(0), GOOD], begin())
    assert turn.calls[0].arguments == turn.calls[0].detail["arguments"] == {"cents": 5}
    assert (
        turn.calls[0].detail["result"] == ledger.entries("a conversation", 0)[0].result == {"at": [1, 2], "odd": "{3}"}
    )


def circular():
    ring = []
    ring.append(ring)
    return ring


@pytest.mark.parametrize(
    "result",
    [circular(), {(1, 2): 3}, b"bytes", object(), None, "\ud83d", float("nan")],
    ids=lambda value: type(value).__name__,
)
def test_whatever_a_tool_returns_the_effect_is_recorded(ledger, begin, result):
    turn = run(Dispatcher([Tool("pay", lambda arguments: result, parameters=PAY)], ledger), [*call(0), GOOD], begin())
    assert turn.calls[0].effect == "ran" and ledger.entries("a conversation", 0)[0].state == "ran"


# --- cancel -----------------------------------------------------------------------------------------------------------


async def cancelled(dispatch, events, when):
    """The turn, cancelled as soon as `when(dispatch)` is true."""
    running = asyncio.ensure_future(dispatch.run(events))
    for _ in range(500):
        await asyncio.sleep(0.002)
        if when(dispatch):
            break
    dispatch.cancel()
    return await running


async def then_silent(events):
    for event in events:
        yield event
    await asyncio.sleep(30)


def test_cancel_while_a_call_forms_runs_nothing():
    till = Till()
    dispatch = Dispatcher([till.tool]).turn()
    turn = asyncio.run(cancelled(dispatch, then_silent([TextDelta(0, None, "Hi"), *call(0)]), lambda d: d.calls))
    assert (turn.verdict, turn.reason, ends(turn)) == ("interrupted", "cancelled", [("unfinished", "none")])
    assert turn.blocks[1].state == "cancelled" and till.paid == [] and turn.text == "Hi"


def test_cancel_before_the_first_event():
    dispatch = Dispatcher([]).turn()
    dispatch.cancel()
    turn = asyncio.run(dispatch.run(then_silent([])))
    assert (turn.verdict, turn.reason) == ("interrupted", "cancelled")


def test_a_cancel_after_the_completion_event_cannot_undo_what_ran(ledger, begin):
    till = Till()
    dispatch = Dispatcher([till.tool], ledger, CALL_COMPLETION).turn(begin())
    events = then_silent([*call(0), done(0), TextDelta(3, 1, "Now")])
    turn = asyncio.run(cancelled(dispatch, events, lambda d: d.calls and d.calls[0].effect == "ran"))
    assert ends(turn) == [("unfinished", "ran")] and turn.reason == "cancelled" and till.paid == [5]
    assert turn.blocks[0].state == "ran"


@pytest.mark.parametrize("form", ["function", "coroutine"])
def test_cancel_while_a_tool_runs_leaves_a_doubt_and_starts_nothing_more(ledger, begin, form):
    go = threading.Event()

    def function(arguments):
        go.wait(5)

    async def coroutine(arguments):
        await asyncio.sleep(5)

    asked = []
    tool = Tool("pay", {"function": function, "coroutine": coroutine}[form], parameters=PAY, ask=asked.append)
    dispatch = Dispatcher([tool], ledger).turn(begin())
    events = [*call(0), *call(1, '{"cents": 6}'), GOOD]
    turn = asyncio.run(cancelled(dispatch, events, lambda d: d.calls and d.calls[0].effect == "claimed"))
    assert ends(turn) == [("ready", "in_doubt"), ("ready", "not_run")]
    assert [entry.state for entry in ledger.entries("a conversation", 0)] == ["in_doubt"] and not asked
    go.set()


def test_cancelling_the_task_ends_every_call_first(ledger, begin):
    async def slow(arguments):
        await asyncio.sleep(5)

    dispatch = Dispatcher([Tool("pay", slow, parameters=PAY)], ledger).turn(begin())

    async def main():
        task = asyncio.ensure_future(dispatch.run([*call(0), GOOD]))
        while not (dispatch.calls and dispatch.calls[0].effect == "claimed"):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert ends(dispatch.turn) == [("ready", "in_doubt")]


def test_cancel_from_another_thread_ends_the_synchronous_face():
    dispatch = Dispatcher([Till().tool]).turn()
    threading.Timer(0.05, dispatch.cancel).start()
    assert dispatch.run_sync(then_silent(call(0))).reason == "cancelled"


def test_ctrl_c_ends_every_call_of_the_synchronous_face_first():
    till = Till()
    dispatch = Dispatcher([till.tool]).turn()
    threading.Timer(0.1, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        dispatch.run_sync(then_silent(call(0)))
    assert dispatch.turn.reason == "cancelled" and till.paid == []


def test_the_synchronous_face_works_inside_a_running_loop():
    till = Till()

    async def in_a_notebook():
        return Dispatcher([till.tool]).run_sync([*call(0), GOOD])

    assert ends(asyncio.run(in_a_notebook())) == [("ready", "ran")] and till.paid == [5]


# --- the stream and the screen ----------------------------------------------------------------------------------------

RAISED = {
    "reset": (ConnectionResetError(), "interrupted", "disconnect", False),
    "time-out": (TimeoutError(), "interrupted", "timeout", False),
    "a transport's own": (type("ReadTimeout", (Exception,), {})(), "interrupted", "timeout", False),
    "a fault of the program": (KeyError("x"), "failed", "protocol_error", True),
}


@pytest.mark.parametrize(("error", "verdict", "reason", "raised"), RAISED.values(), ids=RAISED)
def test_what_a_stream_raises(error, verdict, reason, raised):
    async def stream():
        for event in call(0):
            yield event
        raise error

    till = Till()
    dispatch = Dispatcher([till.tool]).turn()
    if raised:
        with pytest.raises(type(error)):
            asyncio.run(dispatch.run(stream()))
    else:
        asyncio.run(dispatch.run(stream()))
    assert (dispatch.turn.verdict, dispatch.turn.reason) == (verdict, reason)
    assert dispatch.error is error and ends(dispatch.turn) == [("unfinished", "none")] and till.paid == []


def test_a_watcher_sees_all_and_its_fault_changes_nothing(caplog):
    till, seen = Till(), []

    def watch(event):
        seen.append(event)
        raise RuntimeError("the screen is gone")

    events = [*call(0), GOOD]
    turn = run(Dispatcher([till.tool]), events, None, watch)
    assert [event for event in seen if type(event) is not CallMoved] == events
    assert [event.effect for event in seen if type(event) is CallMoved] == ["none", "none", "claimed", "ran"]
    assert ends(turn) == [("ready", "ran")] and "watcher" in caplog.text


def test_times_never_go_back(ledger, begin):
    moves, now = [], iter(range(100))
    dispatcher = Dispatcher([Till().tool], ledger, clock=lambda: next(now))
    run(dispatcher, [*call(0, at=50.0), TurnFinished(60, "stop")], begin(), moves.append)
    times = [event.at for event in moves]
    assert times == sorted(times) and times[-1] >= 60


def test_one_dispatch_runs_one_turn():
    dispatch = Dispatcher([]).turn()
    dispatch.run_sync([])
    with pytest.raises(RuntimeError, match="once"):
        dispatch.run_sync([])


# --- tools ------------------------------------------------------------------------------------------------------------


class Callable:
    def __call__(self, arguments, key):
        return [arguments, key]


async def with_key(arguments, key):
    return [arguments, key]


def handed_on(arguments, key):
    return with_key(arguments, key)


FORMS = {
    "arguments alone": (lambda arguments: [arguments], [{"cents": 5}]),
    "another name": (lambda a, k: [a, k], [{"cents": 5}, "KEY"]),
    "key by name": (lambda arguments, *, key: [arguments, key], [{"cents": 5}, "KEY"]),
    "key with a default": (lambda arguments, key=None: [arguments, key], [{"cents": 5}, "KEY"]),
    "another default": (lambda arguments, tries=3: [arguments, tries], [{"cents": 5}, 3]),
    "an object": (Callable(), [{"cents": 5}, "KEY"]),
    "a coroutine function": (with_key, [{"cents": 5}, "KEY"]),
    "a function that gives a coroutine": (handed_on, [{"cents": 5}, "KEY"]),
    "a built-in": (dict, {"cents": 5}),
}


@pytest.mark.parametrize(("function", "result"), FORMS.values(), ids=FORMS)
def test_forms_of_a_tool(ledger, begin, function, result):
    turn = run(Dispatcher([Tool("pay", function, parameters=PAY)], ledger), [*call(0), GOOD], begin())
    key = idempotency_key("a conversation", 0, "pay", {"cents": 5})
    given = turn.calls[0].detail["result"]
    assert given == [key if part == "KEY" else part for part in result] if isinstance(result, list) else given == result


@pytest.mark.parametrize(
    "wrong",
    [lambda: 1, lambda a, b, c: 1, lambda a, *, session: 1, "not a function", None],
    ids=["none", "three", "a keyword", "text", "nothing"],
)
def test_a_tool_that_cannot_be_called_is_refused_before_anything_is_claimed(wrong):
    with pytest.raises(BadTool, match=r"tool pay: .*\(arguments, key\)"):
        Tool("pay", wrong)


@pytest.mark.parametrize("bad", [{"boundary": "early"}, {"doubt": "ignore"}, {"tools": [{"name": "pay"}]}])
def test_bad_policies_are_one_clear_line(bad):
    with pytest.raises(ValueError, match=r"expected .* got"):
        Dispatcher(**{"tools": [], **bad})
