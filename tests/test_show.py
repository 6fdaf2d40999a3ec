"""What `streamkit show` prints: blocks in order, each call with its times and outcome, and nothing that moves a terminal."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamkit.__main__ import main
from streamkit.lab.captures import find_captures, load, read_capture, write_capture
from streamkit.lab.commands.show import safe, shown


def lines_of(name: str, **more) -> list[str]:
    return shown(load(name), **more)


@pytest.mark.parametrize("path", find_captures(), ids=lambda path: path.name)
def test_every_block_call_time_and_outcome_is_there(path):
    capture = read_capture(path)
    turn, lines = capture.turn(), shown(capture)
    assert all(line.isprintable() for line in lines)
    text = "\n".join(lines)
    places = [text.index(f"call {call.ordinal + 1}: {call.name}  {call.outcome}  id {call.id}") for call in turn.calls]
    assert places == sorted(places)
    for call in turn.calls:
        assert (
            f"announced {call.announced_at:.3f} s, first fragment {call.fragments[0].at:.3f} s, last {call.fragments[-1].at:.3f} s"
            in text
        )
        assert ("no completion event" if call.finished_at is None else f"completed {call.finished_at:.3f} s") in text
        assert f"{len(call.text)} characters in {len(call.fragments)} fragments" in text
    assert sum(line.startswith("text, ") for line in lines) == sum(block.kind == "text" for block in turn.blocks)
    assert f"turn: {turn.verdict} ({turn.reason}); next: {turn.next}" in text
    assert f"connection: {capture.ending} after {capture.ended_at:.3f} s" in text


def test_prose_stands_before_the_call_it_came_before():
    lines = lines_of("messages-preamble-then-call")
    assert [line.split(",")[0].split(":")[0] for line in lines if line.startswith(("text", "call"))] == [
        "text",
        "call 1",
    ]


def test_what_was_refused_says_why():
    assert any("refused: $.amount" in line for line in lines_of("chat-refund-of-nothing"))
    assert any("does not parse: lone surrogate at character" in line for line in lines_of("responses-half-a-pair"))


def test_no_fragment_of_a_hidden_field_is_printed(capsys):
    assert main(["show", "chat-hidden-card", "--events"]) == 0
    masked = capsys.readouterr().out
    assert main(["show", "chat-hidden-card", "--events", "--unmask"]) == 0
    assert "text='card'" not in masked and "text='card'" in capsys.readouterr().out
    assert masked.count("(1 characters, not shown)") > 10


def test_a_field_that_must_stay_hidden_stays_hidden():
    capture = load("chat-hidden-card")
    number = json.loads(capture.turn().calls[0].text)["card_number"]
    assert number not in "\n".join(shown(capture)) and "(hidden)" in "\n".join(shown(capture))
    assert number in "\n".join(shown(capture, unmask=True))
    middle = [read for read in capture.reads if read.at <= capture.reads[-8].at]
    capture.reads, capture.ending = middle, "disconnect"  # cut: what does not parse cannot be masked field by field
    assert number[:9] in "\n".join(shown(capture, unmask=True)) and number[:9] not in "\n".join(shown(capture))


@given(st.text() | st.text("\x1b\x9b\x07\r\n\u202e\u200b\u2028\ud83d[31m"))
def test_no_text_moves_the_terminal(text):
    out = safe(text)
    assert not any(
        ord(char) < 32 or 127 <= ord(char) < 160 or char in "\u202a\u202b\u202d\u202e\u2066\u2067\u200b\u2028"
        for char in out
    )
    out.encode("utf-8")


def test_hostile_output_of_a_model_is_escaped(tmp_path, capsys):
    evil = "\x1b]0;owned\x07\u202e\ud83d"
    delta = {
        "choices": [
            {
                "delta": {
                    "content": evil,
                    "tool_calls": [{"index": 0, "id": evil, "function": {"name": evil, "arguments": evil}}],
                },
                "finish_reason": evil,
            }
        ]
    }
    body = f"data: {json.dumps(delta)}\n\n".encode()
    path = write_capture(
        tmp_path / "evil.jsonl", {"api": "openai-chat", "model": evil, "note": evil}, [(0.1, body)], 0.2, "clean"
    )
    assert main(["show", str(path), "--events"]) == 0
    assert main(["show", str(path), "chat-plain-text"]) == 0
    out = capsys.readouterr().out
    assert all(line.isprintable() for line in out.split("\n")) and "\\x1b]0;owned\\x07\\u202e\\ud83d" in out


def test_several_get_a_line_each(capsys):
    assert main(["show", "chat-two-searches", "messages-killed-in-second-call"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("chat-two-searches.jsonl") and first.endswith(
        "complete (tool_calls): search_orders ready, search_orders ready"
    )
    assert "disconnect" in second and second.endswith(
        "interrupted (disconnect): search_orders unfinished, search_orders unfinished"
    )


def test_one_broken_capture_does_not_hide_the_others(tmp_path, capsys):
    write_capture(tmp_path / "b.jsonl", {"api": "openai-chat"}, [], 0, "clean")
    (tmp_path / "a.jsonl").write_text("rubbish")
    assert main(["show", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert (
        said.out.startswith("b.jsonl")
        and "a.jsonl, line 1: this is no capture" in said.err
        and said.err.count("\n") == 1
    )


def test_the_events_can_be_had_too(capsys):
    assert main(["show", "chat-query-alone", "--events"]) == 0
    out = capsys.readouterr().out
    assert out.count("CallDelta(") == sum(
        type(event).__name__ == "CallDelta" for event in load("chat-query-alone").events()
    )


@pytest.mark.parametrize("path", ["missing.jsonl", "no-such-capture", "."])
def test_bad_input_is_one_line(tmp_path, monkeypatch, capsys, path):
    monkeypatch.chdir(tmp_path)
    assert main(["show", path]) == 2
    assert capsys.readouterr().err.count("\n") == 1
