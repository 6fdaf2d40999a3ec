"""When a user could first see that a step has begun: held back never earlier, and what the chart plots."""

from pathlib import Path

import pytest

from streamkit.lab.captures import Capture
from streamkit.lab.first_sight import KINDS, Sight, sight_chart, sights
from streamkit.lab.problem import Problem


def chat(*deltas: str, name="made", ending="clean") -> Capture:
    """A made chat response: one read a delta, a tenth of a second apart, and the end a tenth later."""
    reads = [(0.1 * (n + 1), f'data: {{"choices":[{{{delta}}}]}}\n\n'.encode()) for n, delta in enumerate(deltas)]
    return Capture(Path(name + ".jsonl"), {"api": "openai-chat"}, reads, 0.1 * (len(deltas) + 1), ending)


TEXT = '"delta":{"content":"I look."}'
NAME = '"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"search","arguments":""}}]}'
MORE = '"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}'
FINISH = '"delta":{},"finish_reason":"tool_calls"'


def test_the_name_and_the_finish_as_they_arrive():
    (sight,) = sights([chat(TEXT, NAME, MORE, FINISH)], size=1)
    assert sight == pytest.approx(("made", "openai-chat", 0.2, 0.2, 0.4))


def test_a_buffer_that_the_response_does_not_fill_shows_the_name_at_the_end():
    (sight,) = sights([chat(TEXT, NAME, MORE, FINISH)], size=10**6)
    assert (sight.announced, sight.held_back) == pytest.approx((0.2, 0.5))


def test_a_buffer_that_fills_in_between_shows_it_then():
    capture = chat(TEXT, NAME, MORE, MORE, MORE, FINISH)
    until_third = sum(len(data) for _, data in capture.reads[:3])
    assert next(sights([capture], size=until_third)).held_back == pytest.approx(0.3)
    assert next(sights([capture], size=until_third + 1)).held_back == pytest.approx(0.4)


def test_responses_without_a_finished_call_are_left_out():
    assert list(sights([chat(TEXT, '"delta":{},"finish_reason":"stop"'), chat(TEXT, NAME, ending="disconnect")])) == []


def test_the_chart_plots_the_sights_and_says_them():
    rows = [
        Sight("a", "openai-chat", 0.2, 0.5, 0.9),
        Sight("b", "openai-chat", 0.1, 0.4, 0.7),
        Sight("c", "ollama", 0.3, 0.3, 0.3),
    ]
    chart = sight_chart(rows)
    assert chart.data == {"openai-chat": [rows[1], rows[0]], "ollama": [rows[2]]}
    panel = chart.figure.axes[1]
    drawn = {line.get_label(): list(line.get_xdata()) for line in panel.get_lines()}
    assert drawn == {label: [rows[1][n], rows[0][n]] for n, (label, *_) in enumerate(KINDS.values(), 2)}
    assert len({line.get_marker() for line in panel.get_lines()}) == len(KINDS)
    assert "openai-chat: the name, as it arrives 0.15 s" in chart.alt
    assert chart.png().startswith(b"\x89PNG")


def test_one_api_alone_has_a_chart_and_none_has_a_reason():
    assert len(sight_chart([Sight("a", "ollama", 0.1, 0.1, 0.1)]).figure.axes) == 1
    with pytest.raises(Problem, match="none came"):
        sight_chart([])
