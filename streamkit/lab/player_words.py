"""The player's words and signs: states, counts, sentences, and foreign text made safe for a page."""

from html import escape

from .. import render
from ..preview import visible
from .exercises.show import shown
from .timeline import TimeLine

ROWS = 8  # calls named in a sentence or a table

OUTCOMES = {"forming": "…", "finished": "◉", "ready": "✓", "invalid": "✗", "unparseable": "✗", "unfinished": "✂"}
SIGNS = render.SIGNS | OUTCOMES  # of the screen's states, and of a call's outcomes
TURNS = {"complete": "✓", "interrupted": "✂", "failed": "✗"}
ENDINGS = {
    "clean": "the server closed the connection",
    "disconnect": "the connection broke",
    "timeout": "nothing more came, and the client stopped waiting",
    "cancel": "the user stopped it",
}


def said(event) -> str:
    """An event as one line of code, without what says nothing."""
    silent = {name: None for name in ("id", "name") if getattr(event, name, None) == ""}
    return shown(event._replace(**silent), 160)


def safe(text: str) -> str:
    """Foreign text for a page: what a screen would obey is spelled out, the rest escaped."""
    return escape(visible(text))


def state(word: str) -> str:
    """A state by sign and word."""
    return f'<span class="sk-state">{SIGNS[word]} {word}</span>'


def note(text: str) -> str:
    return f'<div class="sk-small">{text}</div>'


def many(count: int, what: str) -> str:
    return f"{count:,} {what}" + ("" if count == 1 else "s")


def left(count: int, what: str) -> str:
    """What a drawing leaves out, in words; nothing where nothing is left out."""
    return f'<span class="sk-small"> … {many(count, what)} not drawn … </span>' if count > 0 else ""


def sentence(line: TimeLine) -> str:
    """The time line in words, for who cannot see it."""
    said = [f"Time line of {line.ended:.3f} seconds, {many(len(line.calls), 'call')}."]
    for call in line.calls[:ROWS]:
        moments = [
            f"{word} at {at:.3f} s" if at is not None else f"{word} never"
            for word, at in (
                ("announced", call.announced),
                ("first parse", call.first_parse),
                ("completed", call.completed),
            )
        ]
        said.append(f"Call {call.ordinal}, {call.tool[:60] or 'without a name'}: {', '.join(moments)}.")
    return " ".join([*said, f"The turn is {line.verdict}: {line.reason[:80]}."])


def table(line: TimeLine) -> str:
    """The moments of the calls as a table of seconds."""
    heads = ("call", "announced", "first parse", "completed", "gap", "fragments", "in the end")
    rows = []
    for call in line.calls[:ROWS]:
        times = [number(at) for at in (call.announced, call.first_parse)]
        times.append(number(call.completed) + ("" if call.own or call.completed is None else " (turn)"))
        cells = [f"{call.ordinal}: {safe(call.tool[:60])}", *times, number(call.gap), f"{len(call.fragments):,}"]
        rows.append([*cells, state(call.outcome)])
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<table class="sk-table"><tr>{"".join(f"<th>{head}</th>" for head in heads)}</tr>{body}</table>'


def number(at: float | None) -> str:
    return "–" if at is None else f"{at:.3f} s"
