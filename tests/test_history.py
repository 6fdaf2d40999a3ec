"""Histories: what a turn leaves is accepted by the providers' own types, is true, and never holds a cut call."""

import asyncio
import copy
import functools
import json
import random
from collections.abc import Iterable

import pytest
from conftest import ALL_CASES
from pydantic import TypeAdapter

from streamkit.blocks import restored
from streamkit.claims import Attempt
from streamkit.dispatch import CALL_COMPLETION, TURN_COMPLETION, Dispatcher, NotDone, Tool
from streamkit.events import CallDelta, CallFinished, Opaque, TextDelta, ThinkingDelta, Turn, TurnBroken, TurnFinished
from streamkit.failure import failure
from streamkit.history import ASSISTANT, MARKED, PROSE, ROLL_BACK, WAYS, fabricated, has_effect, persist, problems
from streamkit.lab.captures import find_captures, load, read_capture
from streamkit.lab.case_effects import FIELDS, judge_effects
from streamkit.lab.cases import cut_case, events_of, reads_of, turn_of_case
from streamkit.lab.derive import derived
from streamkit.lab.faults import boundaries
from streamkit.ledger import Ledger
from streamkit.results import HISTORIES, result, results
from streamkit.said import read
from streamkit.turn import turn_of
from streamkit.wire import reader

CHAT, RESPONSES, MESSAGES = HISTORIES
PAY = {"type": "object", "properties": {"cents": {"type": "integer"}}, "required": ["cents"]}
GOOD = TurnFinished(9, "tool_use")
CUT = TurnBroken(9, "interrupted", "disconnect")


# --- the providers' own types -----------------------------------------------------------------------------------------


@functools.cache
def types(api):
    """The type of one message of an API, from its official SDK."""
    if api == CHAT:
        from openai.types.chat import ChatCompletionMessageParam as Message
    elif api == RESPONSES:
        from openai.types.responses import ResponseInputItemParam as Message
    else:
        from anthropic.types import MessageParam as Message
    return TypeAdapter(Message)


def spread(value):
    """Read a validated value to its end: pydantic checks what a type calls Iterable only when it is read."""
    if isinstance(value, dict):
        return {name: spread(inner) for name, inner in value.items()}
    return value if isinstance(value, str) or not isinstance(value, Iterable) else [spread(inner) for inner in value]


def accepted(messages, api):
    """The SDK's types take every message, and know every field of it."""
    for message in messages:
        assert spread(types(api).validate_python(message)) == message
    return True


