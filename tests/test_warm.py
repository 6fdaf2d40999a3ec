"""Warming: begun on stable fields, used where it fits, thrown away where not; the decision to dispatch stays at completion."""

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamkit.dispatch import Dispatcher, Tool, Warm
from streamkit.events import ArgumentSnapshot, CallDelta, TurnBroken, TurnFinished
from streamkit.lab.captures import find_captures, read_capture
from streamkit.turn import TurnBuilder
from streamkit.warm import Warmer, Warming

SEARCH = {"type": "object", "properties": {"query": {"type": "string"}, "scope": {"type": "string"}}}
GOOD = TurnFinished(9, "stop")


def begun_at(fields, text, size=1):
    """How many characters had come when the warmer began, and with what."""
    warmer = Warmer(fields)
    for end in range(size, len(text) + size, size):
        if values := warmer.feed(text[end - size : end]):
            return min(end, len(text)), values
    return None


@pytest.mark.parametrize(
    ("text", "end", "values"),
    [
        ('{"query": "lamp", "scope": "one"}', len('{"query": "lamp"'), {"query": "lamp"}),
        ('{"scope": "one", "query": "lamp"}', len('{"scope": "one", "query": "lamp"'), {"query": "lamp"}),
        ('{"query": 12, "scope": 1}', len('{"query": 12,'), {"query": 12}),  # a number closes at what follows it
        ('{"query": {"a": [1]}}', len('{"query": {"a": [1]}'), {"query": {"a": [1]}}),
    ],
)
def test_it_begins_when_the_last_wanted_field_closes(text, end, values):
    assert begun_at(["query"], text) == (end, values)


@pytest.mark.parametrize("text", ['{"query": "lam', '{"scope": "one"}', '{"query": 12', "[1]", '{"query": tru'])
def test_it_does_not_begin_on_what_may_still_change(text):
    assert begun_at(["query"], text) is None


def test_it_begins_once_and_looks_no_further():
    warmer = Warmer(["query"])
    assert warmer.feed('{"query": "a", ') and warmer.feed('"query": "b"}') is None
    assert warmer.values == {"query": "a"} and warmer.fits({"query": "a"}) and not warmer.fits({"query": "b"})


@pytest.mark.parametrize(("began", "final"), [(1, True), (1, 1.0), ("a", "A"), ([1], [1, 2]), (None, 0)])
def test_like_is_not_the_same(began, final):
    warmer = Warmer(["query"])
    warmer.feed(json.dumps({"query": began}))
    assert warmer.fits({"query": began, "more": 1}) and not warmer.fits({"query": final}) and not warmer.fits({})


@given(
    st.dictionaries(st.sampled_from(["query", "scope", "limit"]), st.text() | st.integers(), min_size=1),
    st.integers(1, 9),
)
def test_however_it_is_cut_it_begins_with_the_final_values(arguments, size):
    text = json.dumps(arguments)
    found = begun_at(["query"], text, size)
    assert (found is not None) == ("query" in arguments)
    assert found is None or found[1] == {"query": arguments["query"]}


class Service:
    """A tool whose warm work is a connection."""

    def __init__(self, form="coroutine", discard="function"):
        self.log, self.open = [], 0
        start = {"coroutine": self.connect, "function": self.connect_now}[form]
        close = {"function": self.close, "coroutine": self.close_later, "none": None}[discard]
        self.tool = Tool("search", self.run, parameters=SEARCH, warm=Warm(("query",), start, close))

    async def connect(self, values):
        return self.connect_now(values)

    def connect_now(self, values):
        self.log.append(("warm", values["query"]))
        self.open += 1
        return f"connection for {values['query']}"

    def close(self, connection):
        self.open -= 1

    async def close_later(self, connection):
        await asyncio.sleep(0)
        self.open -= 1

    async def run(self, arguments, warm):
        self.log.append(("run", warm))
        self.open -= warm is not None
        return "found"


async def paced(events):
    for event in events:
        yield event
        await asyncio.sleep(0.01)


def go(service, events):
    dispatch = Dispatcher([service.tool]).turn()
    turn = asyncio.run(dispatch.run(paced(events)))
    return turn, (dispatch.warming.begun, dispatch.warming.used, dispatch.warming.thrown_away)


def pieces(text, name="search"):
    return [CallDelta(1, 0, "a", name), *(CallDelta(1, 0, None, None, text[i : i + 3]) for i in range(0, len(text), 3))]


@pytest.mark.parametrize("form", ["coroutine", "function"])
def test_it_is_there_when_the_run_begins(form):
    service = Service(form)
    turn, counts = go(service, [*pieces('{"query": "lamp", "scope": "all"}'), GOOD])
    assert service.log == [("warm", "lamp"), ("run", "connection for lamp")]
    assert counts == (1, 1, 0) and service.open == 0 and turn.calls[0].effect == "ran"


CHANGED = {
    "a snapshot replaces the text": [*pieces('{"query": "lamp"'), ArgumentSnapshot(2, 0, '{"query": "desk"}'), GOOD],
    "it is cut off": [*pieces('{"query": "lamp"'), TurnBroken(9, "interrupted", "disconnect")],
    "it does not parse": [*pieces('{"query": "lamp", "query": "desk"}'), GOOD],
    "the turn is refused": [*pieces('{"query": "lamp"}'), TurnFinished(9, "content_filter")],
}


