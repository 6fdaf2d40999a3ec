"""Chapter 8, persisting an interrupted turn: what the check runs, and how a fault is told."""

import re
from collections.abc import Iterator

from streamkit.events import TextDelta, TurnBroken
from streamkit.history import problems
from streamkit.lab.answers import history_of
from streamkit.lab.captures import load
from streamkit.lab.exercises.record import Case
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
KINDS = {str: "text", dict: "a dict", list: "a list", tuple: "a tuple", type(None): "None"}


def turns() -> Iterator[tuple[str, list, str]]:
    """(what it is, events, pointer) of turns that broke off, and of one that did not."""
    cancel = TurnBroken(1.0, "interrupted", "cancelled")
    yield "a cancel in the prose", [TextDelta(0.0, None, "It is "), cancel], "prose"
    yield "a cancel before anything came", [cancel], "empty"
    yield "half a character at the end", [TextDelta(0.0, None, "ok \ud83d"), cancel], "half"
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
    if odd := not_messages(messages):
        return {"kind": odd}
    texts = [message.get("content") for message in messages]
    text = "\n".join(part for part in texts if isinstance(part, str))
    prose = turn.text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").strip()
    added = text.removeprefix(prose).strip()
    fragments = [call.text for call in turn.calls if len(call.text) > 3]
    return {
        "kind": "a list of messages",
        "calls": sum(map(calls_in, messages)),
        "roles": [message.get("role") for message in messages],
        "prose first": text.startswith(prose),
        "lines of note": len(added.splitlines()),
        "in brackets": not added or bool(re.fullmatch(r"\[.*\]", added)),
        "names every call": all(call.name in added for call in turn.calls),
        "fragments": any(text_ in text for text_ in fragments),
        "problems": problems(messages, "openai-chat"),
    }


def not_messages(messages) -> str:
    """What came instead of a list of messages; "" where it is one."""
    if not isinstance(messages, list):
        return f"a list of messages was expected, {KINDS.get(type(messages), type(messages).__name__)} came"
    odd = next((message for message in messages if not isinstance(message, dict)), {})
    return "" if odd == {} else f"messages, each a dict, were expected, {KINDS.get(type(odd), type(odd).__name__)} came"


def calls_in(message: dict) -> int:
    """How many calls a message stores, in whatever API's words."""
    stored = [message] if message.get("type") == "function_call" else []
    for part in ("tool_calls", "content"):
        stored += message.get(part) if isinstance(message.get(part), list) else []
    return sum(isinstance(one, dict) and "text" not in one for one in stored)


FACTS = {  # fact → its words
    "kind": str,
    "calls": lambda n: f"{n or 'no'} call{'s' * (n > 1)} stored",
    "roles": lambda roles: (
        f"{len(roles)} message{'s' * (len(roles) > 1)}, from {', '.join(map(str, roles))}" if roles else "no message"
    ),
    "prose first": lambda yes: "the prose in front" if yes else "the prose is not in front, or not word for word",
    "lines of note": lambda n: f"{n or 'no'} line{'s' * (n > 1)} of note",
    "in brackets": lambda yes: "the note in brackets" if yes else "the note without its brackets",
    "names every call": lambda yes: "the note names each call" if yes else "the note does not name each call",
    "fragments": lambda yes: "a fragment of a call" if yes else "no fragment of a call",
    "problems": lambda found: f"a provider refuses it: {'; '.join(found)}" if found else "no provider refuses it",
}
OF_THE_NOTE = (
    "lines of note",
    "in brackets",
    "names every call",
)  # what stands behind the prose, where that is in front


def tell(expected: dict, got: dict) -> tuple[str, str]:
    """The facts that differ, in words."""
    differ = [fact for fact in got if got[fact] != expected[fact]]
    if "prose first" in differ and got["roles"] == expected["roles"]:
        differ = [fact for fact in differ if fact not in OF_THE_NOTE]
    return tuple("; ".join(FACTS[fact](facts[fact]) for fact in differ) for facts in (expected, got))


def show(given) -> list[str]:
    """The turn: what was said, what was called, and how it ended."""
    turn = turn_of(given[1])
    lines = [given[0], f"turn.text = {turn.text!r}", f"turn.verdict = {turn.verdict!r}, turn.reason = {turn.reason!r}"]
    return lines + [f"turn.calls[{n}]: name={call.name!r}, text={call.text!r}" for n, call in enumerate(turn.calls)]


def history_cases() -> Iterator[Case]:
    for what, events, pointer in turns():
        given = (what, events)
        yield Case(given, left(history_of, given), pointer, "turns")


def history_fault(given, expected, got) -> str | None:
    """The fault where it shows in what came out, whatever the case was made for."""
    if not isinstance(got, dict):
        return None
    if got["kind"] != expected["kind"]:
        return "list"
    if got["calls"]:
        return "call"
    if any("half a surrogate pair" in problem for problem in got["problems"]):
        return "half"
    for field, pointer in (
        ("fragments", "fragments"),
        ("prose first", "prose"),
        ("names every call", "names"),
        ("roles", "roles"),
    ):
        if got[field] != expected[field]:
            return "empty" if field == "roles" and not (expected["roles"] and got["roles"]) else pointer
    if got["lines of note"] != expected["lines of note"] or not got["in brackets"]:
        return "whole" if not expected["lines of note"] else "note"
    return "refused" if got["problems"] else None
