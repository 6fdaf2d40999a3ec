"""Chapter 3, rendering blocks in event order: what the checks run, and how a fault is told."""

from collections.abc import Iterator

from streamkit.blocks import Block, Blocks
from streamkit.events import Call, CallMoved, Opaque, TextDelta, ThinkingDelta
from streamkit.lab.answers import InOrder, render
from streamkit.lab.captures import load
from streamkit.lab.exercises.record import Case
from streamkit.turn import TurnBuilder

NAMES = (
    "chat-exchange-ticket-1",
    "chat-two-searches",
    "messages-exchange-ticket-1",
    "messages-two-tools",
    "messages-limit-in-second-call",
    "responses-two-searches",
    "responses-killed-in-second-call",
)


def T(text, index=None):
    return TextDelta(0.0, index, text)


def M(ordinal, outcome="forming", effect="none"):
    return CallMoved(0.0, ordinal, outcome, effect)


IN_ORDER = (  # events, indexes of the calls, pointer
    ([], (), "empty"),
    ([T("a")], (), "open"),
    ([T("a"), T("b")], (), "join"),
    ([T(" a"), T(" "), T("\n")], (), "pieces"),
    ([M(0)], (None,), "call"),
    ([M(0), M(0, "finished")], (None,), "moves"),
    ([T("a"), M(0), T("b")], (None,), "order"),
    ([T("a"), M(0), T("b"), M(0, "ready")], (None,), "stays"),
    ([M(0), M(1), M(0, "ready", "ran")], (None, None), "stays"),
    ([T("a"), M(0), M(1), T("b"), T("c"), M(1, "ready", "not_run")], (None, None), "order"),
)
REDACTED = {"type": "redacted_thinking", "data": "c2VjcmV0IHRob3VnaHQ="}
COORDINATES = (
    ([T("a", 0), T("b", 0)], (), "join"),
    ([T("a", 0), T("b", 1)], (), "own"),
    ([T("a", 1), T("b", 0)], (), "before"),
    ([T("a", 3), M(0), T("b", 3), T("c", 1)], (2,), "before"),
    ([M(0), T("a", 0), M(0, "ready")], (1,), "before"),
    ([M(0), M(1), M(0, "ready")], (1, 0), "before"),
    ([ThinkingDelta(0.0, 0, "hm"), T("a", 1), ThinkingDelta(0.0, 0, "!")], (), "thinking"),
    ([ThinkingDelta(0.0, None, "hm"), T("a"), T("b")], (), "thinking"),
    ([T("a", 0), Opaque(0.0, 0, {"signature": "x"})], (), "beside"),
    ([Opaque(0.0, 0, {"type": "redacted"}), T("a", 1)], (), "opaque"),
    ([Opaque(0.0, None, REDACTED)], (), "opaque"),
    ([T("a"), Opaque(0.0, None, REDACTED)], (), "opaque-alone"),
    ([T("", 0), M(0)], (1,), "empty-block"),
    ([T("a"), M(0), T("b")], ("item_1",), "text-index"),
)


def recorded() -> Iterator[tuple[str, list, tuple]]:
    """The events of some captures, each CallMoved behind the event that caused it, and the indexes of the calls."""
    for name in NAMES:
        capture = load(name)
        builder, events = TurnBuilder(capture.tools), []
        for event in capture.events():
            events += [event, *builder.add(event)]
        events += builder.end(capture.ended_at)
        kept = [event for event in events if isinstance(event, TextDelta | ThinkingDelta | Opaque | CallMoved)]
        yield capture.api, kept, tuple(call.index for call in builder.calls)


def reduced(piece, given) -> list:
    """The blocks that a reducer makes of (events, indexes of the calls), and those of another one beside it."""
    events, indexes = given
    calls = [Call(ordinal, index, id=f"call {ordinal}") for ordinal, index in enumerate(indexes)]
    mine, other = piece(calls), piece([])
    for event in events:
        mine.add(event)
        other.add(T("<text of another turn>"))
    return [seen(block) for block in mine.blocks]


def seen(block: Block) -> tuple:
    """A block as plain data: its kind, and its text, or its call and that call's state."""
    if block.call is not None:
        return (block.kind, block.call.id, block.outcome, block.effect)
    return (block.kind, block.text, len(block.extras))


