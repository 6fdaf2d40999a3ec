"""Chapter 1, argument deltas and text deltas: a test that breaks three naive clients and not the right one."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from streamkit.accumulator import Accumulator
from streamkit.lab.captures import load
from streamkit.lab.exercises.record import Case, Exercise, Wrong, definition
from streamkit.lab.naive import CountsBraces, RunsAtRequiredFields, StripsFragments
from streamkit.lab.trial import AppendsAndParsesOnce, breaks

WAYS = 12  # so that the test stays quick on a long text: every two-way cut of it would cost its length squared
FRAGMENTS = 3  # so that a failure shows where the client breaks
CLIENTS = {StripsFragments: "space", CountsBraces: "escape", RunsAtRequiredFields: "value"}
BY_NAME = {client.__name__: client for client in CLIENTS}
BROKEN = "the naive client breaks, the right one survives"

TYPED = (  # (argument text, its tool's required fields): written for this exercise, small ones first
    ('{"n": 10}', ["n"]),
    ('{"q": "a b"}', ["q"]),
    (r'{"q": "\""}', ["q"]),
    (r'{"path": "C:\\"}', ["path"]),
    ('{"query": "lamp", "limit": 100}', ["query"]),
    (r'{"title": "The \"Sun\" lamp", "text": "one\ntwo"}', ["title", "text"]),
    (r'{"note": "C:\\lamps\\new", "tags": ["a", "b"], "dry_run": true}', ["note"]),
    (r'{"reason": "it said \"out of stock\"", "order": {"id": "A-1003", "amount": 1049.75}}', ["reason", "order"]),
)
CAPTURED = (
    "chat-two-searches",
    "chat-amount-over-fragments",
    "chat-escapes",
    "messages-scope-last",
    "messages-nested-transfer",
    "responses-preamble-then-call",
    "responses-scope-all-archived",
    "responses-world-text",
    "chat-long-note",
)


class Given(NamedTuple):
    """One naive client and one whole argument text; `required`: the fields its tool needs."""

    client: str
    text: str
    required: list[str]


def captured() -> Iterator[tuple[str, list[str]]]:
    """The argument texts of the calls in some captures, with the required fields of their tools."""
    for name in CAPTURED:
        capture, held = load(name), Accumulator()
        for event in capture.events():
            held.add(event)
        required = {tool["name"]: tool["parameters"].get("required", []) for tool in capture.tools}
        for call in held.calls:
            yield call.text, required[call.name]


def cases() -> Iterator[Case]:
    """Each client over each text that some cut in two breaks it on."""
    for group, texts in (("texts written for this", TYPED), ("texts of captured calls", captured())):
        for text, required in texts:
            for client, pointer in CLIENTS.items():
                if client is CountsBraces and "\\" not in text:  # nothing breaks it, and to try every cut is long
                    continue
                if any(breaks(client, [text[:at], text[at:]], text, required) for at in range(1, len(text))):
                    yield Case(Given(client.__name__, text, required), BROKEN, pointer, group)


def attempt(cuts: Any, given: Given) -> str:
    """What the learner's cuts do to one naive client and to the right one, as a sentence."""
    client, text, required = given
    ways = cuts(text)
    if not isinstance(ways, list) or not all(isinstance(way, list | tuple) for way in ways):
        return "not a list of ways, each a list of fragments"
    ways = [list(way) for way in ways]
    if not all(isinstance(fragment, str) for way in ways for fragment in way):
        return "a fragment that is no text"
    for way in ways:
        if len(way) > FRAGMENTS:
            return f"a way with {len(way)} fragments, {FRAGMENTS} are allowed"
        if "".join(way) != text or breaks(AppendsAndParsesOnce, way, text):
            return f"the right client breaks as well, on {' | '.join(way)}"
    if len(ways) > WAYS:
        return f"{len(ways)} ways, {WAYS} are allowed"
    broken = any(breaks(BY_NAME[client], way, text, required) for way in ways)
    return BROKEN if broken else f"the naive client survives all {len(ways)} ways"


def diagnose(given: Given, expected: str, got: Any) -> str | None:
    """The fault that the sentence of `attempt` names, before the one that the case is about."""
    signs = {"not a list": "shape", "a fragment that": "shape", "the right": "append", "allowed": "few"}
    return next((pointer for sign, pointer in signs.items() if sign in str(got)), None)


EXERCISES = [
    Exercise(
        name="cuts",
        title="A test that breaks naive clients",
        defines="cuts",
        answer=definition("streamkit.lab.answers", "cuts"),
        given="import re\n",
        cases=cases,
        run=attempt,
        show=lambda given: [f"client    {given[0]}, required fields: {', '.join(given[2])}", f"text      {given[1]}"],
        diagnose=diagnose,
        pointers={
            "shape": "`cuts(text)` returns a list of ways; one way is a list of fragments, such as [text[:5], text[5:]].",
            "append": "A way must be the same text cut, and nothing else: its fragments joined give the text again "
            "(section “Break it”: the only operation is append).",
            "few": f"At most {WAYS} ways of at most {FRAGMENTS} fragments: choose the places. Every cut of a long text costs its length squared.",
            "space": "strip() harms a fragment that begins or ends with a space inside a string (the lines printed in “Break it”).",
            "escape": "The brace counter forgets a backslash at a fragment's end: cut between the backslash and the quote "
            "or backslash behind it (the lines printed in “Break it”).",
            "value": "A client that closes what it holds runs a value that was still growing: cut inside one, late in the text "
            "(the lines printed in “Break it”, mid-number).",
        },
        hints=(
            "One cut at the right place breaks a client. Which places are right? “Break it” printed some: three clients at each place.",
            'Find the strings and numbers first: re.finditer(r\'"(?:[^"\\\\]|\\\\.)*"|[\\w.+-]+\', text) gives each with its .start() and .end().',
            "Then three kinds of places: at a space inside a string, behind a backslash that stands before a quote or a backslash, and "
            "in the middle of the last strings and numbers. A few of each, as [text[:at], text[at:]].",
        ),
        wrong=(
            Wrong(
                "one cut in the middle",
                "escape",
                text="def cuts(text):\n    at = len(text) // 2\n    return [[text[:at], text[at:]]]\n",
            ),
            Wrong("a fragment for every character", "few", text="def cuts(text):\n    return [list(text)]\n"),
            Wrong(
                "every two-way cut",
                "few",
                text="def cuts(text):\n    return [[text[:at], text[at:]] for at in range(1, len(text))]\n",
            ),
            Wrong("words, with the spaces lost", "append", text="def cuts(text):\n    return [text.split(' ', 1)]\n"),
            Wrong("one way, not a list of ways", "shape", text="def cuts(text):\n    return [text[:5], text[5:]]\n"),
            Wrong("no cut inside an escape", "escape", swap=((" + escapes[:3]", ""),)),
            Wrong("no cut beside a space", "space", swap=(("spaces[:3] + ", ""),)),
            Wrong("no cut inside a value", "value", swap=((" + middles[-3:]", ""),)),
            Wrong("cuts before the backslash", "escape", swap=(("pair.start() + 1", "pair.start()"),)),
        ),
        why="A provider may cut anywhere and next year cuts elsewhere; a test that chooses its cuts finds the fault before a user does.",
    )
]
