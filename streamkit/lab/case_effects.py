"""What a case expects of the acting side: the history (`persist`), the ledger (`retry_ledger`), the screen (`view_end_state`).

The case's stream goes through a dispatcher with tools that only count; a retry is a second attempt at the same turn.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path

from ..dispatch import CALL_COMPLETION, REPORT, TURN_COMPLETION, Dispatcher, Tool
from ..events import Turn
from ..history import ASSISTANT, MARKED, PROSE, ROLL_BACK, persist, problems
from ..key import canonical
from ..ledger import Ledger
from ..results import HISTORIES
from ..said import read
from ..store import StoreError
from .cases import events_of, reads_of

FIELDS = ("persist", "retry_ledger", "view_end_state")
WAIT = 0.05  # seconds that a claim without an end is waited for


class Dying:
    """A ledger whose process dies after the effect: the claim is written, its end never is."""

    def __init__(self, ledger):
        self._ledger = ledger

    def __getattr__(self, name):
        return getattr(self._ledger, name)

    def settle(self, *_):
        raise StoreError("the process died here")


def judge_effects(case: dict, reads=None, persist: Callable = persist, ledger: Callable = Ledger) -> str | None:
    """The first difference from what a case expects of history, ledger and screen; None where it passes or expects nothing.

    `reads`: the case's bytes, cut anew. `persist(turn, api, way)` and `ledger(path)` are the parts that are judged.
    """
    expected = case["expected"]
    if not any(field in expected for field in FIELDS):
        return None
    with tempfile.TemporaryDirectory() as folder:
        held = ledger(Path(folder) / "ledger.db")
        try:
            return _judge(case, expected, reads, persist, held)
        finally:
            held.close()


def _judge(case: dict, expected: dict, reads, persist: Callable, ledger) -> str | None:
    runs: list[dict] = []
    once = expected.get("retry_ledger")
    dies = bool(once) and "state_on_restart" in once

    def attempt(stream: dict, reads=None, dying: bool = False, boundary: str = TURN_COMPLETION) -> Turn:
        tools = [Tool(run=lambda given: runs.append(given) or "done", timeout=WAIT, **tool) for tool in case["tools"]]
        events = events_of(case["api"], reads_of(stream) if reads is None else reads, stream.get("ends", "clean"))
        dispatcher = Dispatcher(tools, Dying(ledger) if dying else ledger, boundary, doubt=REPORT)
        return dispatcher.run_sync(events, ledger.begin("a case", "its message"))

    turn = attempt(case, reads, dies, CALL_COMPLETION)
    found = None
    if "view_end_state" in expected:
        found = _states(turn, expected["view_end_state"])
    if found is None and "persist" in expected:
        found = f"{len(runs)} tools ran, none was expected" if runs else _history(turn, expected["persist"], persist)
    if found is None and once:
        entries = ledger.entries("a case", 0)
        if dies and [entry.state for entry in entries] != [once["state_on_restart"]]:
            return f"state_on_restart: {once['state_on_restart']} expected, {[e.state for e in entries]} came"
        turns = [turn, *(attempt(case["retry"]) for _ in range(2) if "retry" in case)]
        found = _once(turns, once, runs, ledger.entries("a case", 0))
    return found


def _states(turn: Turn, wanted: str) -> str | None:
    states = [block.state for block in turn.blocks if block.kind == "call"]
    return None if states and set(states) == {wanted} else f"view_end_state: {wanted} expected, {states} came"


def _history(turn: Turn, wanted: dict, persist: Callable) -> str | None:
    for api in HISTORIES:
        for way in (ASSISTANT, MARKED, PROSE, ROLL_BACK):
            messages = persist(turn, api, way)
            if wrong := problems(messages, api, turn):
                return f"persist ({api}, {way}): {wrong[0]}"
            said = read(messages, api)
            calls = sum(one.kind == "call" for one in said)
            text = "".join(one.value for one in said if one.kind == "text")
            prose = "" if way == ROLL_BACK else wanted["text"]
            added = text.removeprefix(prose).strip()
            noted = way in (ASSISTANT, MARKED) and wanted["note"]
            if not text.startswith(prose) or calls != wanted["calls"] or bool(added) != noted or "\n" in added:
                return f"persist ({api}, {way}): {wanted} expected, {calls} calls and {text!r} came"
    return None


def _once(turns: list[Turn], wanted: dict, runs: list[dict], entries: list) -> str | None:
    if len(runs) != wanted["executions"]:
        return f"executions: {wanted['executions']} expected, {len(runs)} came"
    texts = [canonical(entry.arguments) for entry in entries]
    if "canonical" in wanted and texts != [wanted["canonical"]]:
        return f"canonical: {wanted['canonical']} expected, {texts} came"
    effects = [[call.effect for call in turn.calls if call.name == entries[0].tool] for turn in turns]
    verdict = wanted.get("verdict") or "duplicate"  # the last attempt's word, or the last of equal calls
    if effects[-1][-1] != verdict or (len(turns) == 1 and effects[0][0] != "ran"):
        return f"effects: {verdict} expected at the end, {effects} came"
    return None
