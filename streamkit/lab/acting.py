"""What a case expects of history and ledger, put to somebody's own parts (case_effects.py puts it to the package's)."""

import json
import tempfile
from pathlib import Path

from ..boundary import Boundary
from ..events import Turn
from ..history import problems
from ..said import read
from ..turn import TurnBuilder
from .cases import events_of, reads_of
from .parts import Parts, carry_out

WORDS = {"in_doubt": "open", "duplicate": "settled"}  # a case's verdict → a small ledger's word
PLACE = ("a case", 0)


class Died(Exception):
    """The process died after the effect: nothing of it reaches the ledger any more."""


def judge_acting(case: dict, parts: Parts) -> str | None:
    """The first difference from what a case expects of the history (`persist`) and of the ledger (`retry_ledger`).

    None where it passes, or expects nothing of the two. Raises whatever a part raises.
    """
    expected, found = case["expected"], None
    if "persist" in expected:
        turn = attempt(case, parts, lambda *_: None)
        found = history_fault(turn, parts.history_of(turn), expected["persist"])
    if found is None and "retry_ledger" in expected:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # a small ledger has no `close`
            found = _once(case, parts, str(Path(folder) / "ledger.db"), expected["retry_ledger"])
    return found


def attempt(stream: dict, parts: Parts, act, early: bool = False) -> Turn:
    """One attempt at a turn. `act(call, arguments)` is called at each call that may run; `early`: at its own completion."""
    builder = TurnBuilder(stream.get("tools"), accumulator=parts.accumulator, finalise=parts.finalise)
    boundary = Boundary(early, builder.tools)
    for event in events_of(stream["api"], reads_of(stream), stream.get("ends", "clean")):
        moved = builder.add(event)
        for given in boundary.early(event, moved, builder.calls, builder.verdict):
            act(*given)
    builder.end()
    left, why_not = boundary.late(builder.turn, cancelled=False)
    for given in () if why_not else left:
        act(*given)
    return builder.turn


def history_fault(turn: Turn, messages: list[dict], wanted: dict) -> str | None:
    """What is wrong with the history (Chat Completions) of a turn in which nothing ran; None where nothing is."""
    if wrong := problems(messages, "openai-chat", turn):
        return f"persist: {wrong[0]}"
    said = read(messages, "openai-chat")
    text = "".join(one.value for one in said if one.kind == "text")
    calls = sum(one.kind == "call" for one in said)
    prose = wanted["text"].strip()  # white space at the end of a message is refused by some providers
    note = text.removeprefix(prose).strip()
    if not text.startswith(prose) or calls != wanted["calls"] or bool(note) != wanted["note"] or "\n" in note:
        return f"persist: {wanted} expected, {calls} calls and {text!r} came"
    return None


def _once(case: dict, parts: Parts, path: str, wanted: dict) -> str | None:
    """The attempt and two retries. Each opens the ledger's file anew, as a process that was started again does."""
    dies = "state_on_restart" in wanted
    streams = [
        case,
        *([{"api": case["api"], "tools": case.get("tools")} | case["retry"]] * 2 if "retry" in case else []),
    ]
    ran, words = [], []

    def run(arguments: dict, _key: str) -> str:
        ran.append(arguments)
        if dies and len(ran) == 1:
            raise Died
        return "done"

    for number, stream in enumerate(streams):
        ledger = parts.ledger(path)

        def act(call, arguments, ledger=ledger):
            words.append(carry_out(parts, ledger, call, arguments, PLACE, run)[0])

        try:
            attempt(stream, parts, act, early=number == 0)
        except Died:
            continue
    if len(ran) != wanted["executions"]:
        return f"retry_ledger: {wanted['executions']} executions expected, {len(ran)} came"
    last = WORDS[wanted.get("verdict") or "duplicate"]
    if words[-1:] != [last]:
        return f"retry_ledger: {last!r} expected at the end, {words} came"
    if "canonical" in wanted:
        given = json.loads(wanted["canonical"])
        orders = (given, dict(reversed(given.items())))
        if len({parts.call_key(*PLACE, "a tool", order) for order in orders}) > 1:
            return "retry_ledger: one key expected for one set of arguments, in whatever order its fields came"
    return None