def test_the_types_do_refuse():
    for api, wrong in (
        (CHAT, {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f"}}]}),
        (RESPONSES, {"type": "function_call", "call_id": "a", "name": "f", "arguments": {}}),
        (MESSAGES, {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": "{"}]}),
        (MESSAGES, {"role": "assistant", "content": [{"type": "text", "text": "x", "state": "cut off"}]}),
    ):
        with pytest.raises((ValueError, AssertionError)):
            accepted([wrong], api)


# --- every case -------------------------------------------------------------------------------------------------------


def dispatched(events, tools=(), ledger=None, boundary=TURN_COMPLETION, attempt=None):
    return asyncio.run(Dispatcher(tools, ledger, boundary).run(events, attempt))


def counting(offers, ran):
    return [Tool(run=lambda given: ran.append(given) or {"done": len(ran)}, **offer) for offer in offers or ()]


def check(messages, turn, api):
    assert problems(messages, api, turn) == [] and accepted(messages, api)
    json.dumps(messages, ensure_ascii=False).encode()
    return messages


@pytest.mark.parametrize("case", ALL_CASES, ids=lambda case: case["name"])
def test_every_history_of_every_case(case):
    """Before dispatch and after it, and from stored blocks: no problem, and the SDKs' own types take it."""
    plain = turn_of_case(case)
    events = events_of(case["api"], reads_of(case), case.get("ends", "clean"))
    turn = dispatched(events, counting(case.get("tools"), []))
    for api in HISTORIES:
        for way in WAYS:
            check(persist(plain, api, way), plain, api)
            history = check(persist(turn, api, way), turn, api)
            assert persist(reloaded(turn), api, way) == history
        assert len(calls_in(persist(turn, api), api)) == sum(told(call) for call in turn.calls)


def told(call):
    """The state table's last column: a call stays where it has a result or an error."""
    has_error = call.outcome == "invalid" and isinstance(call.arguments, dict) and bool(call.name)
    return call.kind == "client" and (call.effect in ("ran", "duplicate", "failed") or has_error)


def reloaded(turn):
    blocks = [restored(plain) for plain in json.loads(json.dumps([block.stored() for block in turn.blocks]))]
    calls = sorted((block.call for block in blocks if block.kind == "call"), key=lambda call: call.ordinal)
    return Turn(turn.verdict, turn.reason, blocks, calls, turn.next)


def calls_in(messages, api):
    return [one for one in read(messages, api) if one.kind == "call"]


@pytest.mark.parametrize("case", ALL_CASES, ids=lambda case: case["name"])
def test_a_fabricated_history_is_named_wrong_by_a_rule(case):
    turn = turn_of_case(case)
    forged = [call for call in turn.calls if call.kind == "client" and call.outcome in ("unfinished", "unparseable")]
    for api in HISTORIES:
        messages = fabricated(turn, api)
        if forged:
            found = problems(messages, api, turn)
            assert all(any(call.id in one for one in found) for call in forged if call.name)
            assert problems(messages, api) == [] and accepted(messages, api)  # which is why it is dangerous


def test_a_fabricated_history_with_the_cut_text_itself_is_refused_at_sight():
    turn = turn_of([*ANNOUNCED, CUT])
    messages = fabricated(turn, CHAT)
    messages[0]["tool_calls"][0]["function"]["arguments"] = turn.calls[0].text
    assert "arguments that are no object" in problems(messages, CHAT)[0]
    messages = fabricated(turn, CHAT, result="paid", close=lambda text: json.loads(text + "}"))
    assert calls_in(messages, CHAT)[0].value == '{"cents": 1}' and messages[1]["content"] == "paid"
    assert "never completed" in problems(messages, CHAT, turn)[0]


# --- streams that die -------------------------------------------------------------------------------------------------

ANNOUNCED = [TextDelta(0, 0, "I will pay."), CallDelta(1, 1, "id1", "pay", '{"cents": 1')]


def dead_streams(capture):
    """The capture cut at each event boundary and at 200 random places: the events of each way in which it can have died.

    The bytes are read once; at each place a copy of the reader is told the ending. Places that give the same events are
    one way.
    """
    body, chance, seen = capture.body, random.Random(capture.name), set()
    places = {0, *boundaries(body, capture.api), *(chance.randrange(len(body)) for _ in range(200))} - {len(body)}
    wire, events, start = reader(capture.api), [], 0
    for place in sorted(places):
        events += wire.feed(body[start:place], float(place))
        start = place
        last = copy.deepcopy(wire).close(chance.choice(["disconnect", "timeout", "cancel"]), float(place))
        way = (len(events), *(event._replace(at=0) for event in last))
        if way not in seen:
            seen.add(way)
            yield [*events, *last]


@pytest.mark.parametrize("path", find_captures(), ids=lambda path: path.stem)
def test_a_stream_that_dies_leaves_the_prose_and_the_note(path):
    """Over every capture, cut at each event boundary and at 200 random places: no tool ran, no call in the history."""
    capture, ran = read_capture(path), []
    dispatcher = Dispatcher(counting(capture.tools, ran))

    async def every():
        died = 0
        for events in dead_streams(capture):
            ran.clear()
            turn = await dispatcher.run(events)
            if turn.verdict == "complete":  # cut behind the finish
                continue
            died += 1
            assert not ran
            for way in (ASSISTANT, MARKED):
                messages = persist(turn, capture.api, way)
                assert problems(messages, capture.api, turn) == [] and not calls_in(messages, capture.api)
                texts = [one.value for one in read(messages, capture.api)]
                assert "".join(texts).startswith(turn.text if turn.text.strip() else "[")
                notes = [text for text in texts if "[interruption note" in text]
                assert len(notes) == 1 and notes[0] is texts[-1]
                assert all(call.name in notes[0] for call in turn.calls)
                assert not any(call.text in notes[0] for call in turn.calls if len(call.text) > 2)
        return died

    assert asyncio.run(every()) > 5


@pytest.mark.parametrize("name", ["two-searches", "two-equal-refunds", "two-tools", "limit-in-second-call"])
@pytest.mark.parametrize("api", ["messages", "responses"])
def test_what_ran_before_a_stream_died_is_told(tmp_path, api, name):
    """Dispatch at call completion, on real streams whose closing events were moved to where a provider sends them."""
    capture, ran = derived(load(f"{api}-{name}")), []
    ledger = Ledger(tmp_path / "ledger.db")
    dispatcher = Dispatcher(counting(capture.tools, ran), ledger, CALL_COMPLETION)
    early = 0

    async def every():
        nonlocal early
        events = capture.events()
        for cut in range(len(events)):
            ran.clear()
            turn = await dispatcher.run([*events[:cut], CUT], ledger.begin(f"cut at {cut}", "m"))
            if turn.verdict == "complete":
                continue
            assert all(call.outcome == "unfinished" for call in turn.calls)
            early += bool(ran)
            for way in WAYS:
                messages = check(persist(turn, capture.api, way), turn, capture.api)
                assert len(calls_in(messages, capture.api)) == len(ran)
                assert not ran or "[interruption note" in json.dumps(messages)

    asyncio.run(every())
    ledger.close()
    assert early > 0


@pytest.mark.parametrize("api", HISTORIES)
def test_lone_surrogates_never_reach_a_history(api, tmp_path):
    pieces = [
        TextDelta(0, 0, "a \ud83d"),
        TextDelta(0, 0, "\ude00 b \ud83d"),
        CallDelta(1, 1, "i\ud83d", "p\ud83dy", '{"'),
    ]
    turn = turn_of([*pieces, TurnBroken(2, "failed", "x\udc00")])
    for way in WAYS:
        text = json.dumps(check(persist(turn, api, way), turn, api), ensure_ascii=False)
        assert way == ROLL_BACK or "a \U0001f600 b \ufffd" in text
    tool = Tool("pay", lambda given: {"\ud83d": "\udc00"}, parameters=PAY)
    ran = dispatched([CallDelta(1, 1, "i\ud83d", "pay", '{"cents": 1}'), GOOD], [tool])
    assert ran.calls[0].effect == "ran" and len(calls_in(check(persist(ran, api), ran, api), api)) == 1


# --- effects ----------------------------------------------------------------------------------------------------------


def lost(given):
    raise OSError("lost")


def not_done(given):
    raise NotDone("no such account")


TOOLS = {"ran": lambda given: {"paid": given["cents"]}, "failed": not_done, "in_doubt": lost}


@pytest.mark.parametrize("api", HISTORIES)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("effect", TOOLS)
def test_an_effect_is_told_in_every_way(tmp_path, effect, way, api):
    """A turn that ran something and then died is neither rolled back nor told by prose alone."""
    ledger = Ledger(tmp_path / "ledger.db")
    tool = Tool("pay", TOOLS[effect], parameters=PAY)
    text, done = TextDelta(0, 0, "I pay."), CallFinished(2, 1)
    events = [text, CallDelta(1, 1, "id1", "pay", '{"cents": 1}'), done, TextDelta(3, 2, "Then"), CUT]
    turn = dispatched(events, [tool], ledger, CALL_COMPLETION, ledger.begin("c", "m"))
    ledger.close()
    assert [(call.outcome, call.effect) for call in turn.calls] == [("unfinished", effect)]
    messages = check(persist(turn, api, way), turn, api)
    said, told = read(messages, api), "".join(str(one.value) for one in read(messages, api))
    if effect == "failed":  # nothing happened: it may be rolled back
        assert not has_effect(turn) and (way != ROLL_BACK or messages == [])
    if effect == "in_doubt":
        assert not calls_in(messages, api) and 'pay({"cents": 1}) may have run' in told
    elif effect == "ran" or way in (ASSISTANT, MARKED):
        assert (
            [one.id for one in said if one.kind == "result"]
            == ["id1"]
            == [one.id for one in said if one.kind == "call"]
        )
        assert ('{"paid": 1}' if effect == "ran" else "no such account") in told
    wrong = said_without(messages, api)
    if effect != "failed":
        assert problems(wrong, api, turn) and problems(wrong, api) == []


def said_without(messages, api):
    """The same turn told by prose alone."""
    text = {"role": "assistant", "content": "I pay.Then"}
    return [text if api == CHAT else {"type": "message", **text} if api == RESPONSES else text]


@pytest.mark.parametrize("api", HISTORIES)
def test_a_duplicate_gets_the_recorded_result_under_its_own_id(tmp_path, api):
    ledger, paid = Ledger(tmp_path / "ledger.db"), []
    tool = Tool("pay", lambda given: paid.append(given) or {"receipt": len(paid)}, parameters=PAY)
    for id in ("first", "second"):
        events = [CallDelta(1, 0, id, "pay", '{"cents": 1}'), GOOD]
        turn = dispatched(events, [tool], ledger, attempt=ledger.begin("c", "m"))
        answer = next(one for one in read(check(persist(turn, api), turn, api), api) if one.kind == "result")
        assert (answer.id, answer.value) == (id, '{"receipt": 1}')
    ledger.close()


def test_what_another_attempt_did_is_told_although_this_one_does_not_ask_for_it(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db")
    tool = Tool("pay", lambda given: "done", parameters=PAY)
    early = [CallDelta(1, 0, "a", "pay", '{"cents": 1}'), CallFinished(2, 0), TextDelta(3, 1, "x"), CUT]
    dispatched(early, [tool], ledger, CALL_COMPLETION, ledger.begin("c", "m"))
    silent = dispatched([TextDelta(0, 0, "Hello.")], [tool], ledger, attempt=ledger.begin("c", "m"))
    other = dispatched(
        [CallDelta(1, 0, "b", "pay", '{"cents": 2}'), GOOD], [tool], ledger, attempt=ledger.begin("c", "m")
    )
    ledger.close()
    for turn in (silent, other):
        for api in HISTORIES:
            for way in WAYS:
                messages = check(persist(turn, api, way), turn, api)
                assert 'pay({"cents": 1}) ran, with the result done' in json.dumps(messages).replace('\\"', '"')
                assert problems([], api, turn)
    assert other.calls[0].effect == "changed"


def test_two_calls_of_one_turn_each_by_its_own_row_of_the_table(tmp_path):
    """Ran, failed, refused, in doubt and not known, in one turn: results in the order of the calls, one note for the rest."""
    tools = [Tool(effect, function, parameters=PAY) for effect, function in TOOLS.items()]
    texts = {"ran": '{"cents": 1}', "failed": '{"cents": 2}', "in_doubt": '{"cents": 3}', "steal": "{}"}
    events = [CallDelta(1, n, f"id{n}", name, text) for n, (name, text) in enumerate(texts.items())]
    turn = dispatched([TextDelta(0, None, "Well. "), *events, GOOD], tools)
    for api in HISTORIES:
        said = read(check(persist(turn, api), turn, api), api)
        assert [one.id for one in said if one.kind == "call"] == [one.id for one in said if one.kind == "result"]
        assert [one.name for one in said if one.kind == "call"] == ["ran", "failed", "steal"]
        assert (
            said[0].value
            == 'Well. \n\n[interruption note: in_doubt({"cents": 3}) may have run, and its result is not known]'
        )
    marked = persist(turn, MESSAGES, MARKED)
    assert [block["type"] for block in marked[-1]["content"]] == ["tool_result"] * 3 + ["text"]
    assert marked[-1]["content"][-1]["text"].startswith(
        "[interruption note, written by the client and not by the user: "
    )


# --- the in-band error ------------------------------------------------------------------------------------------------


def test_the_error_result_of_an_invalid_call_has_every_complaint_in_each_providers_form():
    tools = [{"name": "pay", "parameters": {**PAY, "required": ["cents", "to"]}}]
    call = turn_of([CallDelta(1, 0, "id1", "pay", '{"cents": "5"}'), GOOD], tools).calls[0]
    chat, item, block = (result(call, api) for api in HISTORIES)
    text = block["content"]
    assert len(call.detail["complaints"]) == 2 and all(complaint in text for complaint in call.detail["complaints"])
    assert chat == {"role": "tool", "tool_call_id": "id1", "content": f"Error: {text}"}
    assert item == {"type": "function_call_output", "call_id": "id1", "output": f"Error: {text}"}
    assert block == {"type": "tool_result", "tool_use_id": "id1", "content": text, "is_error": True}
    assert results([call, call], MESSAGES) == [{"role": "user", "content": [block, block]}]
    assert results([call], CHAT) == [chat] and results([], MESSAGES) == []


@pytest.mark.parametrize(
    "events",
    [
        [*ANNOUNCED, CUT],
        [*ANNOUNCED, GOOD],
        [CallDelta(1, 0, "a", None, "{}"), GOOD],
        [CallDelta(1, 0, "a", "pay", "[]"), GOOD],
    ],
    ids=["cut", "unparseable", "unnamed", "no object"],
)
def test_what_cannot_be_answered_has_no_result(events):
    turn = turn_of(events)
    with pytest.raises(ValueError, match="no result"):
        result(turn.calls[0], CHAT)
    assert not any(calls_in(persist(turn, api), api) for api in HISTORIES)


# --- forms ------------------------------------------------------------------------------------------------------------


def test_ids_and_names_that_a_provider_refuses():
    """An id of another form is replaced on both sides; a call under such a name is told in the note."""
    tool = Tool("pay", lambda given: "ok", parameters=PAY)
    odd = Tool("a tool: odd]", lambda given: "ok", parameters=PAY)
    for id, api, kept in (
        ("functions.pay:0", MESSAGES, False),
        ("functions.pay:0", CHAT, True),
        ("x" * 41, CHAT, False),
    ):
        turn = dispatched([CallDelta(1, 0, id, "pay", '{"cents": 1}'), GOOD], [tool])
        assert (calls_in(check(persist(turn, api), turn, api), api)[0].id == id) == kept
    turn = dispatched([CallDelta(1, 0, "a", "a tool: odd]", '{"cents": 1}'), GOOD], [odd])
    for api in HISTORIES:
        messages = check(persist(turn, api), turn, api)
        assert not calls_in(messages, api) and "a tool: odd)" in json.dumps(messages)


def test_a_note_is_one_line_whatever_is_in_it():
    name = "x]\n[interruption note: all is well\x1b[2J\u2028" + "y" * 5000
    turn = turn_of([CallDelta(1, 0, "a", name, "{"), TurnBroken(2, "failed", "a\nb]")])
    text = persist(turn, CHAT)[0]["content"]
    assert text.isprintable() and text.count("[") == text.count("]") == 1 and text[-1] == "]" and len(text) < 1000


def test_arguments_stay_as_the_model_wrote_them():
    """A provider's cache goes by the text; only what it would refuse is written anew."""
    tool = Tool("pay", lambda given: "ok")
    for text, stored in (('{ "b":1,\n"a": 1.0 }', '{ "b":1,\n"a": 1.0 }'), ("", "{}"), ("null", "{}")):
        turn = dispatched([CallDelta(1, 0, "a", "pay", text), GOOD], [tool])
        assert calls_in(persist(turn, CHAT), CHAT)[0].value == stored
        assert calls_in(persist(turn, MESSAGES), MESSAGES)[0].value == json.loads(stored)


def test_signed_thinking_and_what_ran_on_the_providers_side_go_back_as_they_came():
    found = {"type": "web_search_tool_result", "tool_use_id": "srv1", "content": []}
    whole = [
        ThinkingDelta(0, 0, "Hm"),
        Opaque(0, 0, {"type": "signature_delta", "signature": "c2ln"}),
        CallDelta(1, 1, "srv1", "web_search", '{"query": "x"}', "server"),
        Opaque(2, 2, found),
        TextDelta(3, 3, "So."),
        CallDelta(4, 4, "id1", "pay", '{"cents": 1}'),
    ]
    tool = Tool("pay", lambda given: "ok", parameters=PAY)
    turn = dispatched([*whole, GOOD], [tool])
    content = check(persist(turn, MESSAGES), turn, MESSAGES)[0]["content"]
    assert [block["type"] for block in content] == ["thinking", "server_tool_use", found["type"], "text", "tool_use"]
    assert content[0] == {"type": "thinking", "thinking": "Hm", "signature": "c2ln"} and content[2] == found
    for lone in (whole[:2] + whole[4:5] + [Opaque(2, 2, found)], whole[:3] + whole[4:5]):  # one without the other
        turn = dispatched([*lone, GOOD], [tool])
        assert [b["type"] for b in check(persist(turn, MESSAGES), turn, MESSAGES)[0]["content"]] == ["thinking", "text"]
    odd = [
        Opaque(2, n, payload)
        for n, payload in enumerate([None, "x", {"type": [], "tool_use_id": {}}, {"signature": 1}])
    ]
    turn = dispatched([*odd, TextDelta(3, 9, "So."), GOOD])
    assert all(check(persist(turn, api), turn, api) for api in HISTORIES)
    cut = dispatched([*whole, CUT], [tool])
    assert [block["type"] for block in check(persist(cut, MESSAGES), cut, MESSAGES)[0]["content"]] == ["text"]
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": []}
    turn = dispatched(
        [Opaque(0, 0, reasoning), TextDelta(1, 1, "So."), Opaque(2, 2, reasoning), TurnFinished(3, "completed")]
    )
    assert [item["type"] for item in check(persist(turn, RESPONSES), turn, RESPONSES)] == ["reasoning", "message"]


@pytest.mark.parametrize("bad", [("ollama", ASSISTANT), (CHAT, "keep all")])
def test_bad_input_is_one_clear_line(bad):
    with pytest.raises(ValueError, match=r"expected one of .*, got"):
        persist(turn_of([CUT]), *bad)


# --- problems ---------------------------------------------------------------------------------------------------------


def conversation(api):
    """A good history with one call and its result, to be spoiled."""
    tool = Tool("pay", lambda given: "ok", parameters=PAY)
    turn = dispatched([TextDelta(0, 0, "I pay."), CallDelta(1, 1, "id1", "pay", '{"cents": 1}'), GOOD], [tool])
    return turn, persist(turn, api)


SPOILED = {
    CHAT: {
        "without its result": lambda m: m[:1],
        "without its result in the next": lambda m: [m[0], {"role": "user", "content": "Well?"}, m[1]],
        "result without its call": lambda m: m[1:],
        "second result": lambda m: [*m, m[1]],
        "a second call": lambda m: [{**m[0], "tool_calls": m[0]["tool_calls"] * 2}, m[1]],
        "arguments that are no object": lambda m: [put(m[0], "arguments", "[1]"), m[1]],
        "call id1: arguments that are": lambda m: [put(m[0], "arguments", {"cents": 1}), m[1]],
        "a tool's name": lambda m: [put(m[0], "name", "pay now"), m[1]],
        "an empty block": lambda m: [*m, {"role": "assistant", "content": ""}],
        "an empty list of calls": lambda m: [*m, {"role": "assistant", "content": "ok", "tool_calls": []}],
        "an empty": lambda m: [*m, {"role": "assistant", "content": None}],
        "a role of": lambda m: [*m, {"role": "robot", "content": "x"}],
        "an object was expected": lambda m: [*m, "x"],
        "half a surrogate": lambda m: [*m, {"role": "user", "content": "\ud83d"}],
        "no JSON": lambda m: [*m, {"role": "user", "content": "x", "at": {1}}],
    },
    RESPONSES: {
        "without its result": lambda m: m[:2],
        "result without its call": lambda m: [m[0], m[2], m[1]],
        "arguments that are no object": lambda m: [m[0], {**m[1], "arguments": '{"cents": '}, m[2]],
        "an id that": lambda m: [m[0], {**m[1], "call_id": None}, m[2]],
        "an empty block": lambda m: [{**m[0], "content": [{"type": "output_text", "text": " \n"}]}, *m[1:]],
        "a role of": lambda m: [*m, {"content": "x"}],
    },
    MESSAGES: {
        "without its result": lambda m: m[:1],
        "result without its call": lambda m: m[1:],
        "without its result in the next": lambda m: [m[0], {**m[1], "content": [TEXT, *m[1]["content"]]}],
        "in a message of the user": lambda m: [{**m[0], "role": "user"}, m[1]],
        "arguments that are no object": lambda m: [{**m[0], "content": [{**m[0]["content"][1], "input": "{"}]}, m[1]],
        "an id that": lambda m: [{**m[0], "content": [{**m[0]["content"][1], "id": "a.b"}]}, m[1]],
        "an empty block": lambda m: [{**m[0], "content": [{"type": "text", "text": "\n"}, m[0]["content"][1]]}, m[1]],
        "an empty": lambda m: [*m, {"role": "assistant", "content": []}],
        "a block with a type": lambda m: [*m, {"role": "assistant", "content": [1]}],
        "as content": lambda m: [*m, {"role": "assistant", "content": 5}],
    },
}
TEXT = {"type": "text", "text": "Well?"}


def put(message, name, value):
    message = copy.deepcopy(message)
    message["tool_calls"][0]["function"][name] = value
    return message


@pytest.mark.parametrize(("api", "said"), [(api, said) for api, ways in SPOILED.items() for said in ways])
def test_each_problem_is_named(api, said):
    _, good = conversation(api)
    assert problems(good, api) == []
    assert any(said in one for one in problems(SPOILED[api][said](good), api))


@pytest.mark.parametrize("api", HISTORIES)
def test_what_is_not_true_is_named_beside_the_turn(api):
    turn, good = conversation(api)
    other = json.loads(json.dumps(good).replace('"ok"', '"paid twice"'))
    assert problems(other, api) == [] and "not the one that it had" in problems(other, api, turn)[0]
    strange = json.loads(json.dumps(good).replace("id1", "id2"))
    assert problems(strange, api) == [] and "the turn does not have" in problems(strange, api, turn)[0]


@pytest.mark.parametrize("api", HISTORIES)
@pytest.mark.parametrize(
    "odd", [None, {}, [None], [[]], [{"role": "assistant", "content": {}, "tool_calls": "x"}], [{"type": []}]]
)
def test_problems_takes_whatever_comes(api, odd):
    assert problems(odd, api)


def deep() -> list:
    value: list = []
    for _ in range(10_000):
        value = [value]
    return value


@pytest.mark.parametrize("api", HISTORIES)
@pytest.mark.parametrize("odd", [10**5_000, deep()], ids=["digits", "deep"])
def test_problems_writes_out_what_cannot_be_written_by_its_type(api, odd):
    """The words for a complaint are made of the value: its text may not exist."""
    for message in (
        {"role": odd},
        {"type": odd},
        {"role": "tool", "tool_call_id": odd, "content": "x"},
        {"type": "function_call_output", "call_id": odd, "output": "x"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": odd, "name": odd, "input": {}}]},
    ):
        assert all(len(line) < 200 for line in problems([message], api))
    assert any("too large to show" in line for line in problems([{"role": odd}], api))


def test_a_complaint_about_an_id_is_one_line():
    call = {"id": "a\n\x1b[2Jb", "type": "function", "function": {"name": "x", "arguments": "{}"}}
    (line,) = problems([{"role": "assistant", "content": None, "tool_calls": [call]}], CHAT)
    assert line.isprintable()


@pytest.mark.parametrize("unsendable", [float("nan"), float("inf"), "\ud83d"])
def test_what_no_request_can_carry_is_not_replayed(unsendable):
    """A block kept as it came goes back as it came or not at all; a provider refuses the whole request for it."""
    for payload, api in (
        ({"type": "redacted_thinking", "data": unsendable}, MESSAGES),
        ({"type": "reasoning", "summary": [unsendable]}, RESPONSES),
    ):
        good = payload | ({"data": "x"} if api == MESSAGES else {"summary": ["x"]})
        for sent, there in ((payload, False), (good, True)):
            turn = turn_of([Opaque(1, 0, sent), TextDelta(2, 1, "So."), GOOD])
            messages = persist(turn, api)
            assert not problems(messages, api, turn) and (payload["type"] in json.dumps(messages)) == there


# --- the case fields and the failure record ---------------------------------------------------------------------------

JUDGED = [case for case in ALL_CASES if set(FIELDS) & set(case["expected"])]


@pytest.mark.parametrize("case", JUDGED, ids=lambda case: case["name"])
def test_the_case_fields(case):
    assert judge_effects(case) is None
    assert judge_effects(case, cut_case(case, bytewise=True)) is None


def test_eight_cases_have_such_fields():
    assert len(JUDGED) == 8


WRONG = {
    "persist": ({"text": "x"}, {"note": False}, {"calls": 1}),
    "retry_ledger": ({"executions": 2}, {"canonical": "{}"}, {"verdict": "failed"}, {"state_on_restart": "ran"}),
}


@pytest.mark.parametrize("case", JUDGED, ids=lambda case: case["name"])
def test_the_judge_sees_each_wrong_expectation(case):
    for field, changes in WRONG.items():
        for change in changes if field in case["expected"] else ():
            wrong = {**case["expected"], field: case["expected"][field] | change}
            assert judge_effects({**case, "expected": wrong})
    if "view_end_state" in case["expected"]:
        assert judge_effects({**case, "expected": {**case["expected"], "view_end_state": "ran"}})


@pytest.mark.parametrize(
    "naive",
    [
        lambda turn, api, way: fabricated(turn, api),
        lambda turn, api, way: persist(turn, api, PROSE),
        lambda turn, api, way: persist(turn, api, ROLL_BACK),
        lambda turn, api, way: [],
    ],
)
def test_a_naive_history_does_not_pass(naive):
    assert all(judge_effects(case, persist=naive) for case in JUDGED if "persist" in case["expected"])


def test_the_failure_record_is_plain_and_holds_every_fragment():
    turn = turn_of([*ANNOUNCED, CallDelta(2.5, 1, None, None, "00"), TurnBroken(3, "interrupted", "timeout")])
    record = json.loads(json.dumps(failure(turn, Attempt("c", 4, 1))))
    assert [record[name] for name in ("conversation", "turn", "attempt", "verdict", "reason", "text")] == [
        *("c", 4, 1, "interrupted", "timeout", "I will pay.")
    ]
    assert record["calls"][0]["fragments"] == [[1, '{"cents": 1'], [2.5, "00"]]
    assert failure(turn_of([TextDelta(0, 0, "Hi"), TurnFinished(1, "stop")])) is None
    assert failure(turn_of([*ANNOUNCED, GOOD]))["verdict"] == "complete"  # a finish over cut arguments
