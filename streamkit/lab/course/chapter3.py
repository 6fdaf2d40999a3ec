"""Chapter 3, rendering blocks in event order: blocks one after the other, blocks at their coordinates, and the renderer."""

from collections.abc import Iterator

from streamkit.blocks import Block, Blocks
from streamkit.events import Call, CallMoved, Opaque, TextDelta, ThinkingDelta
from streamkit.lab.answers import InOrder, render
from streamkit.lab.captures import load
from streamkit.lab.exercises.record import Case, Exercise, Wrong, definition
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
EXERCISES = [
    Exercise(
        name="blocks_in_order",
        title="Blocks, one after the other",
        defines="InOrder",
        answer=definition("streamkit.lab.answers", "InOrder"),
        given="from streamkit.blocks import Block\nfrom streamkit.events import CallMoved, TextDelta\n",
        cases=in_order_cases,
        run=reduced,
        show=show,
        diagnose=reduced_fault,
        pointers=ORDER,
        hints=(
            "Two kinds of event, two branches. Text asks what the last block is. A CallMoved asks whether its call has a block.",
            'For text: `if not self.blocks or self.blocks[-1].kind != "text"`, append a new block; then append to its pieces.',
            "For a call: look for the block whose `call is self.calls[event.ordinal]`, open one where there is none, then set outcome, effect and detail.",
        ),
        wrong=(
            Wrong(
                "joins any earlier text",
                "order",
                swap=(
                    ('self.blocks[-1].kind != "text":', 'all(b.kind != "text" for b in self.blocks):'),
                    (
                        "self.blocks[-1].pieces.append(event.text)",
                        'next(b for b in reversed(self.blocks) if b.kind == "text").pieces.append(event.text)',
                    ),
                ),
            ),
            Wrong(
                "a block a delta", "join", swap=(('if not self.blocks or self.blocks[-1].kind != "text":', "if True:"),)
            ),
            Wrong("strips text", "pieces", swap=(("append(event.text)", "append(event.text.strip())"),)),
            Wrong("a block a move", "stays", swap=(("if block is None:", "if True:"),)),
            Wrong(
                "sets the state once",
                "moves",
                swap=(
                    (
                        "            block.outcome, block.effect, block.detail =",
                        "            if not block.outcome:\n                block.outcome, block.effect, block.detail =",
                    ),
                ),
            ),
            Wrong(
                "shares its list",
                "shared",
                text="class InOrder:\n    blocks = []\n\n    def __init__(self, calls):\n        self.calls = calls\n\n    def add(self, event):\n        if isinstance(event, TextDelta):\n            self.blocks.append(Block('text', None, event.at, [event.text]))\n",
            ),
        ),
        why="Order is what tells a preamble from an answer: what stands behind the call was written with its result.",
    ),
    Exercise(
        name="blocks",
        title="Blocks at their coordinates",
        defines="Blocks",
        answer=definition("streamkit.blocks", "Blocks"),
        given=(
            "from bisect import bisect_right\n"
            "from streamkit.blocks import Block\n"
            "from streamkit.events import Call, CallMoved, Opaque, TextDelta, ThinkingDelta\n"
        ),
        cases=blocks_cases,
        run=reduced,
        show=show,
        diagnose=reduced_fault,
        pointers=ORDER
        | {
            "own": "Another index is another block, even of the same kind (step 3).",
            "before": "A block with a number as index stands before every block with a higher one, whenever it came (step 3).",
            "thinking": 'A ThinkingDelta goes like text, into blocks of the kind "thinking".',
            "beside": "An Opaque for a block that is there goes into its `extras`.",
            "opaque": 'An Opaque without a block opens one of the kind "opaque", with the payload in `extras`.',
            "empty-block": "An empty delta opens its block and adds no piece.",
            "text-index": "An index that is text is a key and no coordinate: such a block goes to the end.",
        },
        hints=(
            "Keep a dict from index to block beside the list. A delta with an index looks there; one without looks at the last block.",
            "For the order keep a second list beside `blocks`: the coordinate of each. `bisect_right(places, index)` is where a new block goes.",
            "A block without a number takes the coordinate of the block before it, and goes to the end. One method, `_insert`, does both.",
        ),
        wrong=(
            Wrong(
                "arrival instead of coordinates", "before", swap=(("if isinstance(block.index, int):", "if False:"),)
            ),
            Wrong(
                "one text block",
                "own",
                swap=(
                    (
                        "self._by_index.get(event.index)\n        if block is None or block.kind",
                        "next((b for b in self.blocks if b.kind == kind), None)\n        if block is None or block.kind",
                    ),
                ),
            ),
            Wrong("drops what it does not know", "beside", swap=(("block.extras.append(event.payload)", "pass"),)),
            Wrong("moves a call to the end", "stays", swap=(("self._by_ordinal.get(event.ordinal) or ", ""),)),
            Wrong(
                "takes thinking for text", "thinking", swap=(('"text" if kind is TextDelta else "thinking"', '"text"'),)
            ),
            Wrong(
                "waits for text before it opens a block",
                "empty-block",
                swap=(
                    (
                        "        if kind is TextDelta or kind is ThinkingDelta:\n",
                        "        if (kind is TextDelta or kind is ThinkingDelta) and not event.text:\n            pass\n        elif kind is TextDelta or kind is ThinkingDelta:\n",
                    ),
                ),
            ),
        ),
        why="A provider that gives coordinates expects the turn back in that order, and so does the reader.",
    ),
    Exercise(
        name="render",
        title="The renderer",
        defines="render",
        answer=definition("streamkit.lab.answers", "render"),
        given="from streamkit.preview import visible\nfrom streamkit.render import SIGNS\n",
        cases=render_cases,
        run=drawn,
        show=show_page,
        pointers={
            "empty": "No blocks, no text: return an empty string.",
            "text": "A text block shows its text.",
            "strip": "Line breaks at the ends of a text make holes between paragraphs: strip those, and nothing else.",
            "call": "A call shows as `[sign name: state]`, with SIGNS[block.state].",
            "state": "`block.state` is the word for what became of the call; the sign goes with it.",
            "paragraphs": "One paragraph a block, in the blocks' order, an empty line between them.",
            "nothing": "Empty text and thinking show nothing here, not even an empty paragraph.",
            "escape": "A model may write control characters, even in a name. `visible` turns them into something to read.",
        },
        hints=(
            'Go through the blocks, collect what each shows in a list, and join with "\\n\\n".',
            'Text: `visible(block.text).strip("\\n")`. A call: `f"[{SIGNS[block.state]} {visible(block.call.name)}: {block.state}]"`.',
        ),
        wrong=(
            Wrong("trusts the model's text", "escape", swap=(("visible(block.text)", "block.text"),)),
            Wrong("trusts the model's names", "escape", swap=(("visible(block.call.name)", "block.call.name"),)),
            Wrong(
                "says that a forming call runs",
                "call",
                swap=(
                    ("    shown = []", '    shown, words = [], {"preparing": "running"}'),
                    ("block.state}]", "words.get(block.state, block.state)}]"),
                ),
            ),
            Wrong("leaves the calls out", "call", swap=(('elif block.kind == "call":', "elif False:"),)),
            Wrong("shows the outcome, not the state", "call", swap=((": {block.state}]", ": {block.outcome}]"),)),
            Wrong(
                "text first, calls last",
                "paragraphs",
                swap=(
                    ("for block in blocks:", 'for block in sorted(blocks, key=lambda block: block.kind == "call"):'),
                ),
            ),
            Wrong(
                "thinking as text",
                "nothing",
                swap=(('block.kind == "text" and block.text', "block.call is None and block.text"),),
            ),
        ),
        why="What a user reads is all they know: a state that is not told, or told too early, misleads.",
    ),
]
