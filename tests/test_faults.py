"""One rule: what is kept of a broken stream is a prefix, and nothing in it is ever ready."""

import json
import random

import pytest

from streamkit.lab.faults import ERRORS, HOWS, boundaries, break_off, cut, error_event
from streamkit.lab.paths import CASES
from streamkit.lab.problem import Problem
from streamkit.turn import turn_of
from streamkit.wire import APIS, reader

# complete streams of the conformance cases, one an API, each read a tenth of a second after the last
SAMPLES = {
    "openai-chat": "012-interleaved-by-index",
    "openai-responses": "072-responses-done-only-arguments",
    "anthropic-messages": "085-ping-and-unknown-events",
    "gemini": "078-gemini-parallel-no-ids",
    "ollama": "081-ollama-separate-done-line",
}
REASONS = {"reset": "disconnect", "silence": "timeout", "cancel": "cancelled"}


def stream(api):
    case = json.loads((CASES / f"{SAMPLES[api]}.json").read_text(encoding="utf-8"))
    assert case["api"] == api and case["expected"]["turn"] == "complete"
    return [(number / 10, chunk.encode()) for number, chunk in enumerate(case["chunks"], 1)]


def body(reads):
    return b"".join(data for _, data in reads)


def turn(broken, api):
    wire = reader(api)
    events = [event for at, data in broken.reads for event in wire.feed(data, at)]
    return turn_of(events + wire.close(broken.ending, broken.ended_at))


def test_every_api_has_its_sample_and_its_error():
    assert set(APIS) == set(SAMPLES) == set(ERRORS)


@pytest.mark.parametrize("api", SAMPLES)
def test_a_cut_keeps_a_prefix_and_its_times(api):
    reads = stream(api)
    whole, times = body(reads), dict.fromkeys(at for at, _ in reads)
    for size in range(len(whole) + 1):
        kept = cut(reads, api, byte=size)
        assert body(kept) == whole[:size]
        assert [at for at, _ in kept] == list(times)[: len(kept)]
    for at in (0, 0.1, 0.15, 0.2, 99):
        assert cut(reads, api, at=at) == [read for read in reads if read[0] <= at]


@pytest.mark.parametrize("api", SAMPLES)
def test_events_end_where_a_reader_sees_them_end(api):
    """One byte short of its end an event has not been read; with that byte it has."""
    whole = body(stream(api))
    ends = boundaries(whole, api)
    assert ends[-1] == len(whole) and len(ends) >= 2
    for number, end in enumerate(ends, 1):
        assert body(cut(stream(api), api, event=number)) == whole[:end]
    decoder = reader(api).decoder()
    frames_at = [place + 1 for place in range(len(whole)) if decoder.feed(whole[place : place + 1])]
    assert set(frames_at) <= {*ends} | {end - 1 for end in ends}  # CR LF: done at its CR


@pytest.mark.parametrize("body, ends", [(b"a\r\n\r\nb\r\n\r\n", [5, 10]), (b"a\r\rb\r\r", [3, 6]), (b"a\r\nb\r\n", [])])
def test_line_ends_of_all_three_kinds(body, ends):
    assert boundaries(body, "openai-chat") == ends


@pytest.mark.parametrize("api", SAMPLES)
@pytest.mark.parametrize("how", REASONS)
def test_what_broke_off_has_no_call_that_may_run(api, how):
    reads, luck = stream(api), random.Random(6)
    size = len(body(reads))
    finish = next(n for n in range(size + 1) if turn(break_off(reads, api, "close", byte=n), api).verdict == "complete")
    for place in {0, finish - 1, *(luck.randrange(finish) for _ in range(40))}:
        broken = break_off(reads, api, how, byte=place, idle=5)
        ended = turn(broken, api)
        assert (ended.verdict, ended.reason) == ("interrupted", REASONS[how])
        assert all(call.outcome == "unfinished" for call in ended.calls)
        last = broken.reads[-1][0] if broken.reads else 0
        assert broken.ended_at == last + (5 if how == "silence" else 0)


@pytest.mark.parametrize("api", SAMPLES)
def test_an_error_event_is_one_in_the_form_of_its_api(api):
    """At every byte: whole events are kept, the error is understood, and nothing is ready even where the finish had come."""
    reads = stream(api)
    error = ERRORS[api][1]["error"] if api != "openai-responses" else ERRORS[api][1]
    word = (error.get("code") or error.get("type")) if isinstance(error, dict) else None
    for place in range(0, len(body(reads)) + 1, 7):
        broken = break_off(reads, api, "error", byte=place)
        kept = [end for end in boundaries(body(reads), api) if end <= place]
        assert body(broken.reads[:-1]) == body(reads)[: kept[-1] if kept else 0]
        assert broken.reads[-1][1] == error_event(api, len(kept))
        ended = turn(broken, api)
        assert (broken.ending, ended.verdict) == ("error", "failed")
        assert ended.reason == (f"provider_error:{word}" if word else "provider_error")
        assert not any(call.outcome == "ready" for call in ended.calls)


def test_a_time_is_when_it_happened():
    reads = stream("openai-chat")
    for how in HOWS:
        broken = break_off(reads, "openai-chat", how, at=0.25, idle=10)
        assert broken.ended_at == pytest.approx(10.2 if how == "silence" else 0.25)
        assert all(at <= broken.ended_at for at, _ in broken.reads)


@pytest.mark.parametrize(
    "wrong",
    [{"byte": -1}, {"byte": 10**9}, {"event": 10**6}, {}, {"byte": 1, "at": 2.0}, {"byte": 1, "api": "soap"}]
    + [{"byte": 1, "how": "hiccup"}],
    ids=str,
)
def test_a_place_that_is_none_is_refused(wrong):
    with pytest.raises(Problem, match="expected"):
        break_off(stream("gemini"), **{"api": "gemini", "how": "error"} | wrong)
