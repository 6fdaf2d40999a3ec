"""The readers of the APIs: any cut gives the same events, and a frame that cannot be read fails the turn."""

import importlib
import json

import pytest
from conftest import ALL_CASES, random_cuts

from streamkit.events import CallDelta, Opaque, TextDelta, TurnBroken, TurnFinished
from streamkit.lab.cases import events_of, reads_of, recut
from streamkit.turn import turn_of
from streamkit.wire import APIS, UnknownAPI, reader
from streamkit.wire.reader import DEPTH


def timeless(events):
    return [event._replace(at=0) for event in events]


@pytest.mark.parametrize("case", ALL_CASES, ids=lambda case: case["name"])
def test_any_cut_gives_the_same_events(case):
    reads, api, ends = reads_of(case), case["api"], case["ends"]
    size = sum(len(data) for _, data in reads)
    whole = timeless(events_of(api, reads, ends))
    assert timeless(events_of(api, recut(reads, range(size)), ends)) == whole
    for place in random_cuts(size, case["name"], 50):
        assert timeless(events_of(api, recut(reads, [place]), ends)) == whole


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("frame", ["{", "[]", "1", '"x"', "null", "[" * 100_000, '{"a": "\\ud83d', "\x00"])
def test_a_frame_that_is_no_object_fails_the_turn(api, frame):
    line = frame.encode() + b"\n" if api == "ollama" else b"data: " + frame.encode() + b"\n\n"
    assert events_of(api, [(0.0, line)], "clean") == [TurnBroken(0.0, "failed", "protocol_error")]


MISSHAPEN = [
    ("openai-chat", {"choices": 1}),
    ("openai-chat", {"choices": [1]}),
    ("openai-chat", {"choices": [{"delta": "text"}]}),
    ("openai-chat", {"choices": [{"delta": {"content": 5}}]}),
    ("openai-chat", {"choices": [{"delta": {"tool_calls": [{"index": [], "function": {}}]}}]}),
    ("openai-chat", {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": 7}]}}]}),
    ("openai-chat", {"choices": [{"delta": {"tool_calls": [{"function": {"arguments": [1]}}]}}]}),
    ("openai-chat", {"choices": [{"delta": {}, "finish_reason": {"a": 1}}]}),
    ("anthropic-messages", {"type": "content_block_delta", "index": 0}),
    ("anthropic-messages", {"type": "content_block_start", "index": {}, "content_block": {"type": "text"}}),
    (
        "anthropic-messages",
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": 1}},
    ),
    ("openai-responses", {"type": "response.output_item.added"}),
    ("openai-responses", {"type": "response.function_call_arguments.delta", "delta": {}}),
    ("gemini", {"candidates": [{"content": {"parts": [{"functionCall": {"partialArgs": [{"jsonPath": "$.a"}]}}]}}]}),
    (
        "gemini",
        {
            "candidates": [
                {"content": {"parts": [{"functionCall": {"name": "x", "partialArgs": [{"jsonPath": "$..a"}]}}]}}
            ]
        },
    ),
    (
        "gemini",
        {
            "candidates": [
                {"content": {"parts": [{"functionCall": {"name": "x", "partialArgs": [{"jsonPath": "$.a[9]"}]}}]}}
            ]
        },
    ),
    ("ollama", {"message": {"tool_calls": [{"function": {"name": "x", "arguments": [1]}}]}}),
]


@pytest.mark.parametrize(("api", "payload"), MISSHAPEN)
def test_a_frame_of_another_shape_fails_the_turn(api, payload):
    text = json.dumps(payload).encode()
    line = text + b"\n" if api == "ollama" else b"data: " + text + b"\n\n"
    assert events_of(api, [(0.0, line)], "clean")[-1] == TurnBroken(0.0, "failed", "protocol_error")


def test_bytes_that_are_no_text_fail_the_turn():
    body = b'data: {"choices":[{"delta":{"content":"\xff"}}]}\n\n'
    assert events_of("openai-chat", [(0.0, body)], "clean") == [TurnBroken(0.0, "failed", "protocol_error")]
    line = b'{"message":{"content":"\xff"},"done":false}\n'
    assert events_of("ollama", [(0.0, line)], "clean") == [TurnBroken(0.0, "failed", "protocol_error")]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("ending", "reason"),
    [
        ("clean", "eof_without_finish"),
        ("error", "eof_without_finish"),
        ("disconnect", "disconnect"),
        ("timeout", "timeout"),
        ("cancel", "cancelled"),
    ],
)
def test_an_end_without_a_finish_is_an_interruption(api, ending, reason):
    assert events_of(api, [], ending) == [TurnBroken(0.0, "interrupted", reason)]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ({"code": 502, "type": "x"}, "provider_error:502"),
        ({"code": None, "type": "overloaded_error"}, "provider_error:overloaded_error"),
        ({"status": "UNAVAILABLE"}, "provider_error:UNAVAILABLE"),
        ({"message": "no"}, "provider_error"),
        ("no", "provider_error"),
    ],
)
def test_an_error_is_named_by_its_code_type_or_status(error, reason):
    body = b"data: " + json.dumps({"error": error, "choices": []}).encode() + b"\n\n"
    assert events_of("openai-chat", [(0.0, body)], "clean") == [TurnBroken(0.0, "failed", reason)]