def show(given) -> list[str]:
    events, indexes = given
    lines = [f"calls at indexes {list(indexes)}"] if indexes else []
    return lines + [str(event._replace(at=0)) for event in events] or ["no events"]


def reduced_fault(given, expected, got) -> str | None:
    """The fault where it shows in what came out, whatever the case was made for."""
    if not isinstance(got, list):
        return None
    if any("<text of another turn>" in map(str, block) for block in got):
        return "shared"
    empty = [block for block in expected if block[0] == "text" and not block[1]]
    if empty and len(got) < len(expected):
        return "empty-block"
    count = [sum(block[0] == "call" for block in blocks) for blocks in (expected, got)]
    return "stays" if count[1] > count[0] else None


def in_order_cases() -> Iterator[Case]:
    for events, indexes, pointer in IN_ORDER:
        yield Case((events, indexes), reduced(InOrder, (events, indexes)), pointer, "hand-made turns")
    for api, events, indexes in recorded():
        if api == "openai-chat":
            given = ([event for event in events if isinstance(event, TextDelta | CallMoved)], indexes)
            yield Case(given, reduced(InOrder, given), "order", "recorded turns")


def blocks_cases() -> Iterator[Case]:
    for events, indexes, pointer in IN_ORDER + COORDINATES:
        yield Case((events, indexes), reduced(Blocks, (events, indexes)), pointer, "hand-made turns")
    for _, events, indexes in recorded():
        yield Case((events, indexes), reduced(Blocks, (events, indexes)), "order", "recorded turns")
        for end in range(1, len(events), 7):
            yield Case((events[:end], indexes), reduced(Blocks, (events[:end], indexes)), "order", "cut turns")


def plain(blocks: list[Block]) -> list[dict]:
    return [block.stored() for block in blocks]


def drawn(piece, given) -> str:
    """What a renderer makes of stored blocks."""
    from streamkit.blocks import restored

    return piece([restored(block) for block in given])


def call_block(outcome: str, effect: str = "none", name: str = "open_ticket", detail: dict | None = None) -> Block:
    call = Call(0, None, id="a", names=[name], named=len(name))
    return Block("call", None, 0.0, call=call, outcome=outcome, effect=effect, detail=detail)


def text_block(text: str, kind: str = "text") -> Block:
    return Block(kind, None, 0.0, [text] if text else [])


PAGES = (
    ([], "empty"),
    ([text_block("Hello.")], "text"),
    ([text_block("Hello.\n")], "strip"),
    ([call_block("forming")], "call"),
    ([call_block("ready", "claimed")], "state"),
    ([call_block("unfinished", detail={"reason": "cancelled"})], "state"),
    ([text_block("a"), call_block("ready", "ran"), text_block("b")], "paragraphs"),
    ([text_block("b"), text_block("a")], "paragraphs"),
    ([text_block(""), text_block("a")], "nothing"),
    ([text_block("hm", "thinking"), text_block("a")], "nothing"),
    ([text_block("a\x1b[2Jb")], "escape"),
    ([call_block("forming", name="x\x07\u202ey")], "escape"),
)


def render_cases() -> Iterator[Case]:
    for blocks, pointer in PAGES:
        given = plain(blocks)
        yield Case(given, drawn(render, given), pointer, "hand-made pages")
    for name in NAMES:
        given = plain(load(name).turn().blocks)
        yield Case(given, drawn(render, given), "paragraphs", "recorded turns")


def show_page(given) -> list[str]:
    return [
        f"{b['kind']}: {b['text'] if 'text' in b else (b['call']['name'], b['outcome'], b['effect'])!r}" for b in given
    ] or ["no blocks"]


ORDER = {
    "empty": "A turn without events has no blocks: make the list in `__init__`.",
    "open": 'The first text opens a block: `Block("text", None, event.at)` (step 1).',
    "join": "Text joins the last block, if that is text (and, with an index, if it is that block).",
    "pieces": "Text is appended to `block.pieces` as it came; nothing is stripped.",
    "call": 'The first CallMoved of a call opens its block: `Block("call", …, event.at, call=self.calls[event.ordinal])`.',
    "moves": "Every CallMoved sets the block's outcome, effect and detail to those of the event.",
    "order": "Text behind a call is a block of its own, behind it: only the *last* block is joined (“Break it”).",
    "shared": "Two reducers share what they hold: make the list in `__init__`, not in the class (step 1).",
    "stays": "A call that moves stays where it is: find its block, do not open another.",
}
