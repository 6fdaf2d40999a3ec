"""What a learner reads of a failure: the input that failed, the facts that differ, and nothing of the check's own."""

import pytest

from streamkit.lab.exercises import registry
from streamkit.lab.exercises.state import state_of

EXERCISES = registry.exercises()
HISTORY = EXERCISES["history_of"]


def state(name, text):
    return state_of(EXERCISES[name], text, lambda name: None)


@pytest.mark.parametrize("wrong", HISTORY.wrong, ids=lambda wrong: wrong.what)
def test_a_history_is_shown_by_its_turn_and_the_facts_that_differ(wrong):
    said = state("history_of", HISTORY.wrong_text(wrong)).text.splitlines()
    expected, got = (next(line for line in said if line.startswith(f"  {word} ")) for word in ("expected", "got"))
    assert any("turn.text = " in line for line in said) and any("turn.reason = " in line for line in said)
    assert "{" not in expected + got and expected.split()[1:] != got.split()[1:]
    parts = [line.partition("  ")[2].split("; ") for line in (expected.strip(), got.strip())]
    assert not {part.strip() for part in parts[0]} & {part.strip() for part in parts[1]}  # only what differs
    if "call" in wrong.what:
        assert any("turn.calls[0]: name=" in line for line in said)


def test_a_text_instead_of_a_list_of_messages_is_said():
    said = state("history_of", "# exercise: history_of\ndef history_of(turn):\n    return turn.text or 'nothing'\n")
    assert said.pointer == "list" and "a list of messages was expected, text came" in said.text


@pytest.mark.parametrize("prose", ["turn.text", "None", "clean(turn.text).strip()"])
def test_a_stored_call_is_told_as_such_whatever_else_is_wrong(prose):
    stored = '[{"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.text}} for c in turn.calls]'
    answer = HISTORY.text().replace(
        "    notes = []",
        f'    if turn.calls:\n        return [{{"role": "assistant", "content": {prose}, "tool_calls": {stored}}}]\n    notes = []',
    )
    assert state("history_of", answer).pointer == "call"


def test_an_exception_is_shown_with_an_event_of_the_shown_stream():
    keyed = EXERCISES["accumulator_keyed"]
    answer = keyed.text().replace("self.at.get(event.index)", "self.at.get(event.index + 0)")
    said = state("accumulator_keyed", answer)
    assert "TypeError" in said.text and "index='it_1'" in said.text.partition("got ")[2], said.text
    assert "another" not in said.text and said.pointer == "opaque-index"