def test_a_key_repeated_in_arguments_that_came_as_an_object_is_not_lost():
    body = b'{"message":{"tool_calls":[{"function":{"name":"x","arguments":{"to":"a","to":"b"}}}]},"done":true}\n'
    assert events_of("ollama", [(0.0, body)], "clean") == [TurnBroken(0.0, "failed", "protocol_error")]


def test_a_choice_other_than_the_first_is_not_the_turn():
    choices = [
        {"index": 1, "delta": {"content": "b"}},
        {"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"},
    ]
    body = b"data: " + json.dumps({"choices": choices}).encode() + b"\n\n"
    assert turn_of(events_of("openai-chat", [(0.0, body)], "clean")).text == "a"


def test_over_says_that_nothing_more_is_expected():
    wire = reader("openai-chat")
    wire.feed(b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n', 0.0)
    assert not wire.over
    wire.feed(b"data: [DONE]\n\n", 0.1)
    assert wire.over


def test_the_partial_arguments_of_gemini_are_assembled_by_path():
    paths = [
        {"jsonPath": "$.a", "stringValue": "x", "willContinue": True},
        {"jsonPath": "$.a", "stringValue": "y"},
        {"jsonPath": "$.b[0].c", "numberValue": 1.5},
        {"jsonPath": "$.b[1]", "boolValue": True},
        {"jsonPath": "$['odd key']", "nullValue": None},
    ]
    frames = [{"name": "t", "willContinue": True}] + [{"partialArgs": [p], "willContinue": True} for p in paths] + [{}]
    body = "".join(
        "data: " + json.dumps({"candidates": [{"content": {"parts": [{"functionCall": f}]}}]}) + "\n\n" for f in frames
    )
    events = events_of("gemini", [(0.0, body.encode())], "disconnect")
    text = "".join(event.text for event in events if isinstance(event, CallDelta))
    assert json.loads(text) == {"a": "xy", "b": [{"c": 1.5}, True], "odd key": None}


def test_unknown_api():
    with pytest.raises(UnknownAPI, match="openai-chat"):
        reader("openai")


def test_a_finish_is_told_as_the_provider_said_it():
    body = b'data: {"choices":[{"delta":{},"finish_reason":"weird"}]}\n\n'
    assert events_of("openai-chat", [(0.5, body)], "clean") == [TurnFinished(0.5, "weird")]


@pytest.mark.parametrize(("depth", "whole"), [(DEPTH - 6, True), (DEPTH, False)])
def test_a_frame_that_nests_too_deep_fails_the_turn(depth, whole):
    """It could be read, and then neither stored nor shown: JSON's writer and the screens have limits of their own."""
    frame = (
        '{"type": "content_block_start", "index": 0, "content_block": {"type": "x", "a": ' + "[" * depth + "]" * depth
    )
    events = events_of("anthropic-messages", [(0.0, f"data: {frame}}}}}\n\n".encode())], "clean")
    assert (type(events[0]) is Opaque) == whole
    assert events[-1] == TurnBroken(
        0.0, *("interrupted", "eof_without_finish") if whole else ("failed", "protocol_error")
    )
    shallow = b'data: {"choices": [{"delta": {"content": "' + b"[{" * 500 + b'"}}]}\n\n'
    assert type(events_of("openai-chat", [(0.0, shallow)], "clean")[0]) is TextDelta


@pytest.mark.parametrize("calls", [1, 300])
def test_a_frame_is_looked_at_for_repeated_keys_once_however_many_calls_it_has(monkeypatch, calls):
    """Each call's arguments came as an object; a look for each would cost the square of the frame."""
    looked = []
    module = importlib.import_module("streamkit.wire.reader")  # the package has a function of that name
    monkeypatch.setattr(module, "refuse_repeats", lambda pairs: looked.append(1) or dict(pairs))
    frame = {"message": {"tool_calls": [{"function": {"name": "x", "arguments": {"a": n}}} for n in range(calls)]}}
    assert len(events_of("ollama", [(0.0, json.dumps(frame).encode() + b"\n")], "clean")) == 2 * calls + 1
    assert len(looked) == 2 + 3 * calls  # the objects of one frame


@pytest.mark.parametrize("steps", [100, 101, 20_000])
def test_a_path_of_too_many_steps_fails_the_turn(steps):
    """Arguments so deep were never strict, and putting them together may not run out of stack when the stream ends."""
    piece = {"jsonPath": "$" + ".a" * steps, "stringValue": "x"}
    call = {"name": "x", "willContinue": True, "partialArgs": [piece]}
    body = json.dumps({"candidates": [{"content": {"parts": [{"functionCall": call}]}}]}).encode()
    last = events_of("gemini", [(0.0, b"data: " + body + b"\n\n")], "disconnect")[-1]
    assert last.reason == ("disconnect" if steps <= 100 else "protocol_error")
