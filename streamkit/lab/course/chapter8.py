"""Chapter 8, persisting an interrupted turn: the messages that it leaves."""

import re
from collections.abc import Iterator

from streamkit.events import TextDelta, TurnBroken
from streamkit.history import problems
from streamkit.lab.answers import history_of
from streamkit.lab.captures import load
from streamkit.lab.exercises.record import Case, Exercise, Wrong, definition
from streamkit.turn import turn_of

NAMES = (
    "chat-killed-in-prose",
    "chat-killed-in-second-call",
    "chat-limit-in-arguments",
    "chat-timeout-in-arguments",
    "messages-cancel-in-arguments",
    "responses-killed-in-arguments",
    "responses-limit-completed",
)


def turns() -> Iterator[tuple[str, list, str]]:
    """(what it is, events, pointer) of turns that broke off, and of one that did not."""
    cancel = TurnBroken(1.0, "interrupted", "cancelled")
    yield "a cancel in the prose", [TextDelta(0.0, None, "The three causes are: "), cancel], "prose"
    yield "a cancel before anything", [cancel], "empty"
    yield "half a character", [TextDelta(0.0, None, "ok \ud83d"), cancel], "half"
    yield (
        "prose that ended well",
        [TextDelta(0.0, None, "It is open."), *load("chat-plain-text").events()[-1:]],
        "whole",
    )
    for name in NAMES:
        yield name, load(name).events(), "note"
    events = load("chat-preamble-then-call").events()
    for end in range(1, len(events) - 1, 4):
        yield f"chat-preamble-then-call, cut after {end} events", [*events[:end], cancel], "note"


def left(piece, given) -> dict:
    """What can be said of the history that a piece leaves for the events of a turn."""
    turn = turn_of(given[1])
    messages = piece(turn)
    texts = [message.get("content") for message in messages if isinstance(message, dict)]
    text = "\n".join(part for part in texts if isinstance(part, str))
    prose = turn.text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").strip()
    added = text.removeprefix(prose).strip()
    fragments = [call.text for call in turn.calls if len(call.text) > 3]
    return {
        "roles": [message.get("role") for message in messages if isinstance(message, dict)],
        "calls": sum(len(message.get("tool_calls") or ()) for message in messages if isinstance(message, dict)),
        "prose first": text.startswith(prose),
        "lines of note": len(added.splitlines()),
        "in brackets": not added or bool(re.fullmatch(r"\[.*\]", added)),
        "names every call": all(call.name in added for call in turn.calls),
        "fragments": any(text_ in text for text_ in fragments),
        "problems": problems(messages, "openai-chat"),
    }


def show(given) -> list[str]:
    return [given[0], f"{len(given[1])} events"]


def history_cases() -> Iterator[Case]:
    for what, events, pointer in turns():
        given = (what, events)
        yield Case(given, left(history_of, given), pointer, "turns")


def history_fault(given, expected, got) -> str | None:
    """The fault where it shows in what came out, whatever the case was made for."""
    if not isinstance(got, dict):
        return None
    if any("half a surrogate pair" in problem for problem in got["problems"]):
        return "half"
    for field, pointer in (
        ("calls", "call"),
        ("fragments", "fragments"),
        ("prose first", "prose"),
        ("names every call", "names"),
        ("roles", "roles"),
    ):
        if got[field] != expected[field]:
            return "empty" if field == "roles" and not expected["roles"] else pointer
    if got["lines of note"] != expected["lines of note"] or not got["in brackets"]:
        return "whole" if not expected["lines of note"] else "note"
    return None


EXERCISES = [
    Exercise(
        name="history_of",
        title="The history of a broken turn",
        defines="history_of",
        answer=definition("streamkit.lab.answers", "history_of"),
        given="from streamkit.note import one_line\nfrom streamkit.results import clean\n",
        cases=history_cases,
        run=left,
        show=show,
        diagnose=history_fault,
        pointers={
            "prose": "What the user has read stays, word for word, in front.",
            "call": "A call that was cut is no call: no `tool_calls` in the message (“Break it”).",
            "fragments": "The fragments of a cut call are in the failure record, not in the history: nobody knows what they would have become.",
            "note": "One line, in brackets, behind the prose: `[interruption note: …]`. It stands there wherever a turn broke off, and wherever a call cannot be used.",
            "names": "The note names each call that did not run: `call.name`.",
            "empty": "Where nothing came but the end, the note alone is the message; nothing at all only for a turn that was whole and empty.",
            "roles": "One message, from the assistant.",
            "half": "Half a surrogate pair may come last; no later request can carry it. `clean` mends it.",
            "whole": "A turn that ended well gets no note.",
        },
        hints=(
            "Two parts: the prose, `clean(turn.text).strip()`, and the note; either may be missing. Join them with an empty line.",
            'A note is due if `turn.verdict != "complete"` or if there are calls (none of them can be told here). `turn.reason` says why, `call.name` what did not run.',
            'Both reason and names come from outside: `one_line(…)` keeps them from breaking the line or its bracket. Then `[{"role": "assistant", "content": content}]`.',
        ),
        wrong=(
            Wrong("rolls all back", "prose", text="def history_of(turn):\n    return []\n"),
            Wrong("the prose alone", "note", swap=(('if turn.verdict != "complete" or turn.calls:', "if False:"),)),
            Wrong(
                "keeps the call",
                "call",
                swap=(
                    (
                        '[{"role": "assistant", "content": content}] if content else []',
                        '[{"role": "assistant", "content": content, "tool_calls": [{"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.text}} for c in turn.calls] or None}] if content else []',
                    ),
                ),
            ),
            Wrong(
                "shows what had come of it", "fragments", swap=(('did not run"', 'did not run: {turn.calls[0].text}"'),)
            ),
            Wrong(
                "a note for every turn", "whole", swap=(('if turn.verdict != "complete" or turn.calls:', "if True:"),)
            ),
            Wrong("names no call", "names", swap=(("{cut}", ""),)),
            Wrong("keeps half a character", "half", swap=(("clean(turn.text).strip()", "turn.text.strip()"),)),
        ),
        why="The next turn is built on the history: what it does not say, a model fills in.",
    ),
]
