"""The interruption note: one line for what the messages of a turn cannot show.

It names each call that the history does not have, by the table of blocks.py. A cut call is named, and its fragments are not
shown: nobody knows what they would have become.
"""

import json
from collections.abc import Callable

from .events import Call, Turn
from .results import clean

ASSISTANT = "[interruption note: {}]"
MARKED = "[interruption note, written by the client and not by the user: {}]"
LENGTH = 300  # characters of arguments, of a result, of a reason


def is_whole(turn: Turn) -> bool:
    """Whether the turn ended as it was meant to: its prose is all there, and every call is answered or named in a note."""
    return turn.verdict == "complete" and turn.next != "end"


def note(turn: Turn, is_told: Callable[[Call], bool]) -> str:
    """The line, without its brackets; "" where the messages show everything. `is_told`: whether they have a call."""
    parts = [] if is_whole(turn) else [broke_off(turn)]
    parts += [about(call) for call in turn.calls if call.kind == "client" and not is_told(call)]
    parts += [f"in another attempt {one_line(e['tool'])}({brief(e['arguments'])}) {happened(e)}" for e in turn.earlier]
    return "; ".join(parts)


def broke_off(turn: Turn) -> str:
    """What the note says of the turn itself."""
    if turn.verdict == "complete":
        return "the reply held a call that cannot be used"
    if turn.reason == "cancelled":
        return "the user stopped the reply"
    return f"the reply {'failed' if turn.verdict == 'failed' else 'was cut off'} ({one_line(turn.reason)})"


def about(call: Call) -> str:
    """What the note says of one call."""
    name, detail = one_line(call.name) or "a tool without a name", call.detail or {}
    named = f"{name}({brief(detail.get('arguments', {}))})"
    if call.effect in ("claimed", "in_doubt"):
        return f"{named} may have run, and its result is not known"
    if call.effect in ("ran", "duplicate"):
        return f"{named} ran, with the result {brief(detail.get('result'))}"
    if call.effect == "failed":
        return f"{named} failed: {brief(detail.get('error'))}"
    if call.effect == "changed":
        held = ", ".join(f"{name}({brief(e['arguments'])}) {happened(e)}" for e in detail.get("held", ()))
        return f"{named} was not run, since in another attempt {held}"
    if call.outcome == "unfinished":
        return f"{name} was not run, since the call was cut off"
    if call.outcome in ("unparseable", "invalid"):
        return f"{name} was not run, since its arguments cannot be used"
    return f"{name} was not run"


def happened(entry: dict) -> str:
    """What a ledger's entry says happened."""
    return f"ran, with the result {brief(entry['result'])}" if entry["state"] == "ran" else "may have run"


def brief(value) -> str:
    """A value in at most LENGTH characters of one line."""
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def one_line(text: str) -> str:
    """Text that a model, a tool or a provider chose, fit for the inside of a line: nothing that breaks it or ends the note."""
    shown = "".join(c if c.isprintable() else " " for c in clean(text[: 2 * LENGTH]))
    shown = " ".join(shown.replace("[", "(").replace("]", ")").split())
    return shown if len(shown) <= LENGTH else shown[: LENGTH - 1] + "…"
