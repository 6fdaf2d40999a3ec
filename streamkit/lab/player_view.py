"""The player's three panes as HTML: the event on the wire, the buffers, and what a user sees.

Everything a model or a server wrote is made visible (preview.py) and escaped. What is drawn is capped, and what is left
out is counted, so that a drawing costs the same however much has arrived.
"""

import json
import re
from html import escape

from ..blocks import Block
from ..events import Call
from ..render import label
from ..turn import TurnBuilder
from .exercises.show import shown
from .player_tape import Step
from .player_words import ENDINGS, TURNS, left, many, note, safe, said, state
from .timeline import TimeLine

RAW, BUFFER, PROSE = 1500, 700, 900  # characters drawn of a wire event, of one call's buffer, of one block
CALLS, BLOCKS, EVENTS, PIECES = 6, 12, 8, 120  # how many are drawn of each


def wire_pane(step: Step | None, number: int, total: int, size: int = RAW) -> str:
    """The wire event that step `number` brought, as it came and as it was read."""
    if step is None:
        return note(f"The request is sent, and nothing has come back yet. {many(total, 'event')} will.")
    head = f"<b>event {number:,} of {total:,}</b> at {step.at:.3f} s, in network read {step.read:,}"
    raw, rest = step.raw[:size].decode("utf-8", "backslashreplace").strip("\r\n"), len(step.raw) - size
    if step.ending:
        head = f"<b>the end of the stream</b> at {step.at:.3f} s: {ENDINGS.get(step.ending, escape(step.ending))}"
    read = "".join(f'<div class="sk-code">{safe(said(event))}</div>' for event in step.events[:EVENTS])
    read += left(len(step.events) - EVENTS, "more event")
    means = "It says:" if read else "" if step.ending else "It says nothing about text or calls."
    came = f'<div class="sk-means">As it came:</div><div class="sk-code">{_marked(raw, step)}{left(rest, "more byte")}</div>'
    return f'<div>{head}</div><div class="sk-means">{means}</div>{read}{came if raw else ""}'


def _marked(raw: str, step: Step) -> str:
    """The raw text with the delta in it marked, where it stands there as a JSON string and not as a key."""
    text = next((event.text for event in step.events if getattr(event, "text", None)), None)
    for literal in (json.dumps(text), json.dumps(text, ensure_ascii=False)) if text else ():
        found = re.search(re.escape(literal) + r"(?!\s*:)", raw)
        if found:
            before, after = raw[: found.start()], raw[found.end() :]
            return f'{safe(before)}<mark class="sk-new">{safe(found[0])}</mark>{safe(after)}'
    return safe(raw)


def buffers_pane(builder: TurnBuilder, step: Step | None, line: TimeLine) -> str:
    """One buffer a call, fragment by fragment, the newest one marked; what is known of the call, and no more."""
    calls = builder.calls
    if not calls:
        return note("No call has begun.")
    touched = max((ordinal for ordinal in (step.calls if step else ()) if ordinal is not None), default=len(calls) - 1)
    first = max(0, min(touched, len(calls) - 1) - CALLS + 1)
    drawn = calls[first : first + CALLS]
    parts = [left(first, "earlier call"), *(_buffer(call, step, line) for call in drawn)]
    return "".join([*parts, left(len(calls) - first - len(drawn), "later call")])


def _buffer(call: Call, step: Step | None, line: TimeLine) -> str:
    known = [f"index {safe(shown(call.index, 40))}"]
    known += [f"id {safe(call.id[:60])}" + (" (minted)" if call.minted else "")] if call.id else []
    head = f"<b>call {call.ordinal}: {safe(call.name[:60]) or '(no name yet)'}</b> {state(call.outcome)}"
    pieces, skipped = _tail([fragment.text for fragment in call.fragments[-PIECES:]], BUFFER)
    skipped += max(0, len(call.fragments) - PIECES)
    spans = [f'<span class="sk-f">{safe(piece)}</span>' for piece in pieces]
    if spans and step is not None and any(event is call.fragments[-1] for event in step.events):
        spans[-1] = f'<mark class="sk-f sk-new">{safe(pieces[-1])}</mark>'
    text = left(skipped, "earlier fragment") + "".join(spans) if spans else note("empty")
    below = note(_sentence(call, line))
    return f'<div class="sk-call">{head}<div class="sk-small">{", ".join(known)}</div><div class="sk-code">{text}</div>{below}</div>'


def _sentence(call: Call, line: TimeLine) -> str:
    """The sentence under a buffer."""
    detail = call.detail or {}
    if call.kind == "server" and call.final is not None:
        return "The provider ran it itself: it is shown, and never dispatched."
    if call.outcome == "ready":
        return "Parsed once, strictly, and the schema is satisfied. A dispatcher may run it; the player runs nothing."
    if call.outcome == "invalid":
        return "It parses, and is refused: " + safe("; ".join(map(str, detail.get("complaints", ())))[:300])
    if call.outcome == "unparseable":
        return f"It does not parse: {safe(str(detail.get('reason')))} at character {detail.get('position')}."
    if call.outcome == "unfinished":
        return "The turn never completed: no call, whatever its text looks like."
    if call.outcome == "finished":
        return "Its completion event has come. The turn has not ended."
    moments = line.calls[call.ordinal] if call.ordinal < len(line.calls) else None
    if moments is not None and moments.fragment is not None and len(call.fragments) > moments.fragment:
        return (
            f"First parse was at {moments.first_parse:.3f} s: the required fields are closed. It is still not a call."
        )
    return f"{many(len(call.fragments), 'fragment')}, and not yet a call."


def screen_pane(builder: TurnBuilder) -> str:
    """The blocks in their order, as a user would see them, and at the end the verdict on the turn."""
    blocks = builder.blocks
    parts = [left(len(blocks) - BLOCKS, "earlier block"), *map(_block, blocks[-BLOCKS:])]
    if builder.turn is not None:
        turn = builder.turn
        parts.append(
            f'<div class="sk-verdict">{TURNS[turn.verdict]} the turn is {turn.verdict} ({safe(turn.reason[:80])})</div>'
        )
        if any(call.outcome == "ready" and call.kind == "client" for call in turn.calls):
            parts.append(note("The player dispatches nothing: a call that is ready stays in preparation."))
    return "".join(parts) if blocks or builder.turn else note("Nothing to see yet.")


def _block(block: Block) -> str:
    if block.kind == "call":
        return f'<div class="sk-block sk-tool">{state(block.state)} {escape(label(block, {}))}</div>'
    if block.kind == "opaque":
        return f'<div class="sk-block">{note("a block kept for replay, not shown")}</div>'
    pieces, skipped = _tail(block.pieces[-PIECES * 8 :], PROSE)
    skipped += max(0, len(block.pieces) - PIECES * 8)
    lead = '<span class="sk-small">thinking: </span>' if block.kind == "thinking" else ""
    return f'<div class="sk-block sk-{block.kind}">{lead}{left(skipped, "earlier delta")}{safe("".join(pieces))}</div>'


def _tail(pieces: list[str], limit: int) -> tuple[list[str], int]:
    """The last pieces that fit into `limit` characters (the first of them cut), and how many are left out."""
    size, first = 0, len(pieces)
    while first and size < limit:
        first -= 1
        size += len(pieces[first])
    kept = pieces[first:]
    if size > limit:
        kept[0] = "…" + kept[0][size - limit :]
    return kept, first
