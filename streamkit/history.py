"""What a turn leaves in the stored conversation, for each of the three APIs.

A turn that broke off can be rolled back, told by its prose alone, or by its prose and a one-line interruption note. A call
stays only with its result: what was cut is no call, and a result nobody got is an invention (`fabricated` shows it). A turn
with an effect is neither rolled back nor told by prose alone; each call is then told as the table of blocks.py says.
"""

from collections.abc import Callable
from dataclasses import replace

from .events import Call, Turn
from .finalise import Ready
from .messages import from_user, parts_of, said, with_line
from .note import ASSISTANT as IN_ASSISTANT
from .note import MARKED as IN_USER
from .note import is_whole, note
from .refusals import problems
from .results import NAMES, content, fits, known, results
from .strict import NotStrict, strict

__all__ = [
    "ASSISTANT",
    "MARKED",
    "PROSE",
    "ROLL_BACK",
    "WAYS",
    "fabricated",
    "has_effect",
    "is_told",
    "persist",
    "problems",
]

ROLL_BACK, PROSE = "roll back", "prose alone"
ASSISTANT, MARKED = "note in the assistant's text", "note in a marked user message"
WAYS = (ROLL_BACK, PROSE, ASSISTANT, MARKED)
HAPPENED = ("claimed", "ran", "duplicate", "in_doubt", "changed")  # effects after which something happened, or may have


def persist(turn: Turn, api: str, way: str = ASSISTANT) -> list[dict]:
    """The messages (Responses: items) to store for an ended turn, as plain JSON. Raises ValueError.

    `way`: what becomes of a turn that broke off. A whole turn is stored whole; where something happened, ROLL_BACK and
    PROSE are not done, and the note goes into the assistant's text.
    """
    if way not in WAYS:
        raise ValueError(f"way: expected one of {', '.join(map(repr, WAYS))}, got {way!r}")
    known(api)
    free = not is_whole(turn) and not has_effect(turn)
    if free and way == ROLL_BACK:
        return []
    if free and way == PROSE:
        return said(parts_of(turn, api, {}, replay=False), api)
    told = {call.ordinal: call for call in turn.calls if is_told(call, api)}
    parts = parts_of(turn, api, told, replay=is_whole(turn) or bool(told))
    answers = results(told.values(), api)
    line = note(turn, lambda call: call.ordinal in told)
    if not line:
        return said(parts, api) + answers
    if way == MARKED:
        return said(parts, api) + from_user(IN_USER.format(line), api, answers)
    return said(with_line(parts, IN_ASSISTANT.format(line)), api) + answers


def has_effect(turn: Turn) -> bool:
    """Whether the turn did something, or may have: in this attempt, or in another one that the ledger knows."""
    return bool(turn.earlier) or any(call.effect in HAPPENED for call in turn.calls)


def is_told(call: Call, api: str) -> bool:
    """Whether the history has this call, with its result. One whose name the provider refuses is named in the note."""
    return call.kind == "client" and not call.item and content(call) is not None and fits(NAMES, api, call.name)


def fabricated(
    turn: Turn, api: str, result: str = "The call was interrupted.", close: Callable[[str], dict] | None = None
) -> list[dict]:
    """The wrong way, to be shown as wrong: each call that was cut becomes a whole one, with a result that nobody got.

    `close(text)` makes arguments of cut text; without it they are {} where the text does not parse. Providers mostly take
    it, and the next turn is built on it; `problems` with the turn tells it from the truth.
    """

    def forge(call: Call) -> Call:
        try:
            arguments = close(call.text) if close else strict(call.text)
        except NotStrict:
            arguments = {}
        arguments = arguments if isinstance(arguments, dict) else {}
        return replace(
            call, names=[call.name or "unnamed"], final=Ready(arguments), effect="ran", detail={"result": result}
        )

    told = {c.ordinal: c if is_told(c, known(api)) else forge(c) for c in turn.calls if c.kind == "client"}
    return said(parts_of(turn, api, told, replay=False), api) + results(told.values(), api)
