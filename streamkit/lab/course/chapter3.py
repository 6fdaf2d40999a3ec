"""Chapter 3, rendering blocks in event order: blocks one after the other, blocks at their coordinates, and the renderer.

What the checks run is in chapter3_cases.py.
"""

from streamkit.lab.course.chapter3_cases import (
    ORDER,
    blocks_cases,
    drawn,
    in_order_cases,
    reduced,
    reduced_fault,
    render_cases,
    show,
    show_page,
)
from streamkit.lab.exercises.record import Exercise, Wrong, definition

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
            "opaque-alone": "Without an index nothing says whose an Opaque is: it opens a block of its own, at the end.",
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
            Wrong(
                "drops what has no index",
                "opaque",
                swap=(("elif kind is Opaque:", "elif kind is Opaque and event.index is not None:"),),
            ),
            Wrong(
                "puts what has no index beside the last block",
                "opaque-alone",
                swap=(
                    (
                        "block = self._by_index.get(event.index) or self._insert",
                        "last = self.blocks[-1] if self.blocks and event.index is None else None\n"
                        "            block = last or self._by_index.get(event.index) or self._insert",
                    ),
                ),
            ),
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
