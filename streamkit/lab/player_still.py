"""The player where no widget is alive: on paper, in a stored notebook, in a terminal. The chosen moments, one below the other."""

import re

from ..preview import visible
from .player_picture import picture
from .player_style import STYLE, wrapped
from .player_tape import Tape
from .player_view import buffers_pane, screen_pane, wire_pane
from .player_words import SIGNS, TURNS, left, many, number, safe, said, table

BOARD = 6  # moments shown
# Said at each cell, for a notebook that is not trusted drops the style sheet.
CELL = "text-align: left; vertical-align: top; word-wrap: break-word"
TEXT = 400  # characters of a buffer or a block in the text form
PANES = ("The event on the wire", "The buffers, one a call", "What a user sees")


def title(tape: Tape) -> str:
    """One line of plain text: which capture, how many events, in what time, from whom."""
    capture, header = tape.capture, tape.capture.header
    said = f"{capture.name}: {many(len(tape), 'event')} in {capture.ended_at:.3f} s ({capture.api}, {header.get('model') or 'model unknown'})"
    derived = header.get("derived")
    return visible(said) + (f"; derived, not as recorded: {visible(str(derived)[:160])}" if derived else "")


def chosen(tape: Tape, step: int) -> list[int]:
    """The steps that a still shows: the current one, the first moments of the calls, the end."""
    wanted = {step, len(tape)} - {0}
    for moment in tape.moments:
        if len(wanted) == BOARD:
            break
        wanted.add(moment.step)
    return sorted(wanted)


def still_html(tape: Tape, step: int) -> str:
    """The time line, its figures, and the three panes at the chosen moments, as HTML that needs nothing else."""
    rows = []
    for n in chosen(tape, step):
        builder, came = tape.state(n), tape.steps[n - 1]
        cells = (wire_pane(came, n, len(tape), 400), buffers_pane(builder, came, tape.line), screen_pane(builder))
        rows.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    heads = "".join(f"<th>{name}</th>" for name in PANES)
    board = f'<table class="sk-table sk-board" width="100%"><tr>{heads}</tr>{"".join(rows)}</table>'
    more = left(len({moment.step for moment in tape.moments} - set(chosen(tape, step))), "more moment")
    now = tape.steps[step - 1].at if step else None
    drawing = picture(tape.line, now)
    body = f'<div class="sk-title"><b>{safe(title(tape))}</b></div>{drawing}{table(tape.line)}{board}{more}'
    return STYLE + wrapped(re.sub(r"<(t[dh])>", rf'<\1 style="{CELL}">', body), "sk-still")


def still_text(tape: Tape, step: int) -> str:
    """The moments of the calls, the state after `step` steps and the verdict, as text without control characters."""
    lines = [title(tape)]
    for call in tape.line.calls[:BOARD]:
        end = number(call.completed) + ("" if call.own or call.completed is None else " with the turn")
        lines.append(
            f"  call {call.ordinal} {visible(call.tool[:60])}: announced {number(call.announced)}, first parse {number(call.first_parse)}, "
            f"completed {end}, gap {number(call.gap)}; {SIGNS[call.outcome]} {call.outcome}"
        )
    if len(tape.line.calls) > BOARD:
        lines.append(f"  … {many(len(tape.line.calls) - BOARD, 'more call')}")
    lines += state_lines(tape, step) if step else []
    return "\n".join(
        [*lines, f"  turn: {TURNS[tape.line.verdict]} {tape.line.verdict} ({visible(tape.line.reason[:80])})"]
    )


def state_lines(tape: Tape, step: int) -> list[str]:
    """What stands in the three panes after `step` steps, as lines of text."""
    builder = tape.state(step)
    if not step:
        return ["before the first event"]
    came = tape.steps[step - 1]
    words = [f"ended: {came.ending}"] if came.ending else []
    words += [said(event) for event in came.events[:BOARD]]
    lines = [
        f"after event {step} of {len(tape)}, {came.at:.3f} s",
        f"  wire: {'; '.join(words) or 'nothing about text or calls'}",
    ]
    for call in builder.calls[-BOARD:]:
        lines.append(f"  buffer {call.ordinal}: {_short(call.text)}")
    for block in builder.blocks[-BOARD:]:
        words = (
            f"{SIGNS[block.state]} {block.state} {visible(block.call.name[:60])}"
            if block.kind == "call"
            else _short(block.text)
        )
        lines.append(f"  screen, {block.kind}: {words}")
    return lines


def _short(text: str) -> str:
    """One line: the end of the text, and how much stands before it."""
    kept = visible(text[-TEXT:]).replace("\n", "⏎").replace("\t", " ")
    return kept if len(text) <= TEXT else f"({len(text) - TEXT:,} characters) …{kept}"
