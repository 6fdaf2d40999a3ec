"""The streams that chapter 2's checks run: typed by hand, one rule each; recorded with two calls; and made from those.

A hand-made stream has no times. Each is (group, pointer, events).
"""

from collections.abc import Iterator

from streamkit.events import ArgumentSnapshot, CallDelta, CallFinished, TextDelta
from streamkit.lab.paths import CAPTURES

WITH_TWO_CALLS = [f"{api}-two-{what}" for what in ("searches", "tools") for api in ("chat", "messages", "responses")]
A, B = "call_a", "call_b"


def opened(index, id: str | None, name: str | None, text: str = "") -> CallDelta:
    """An announcement of a hand-made stream."""
    return CallDelta(0.0, index, id, name, text)


def part(text: str, index=0) -> CallDelta:
    """A fragment of a hand-made stream."""
    return CallDelta(0.0, index, text=text)


def finished(index=0, id: str | None = None, text: str | None = None) -> CallFinished:
    """A completion event of a hand-made stream."""
    return CallFinished(0.0, index, id, text)


def recorded() -> Iterator[tuple[str, list]]:
    """Recorded streams as (group, events): as they are, cut to single characters, and interleaved."""
    from streamkit.lab.captures import read_capture
    from streamkit.lab.interleave import interleaved, recut_fragments

    for name in WITH_TWO_CALLS:
        capture = read_capture(CAPTURES / f"{name}.jsonl")
        yield "recorded streams", of_interest(capture)
        yield "recorded streams cut to single characters", recut_fragments(of_interest(capture))
        yield "streams made by interleaving", of_interest(interleaved(capture, seed=2))


def of_interest(capture) -> list:
    """The events that an accumulator looks at, and some that it must not look at."""
    return [event for event in capture.events() if isinstance(event, CallDelta | CallFinished | TextDelta)]


BUFFER_STREAMS = (
    ("order", "append", ('{"a"', ": 1}")),
    ("order", "append", ('{"n": 1', "0", "5", "}")),
    ("spaces", "opaque", ('{"q": "desk', " lamp", '"}')),
    ("spaces", "opaque", ('{"q": "desk ', "lamp", '"}')),
    ("spaces", "opaque", ('{"a": 1', "\n", "}\n")),
    ("repeats", "repeat", ('{"n": 1', "0", "0", "0", "}")),
    ("repeats", "repeat", ('{"q": "', "ha", "ha", '"}')),
    ("repeats", "repeat", ("{", '{"a": 1', '{"a": 1}')),
    ("empty ones", "empty", ("", '{"a": 1}')),
    ("empty ones", "empty", ('{"a":', "", " 1}")),
    ("cut escapes", "parse", ('{"q": "say \\', '"hi\\', '""}')),
    ("cut escapes", "parse", ('{"q": "\\ud83d', '\\ude00"}')),
    ("pieces that parse", "parse", ("{}", '{"a": 1}')),
    ("pieces that parse", "parse", ("1", "2", "3")),
    ("pieces that parse", "parse", ("null", "")),
    ("pieces that parse", "parse", ('"a"', '"b"')),
)

