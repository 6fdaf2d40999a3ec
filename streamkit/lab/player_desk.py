"""The player's widgets and how they are laid out. What they do is in player.py."""

import ipywidgets as w

from ..preview import visible
from .player_line import legend
from .player_still import title
from .player_style import ALIVE, STYLE, wrapped
from .player_tape import Tape
from .player_words import safe

TICK = 50  # milliseconds between two looks at the clock while it plays
SPEEDS = {  # label → seconds of the response in a second of the viewer
    "10 times slower": 0.1,
    "5 times slower": 0.2,
    "2 times slower": 0.5,
    "as it arrived": 1.0,
    "2 times faster": 2.0,
    "5 times faster": 5.0,
    "20 times faster": 20.0,
    "100 times faster": 100.0,
}
MOMENTS = 24  # offered in the list
NOWHERE = -1  # the list's first entry, "a moment …"


class Desk:
    """Title, time line, controls and three panes; `widget` holds them all."""

    def __init__(self, tape: Tape):
        wide, end = w.Layout(width="auto"), int(tape.capture.ended_at * 1000) + 1
        self.line, self.wire, self.buffers, self.screen = (w.HTML(layout=wide) for _ in range(4))
        # the page's clock stops in front of a tick past `max`: leave room for one at the highest speed
        room = round(TICK * max(SPEEDS.values()))
        # its own buttons have no names for a screen reader: it stays out of sight, and a button with words drives it
        self.clock = w.Play(min=0, max=end + room, interval=TICK, layout=w.Layout(display="none"))
        self.play = w.Button(icon="play", description="play", tooltip="Play and pause", layout=w.Layout(width="90px"))
        self.slider = w.IntSlider(
            min=0,
            max=len(tape),
            description="Event",
            tooltip="Event: the arrow keys move it",
            layout=w.Layout(flex="1 1 auto"),
        )
        self.back = w.Button(
            description="back", icon="step-backward", tooltip="One event back", layout=w.Layout(width="80px")
        )
        self.next = w.Button(
            description="next", icon="step-forward", tooltip="One event on", layout=w.Layout(width="80px")
        )
        self.speed = w.Dropdown(
            options=list(SPEEDS.items()), value=1.0, description="Speed", layout=w.Layout(width="230px")
        )
        self.moment = w.Dropdown(options=_offered(tape), description="Go to", layout=w.Layout(width="400px"))
        head = wrapped(f'<div class="sk-title"><b>{safe(title(tape))}</b></div>', "sk-alive")
        thirds = w.Layout(grid_template_columns="repeat(3, minmax(0, 1fr))", grid_gap="4px", width="auto")
        self.widget = w.VBox(
            [
                w.HTML(STYLE + ALIVE + head, layout=wide),
                self.line,
                w.HTML(wrapped(legend()), layout=wide),
                w.HBox([self.clock, self.play, self.back, self.slider, self.next], layout=wide),
                w.HBox([self.speed, self.moment], layout=w.Layout(flex_flow="row wrap")),
                w.GridBox([self.wire, self.buffers, self.screen], layout=thirds),
            ],
            layout=wide,
        )


def _offered(tape: Tape) -> list[tuple[str, int]]:
    """The moments one can go to: words for the list, and the step."""
    offered = [("a moment …", NOWHERE)]
    for step, what, call in tape.moments[:MOMENTS]:
        name = visible(tape.line.calls[call].tool[:24]) or "(no name)"
        offered.append((f"{what}: call {call} {name} (event {step:,})", step))
    return [*offered, (f"the end (event {len(tape):,})", len(tape))]
