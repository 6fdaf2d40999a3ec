"""Blocks → what a user sees, as text and as HTML, in block order; everything a model wrote is escaped.

A call shows its tool's label (or name), its state by sign and word, and what its Preview lets through. Thinking shows
that it was there. An opaque block shows nothing.
"""

import html
from collections.abc import Iterable, Mapping

from .blocks import Block
from .preview import Preview, visible

SIGNS = {
    "preparing": "…",
    "running": "▶",
    "ran": "✓",
    "run by the provider": "✓",
    "failed": "✗",
    "may have run": "?",
    "not run": "–",
    "refused": "✗",
    "unreadable": "✗",
    "cut off": "✂",
    "cancelled": "■",
}
ENDED = frozenset(SIGNS) - {"preparing", "running"}  # every forming call must end in one of these
LABEL = 60  # characters drawn of a tool's name


def label(block: Block, labels: Mapping[str, str]) -> str:
    """What the screen calls a call's tool: its label, else its name, else that it has none."""
    name = block.call.name
    text = visible(labels.get(name, name)) or "a tool without a name"
    return text if len(text) <= LABEL else text[: LABEL - 1] + "…"


def to_text(
    blocks: Iterable[Block], labels: Mapping[str, str] | None = None, previews: Mapping[int, Preview] | None = None
) -> str:
    """The blocks for a terminal, one paragraph each. `previews`: by the call's ordinal."""
    shown = []
    for block in blocks:
        if block.kind == "text" and block.pieces:
            shown.append(visible(block.text).strip("\n"))
        elif block.kind == "thinking":
            shown.append("(thinking)")
        elif block.kind == "call":
            preview = (previews or {}).get(block.call.ordinal)
            fields = preview.to_text(labelled=False) if preview else ""
            shown.append(f"[{SIGNS[block.state]} {label(block, labels or {})}: {block.state}]\n{fields}".rstrip("\n"))
    return "\n\n".join(shown)


def to_html(
    blocks: Iterable[Block], labels: Mapping[str, str] | None = None, previews: Mapping[int, Preview] | None = None
) -> str:
    """The blocks for a page, in the page's own colours; states are told by sign and word, never by colour."""
    shown = []
    for block in blocks:
        if block.kind == "text" and block.pieces:
            shown.append(f'<p style="white-space:pre-wrap;margin:.4em 0">{html.escape(visible(block.text))}</p>')
        elif block.kind == "thinking":
            shown.append('<p style="margin:.4em 0;font-style:italic">(thinking)</p>')
        elif block.kind == "call":
            preview = (previews or {}).get(block.call.ordinal)
            inner = preview.to_html(labelled=False) if preview else ""
            shown.append(
                '<div style="border:1px solid;border-radius:4px;padding:.3em .6em;margin:.4em 0">'
                f"{SIGNS[block.state]} <b>{html.escape(label(block, labels or {}))}</b>: {block.state}{inner}</div>"
            )
    return f'<div class="streamkit-turn tex2jax_ignore mathjax_ignore">{"".join(shown)}</div>'