KEYED_STREAMS = (
    ("one call", "index", [opened(0, A, "search"), part("{"), part("}")]),
    ("two tools", "index", [opened(0, A, "search", "{}"), opened(1, B, "refund", "[]")]),
    ("one tool twice", "name", [opened(0, A, "search", "1"), opened(1, B, "search", "2")]),
    ("one tool twice", "name", [opened(0, A, "search"), part("1"), opened(1, B, "search"), part("2", 1)]),
    ("interleaved calls", "last", [opened(0, A, "search"), opened(1, B, "refund", "2"), part("1")]),
    ("interleaved calls", "last", [opened(0, A, "search"), opened(1, B, "search"), part("1"), part("2", 1)]),
    ("other first indexes", "opaque-index", [opened(1, A, "search", "1"), opened(2, B, "search", "2")]),
    ("other first indexes", "opaque-index", [opened(7, A, "search", "1"), part("2", 7)]),
    ("other first indexes", "opaque-index", [opened("it_1", A, "search"), part("1", "it_1"), opened("it_2", B, "search", "2")]),
    ("other first indexes", "order", [opened(3, A, "search", "1"), opened(0, B, "refund", "2"), part("3", 3)]),
    ("late and empty words", "silent", [opened(0, A, "search"), opened(0, "", "", "1")]),
    ("late and empty words", "silent", [part('{"query": '), opened(0, A, "search", '"desk lamp"'), part("}")]),
    ("late and empty words", "silent", [opened(0, None, "search", "1"), opened(0, A, None, "2"), part("3")]),
    ("changed ids", "first-id", [opened(0, A, "search", "1"), opened(0, B, None, "2")]),
    ("other events", "other", [TextDelta(0.0, 0, "Let me see."), opened(1, A, "search", "1"), TextDelta(0.0, 0, "1")]),
)  # fmt: skip

RULED_STREAMS = (
    *KEYED_STREAMS,
    ("occupied indexes", "occupied", [opened(0, A, "search", "1"), opened(0, B, "refund", "2"), part("3")]),
    ("occupied indexes", "occupied", [opened(0, A, "search", "1"), opened(0, B, "search", "2")]),
    ("occupied indexes", "occupied", [opened(0, None, "search", "1"), opened(0, A, "refund", "2")]),
    ("occupied indexes", "same-call", [opened(0, A, "search", "1"), opened(0, A, "search", "2")]),
    ("occupied indexes", "same-call", [opened(0, None, "search", "1"), opened(0, A, "search", "2")]),
    ("changed ids", "first-id", [opened(0, A, "search", "1"), opened(0, B, None, "2"), opened(0, B, None, "3")]),
    ("no index", "no-index", [opened(None, A, "search", "1"), opened(None, B, "refund", "2")]),
    ("no index", "no-index", [opened(None, A, "search"), part("1", None), opened(None, A, None, "2")]),
    ("no index", "no-index", [opened(None, A, "search"), opened(None, B, "search", "2"), opened(None, A, None, "1")]),
    ("no index", "no-index", [part("1", None), part("2", None)]),
    ("no index", "orphan", [opened(None, A, "search"), opened(None, B, "search"), part("1", None)]),
    ("no index", "orphan", [opened(0, A, "search", "1"), opened(1, B, "search", "2"), part("3", None)]),
    ("no index", "closed", [opened(0, A, "search"), finished(0), opened(1, B, "search"), part("1", None)]),
    ("one id twice", "id-twice", [opened(0, A, "search", "1"), opened(1, A, "search", "2"), part("3", 1)]),
    ("names said again", "restated", [opened(0, A, "search"), opened(0, None, "search", "1"), opened(0, None, "search", "2")]),
    ("names in pieces", "pieces", [opened(0, A, "sea"), opened(0, None, "rch", "1"), opened(0, None, "search", "2")]),
    ("spaces and repeats", "opaque", [opened(0, A, "search", '"desk'), part(" lamp "), part('"')]),
    ("spaces and repeats", "opaque", [opened(0, A, "search", "1"), part("0"), part("0")]),
    ("completion events", "decides", [opened(0, A, "search", "1"), finished(0, B, "2")]),
    ("completion events", "decides", [opened(0, None, "search", "1"), finished(0, A)]),
    ("completion events", "decides", [finished(0, A, "1")]),
    ("snapshots", "replaces", [opened(0, A, "search", "{}"), ArgumentSnapshot(0.0, 0, "1"), part("2")]),
    ("snapshots", "replaces", [ArgumentSnapshot(0.0, 0, '{"query": "desk lamp"}'), opened(0, A, "search")]),
)  # fmt: skip