@pytest.mark.parametrize("form", ["coroutine", "function"])
@pytest.mark.parametrize("discard", ["function", "coroutine"])
@pytest.mark.parametrize("events", CHANGED.values(), ids=CHANGED)
def test_it_is_thrown_away_where_it_does_not_fit(events, discard, form):
    service = Service(form, discard)
    turn, (begun, used, thrown_away) = go(service, events)
    assert service.log[0] == ("warm", "lamp") and begun == used + thrown_away and thrown_away == 1
    assert service.open == 0  # every connection was either used or closed
    assert ("run", "connection for lamp") not in service.log
    assert turn.next == "run" or not [what for what, _ in service.log if what == "run"]


def test_after_a_snapshot_it_begins_anew_with_what_stands_there():
    service = Service()
    _, counts = go(service, [*pieces('{"query": "lamp"'), ArgumentSnapshot(2, 0, '{"query": "desk"}'), GOOD])
    assert service.log == [("warm", "lamp"), ("warm", "desk"), ("run", "connection for desk")] and counts == (2, 1, 1)


def test_what_does_not_fit_the_final_arguments_is_not_handed_out():
    """The last look, whatever came between: the values that it began with, and nothing like them."""

    async def work():
        service = Service()
        warming, builder = Warming({"search": service.tool}), TurnBuilder()
        for event in pieces('{"query": "lamp"}'):
            builder.add(event)
            warming.add(builder.calls[0])
        stop = asyncio.get_running_loop().create_future()
        assert await warming.take(0, {"query": "desk"}, 1, stop) is None
        await warming.end()
        return service.open, warming.thrown_away

    assert asyncio.run(work()) == (0, 1)


def test_a_snapshot_of_the_same_text_keeps_it():
    service = Service()
    _, counts = go(service, [*pieces('{"query": "lamp"}'), ArgumentSnapshot(2, 0, '{"query": "lamp"}'), GOOD])
    assert counts == (1, 1, 0)


def test_work_that_fails_or_hangs_leaves_a_cold_run():
    async def refuse(values):
        raise OSError("no service there")

    async def hang(values):
        await asyncio.sleep(30)

    for start in (refuse, hang):
        service = Service()
        service.tool = Tool("search", service.run, parameters=SEARCH, timeout=0.05, warm=Warm(("query",), start))
        turn, counts = go(service, [*pieces('{"query": "lamp"}'), GOOD])
        assert service.log == [("run", None)] and turn.calls[0].effect == "ran" and counts == (1, 0, 1)


def test_what_hangs_is_cancelled_when_its_call_is_cut():
    log = []

    async def hang(values):
        try:
            await asyncio.sleep(30)
        finally:
            log.append("closed")

    async def work():
        tool = Tool("search", lambda arguments: None, parameters=SEARCH, warm=Warm(("query",), hang))
        await Dispatcher([tool]).run(paced([*pieces('{"query": "lamp"'), TurnBroken(9, "interrupted", "timeout")]))
        log.append("over")

    asyncio.run(work())
    assert log == ["closed", "over"]


def test_a_name_that_grows_from_one_tool_to_another_takes_nothing_along():
    service, other = Service(), []
    all_tool = Tool(
        "search_all", lambda arguments, warm: other.append(warm), parameters=SEARCH, warm=Warm(("scope",), dict)
    )
    events = [*pieces('{"query": "lamp"}'), CallDelta(2, 0, None, "_all"), GOOD]
    dispatch = Dispatcher([service.tool, all_tool]).turn()
    turn = asyncio.run(dispatch.run(events))
    assert turn.calls[0].effect == "ran" and other == [None] and service.open == 0
    assert (dispatch.warming.used, dispatch.warming.thrown_away) == (0, 1)


def test_a_name_that_grows_into_another_tool_is_not_warmed_for_the_first():
    service = Service()
    events = [*pieces('{"query": "lamp"}'), CallDelta(2, 0, None, "_all"), GOOD]
    turn, (_, used, _) = go(service, events)
    assert turn.calls[0].name == "search_all" and turn.calls[0].outcome == "invalid" and used == 0 and service.open == 0


@pytest.mark.parametrize("path", find_captures(), ids=lambda path: path.stem)
def test_over_every_capture_it_begins_before_completion_and_fits(path):
    """The streams are real; the warm field is the first required one of each tool."""
    capture = read_capture(path)
    warmed, ran = set(), []

    def tool(offer):
        if not (required := offer["parameters"].get("required", ())[:1]):
            return Tool(run=lambda arguments: None, **offer)
        warmed.add(offer["name"])
        return Tool(
            run=lambda arguments, warm: ran.append((arguments, warm)), **offer, warm=Warm(tuple(required), dict)
        )

    dispatch = Dispatcher([tool(offer) for offer in capture.tools]).turn()
    turn = asyncio.run(dispatch.run(capture.events()))
    assert dispatch.warming.begun == dispatch.warming.used + dispatch.warming.thrown_away
    assert dispatch.warming.used == len(ran) == sum(c.effect == "ran" and c.name in warmed for c in turn.calls)
    assert all(warm.items() <= arguments.items() for arguments, warm in ran)
