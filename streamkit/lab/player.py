"""`Player(capture)`: a response played back as it arrived, the wire, the buffers and the screen side by side."""

from pathlib import Path

from .captures import Capture, load, read_capture
from .player_desk import MOMENTS, NOWHERE, SPEEDS, TICK, Desk
from .player_line import Drawing
from .player_still import PANES, state_lines, still_html, still_text, title
from .player_style import pane, wrapped
from .player_tape import Moment, Step, Tape
from .player_view import buffers_pane, screen_pane, wire_pane
from .problem import Problem

PLEASANT = 12.0  # seconds that a response should take to play, where nobody chose a speed


class Player:
    """Plays a capture, event by event or by its own clock. Everything can be set and read from Python.

    `capture`: a Capture, a path, or the name of one in data/captures. `step`: how many events have come, from 0 to
    `len(player)`; the last one is the end of the stream. `speed`: seconds of the response in a second (one of SPEEDS),
    None for one at which it plays in about 12 seconds. Shown in a notebook it is a widget, with a still picture beside it
    for where widgets are not alive. Raises Problem for a capture, step or speed that is none.
    """

    def __init__(self, capture: Capture | Path | str, step: int = 0, speed: float | None = None):
        if not isinstance(capture, Capture):
            capture = read_capture(capture) if Path(capture).suffix else load(str(capture))
        self.capture, self.tape = capture, Tape(capture)
        self.desk = desk = Desk(self.tape)
        self._drawing = Drawing(self.tape.line)
        self._leader = None  # which of the two moves the other: the clock while it plays, else the slider
        self._draw()
        desk.slider.observe(lambda change: self._moved(change["new"]), "value")
        desk.clock.observe(lambda change: self._ticked(change["new"]), "value")
        desk.clock.observe(lambda change: self._started(change["new"]), "playing")
        desk.speed.observe(lambda change: self._paced(change["new"]), "value")
        desk.moment.observe(lambda change: self._chosen(change["new"]), "value")
        desk.play.on_click(lambda _: self.pause() if desk.clock.playing else self.play())
        desk.back.on_click(lambda _: self._by(-1))
        desk.next.on_click(lambda _: self._by(1))
        self._paced(desk.speed.value)
        self.speed = self._pleasant() if speed is None else speed
        self.step = step

    def __len__(self) -> int:
        return len(self.tape)

    def __repr__(self) -> str:
        return f"Player({title(self.tape)})"

    @property
    def step(self) -> int:
        """How many events have come. Setting it moves the slider and the three panes."""
        return self.desk.slider.value

    @step.setter
    def step(self, number: int) -> None:
        if not isinstance(number, int) or not 0 <= number <= len(self):
            raise Problem(f"a step from 0 to {len(self)} was expected, {number!r} came")
        self.desk.slider.value = number

    @property
    def event(self) -> Step | None:
        """The step that came last: .at, .read, .raw and the decoded .events; None before the first."""
        return self.tape.steps[self.step - 1] if self.step else None

    @property
    def moments(self) -> list[Moment]:
        """(step, "announced" | "first parse" | "completed", call) in the order of the stream."""
        return self.tape.moments

    @property
    def text(self) -> str:
        """What stands in the three panes now, as lines of text."""
        return "\n".join(state_lines(self.tape, self.step))

    @property
    def speed(self) -> float:
        """Seconds of the response in a second of the viewer."""
        return self.desk.speed.value

    @speed.setter
    def speed(self, speed: float) -> None:
        if speed not in SPEEDS.values():
            raise Problem(f"a speed was expected ({', '.join(map(str, SPEEDS.values()))}), {speed!r} came")
        self.desk.speed.value = float(speed)

    def go(self, what: str, call: int = 0) -> "Player":
        """Go to the step that brought this moment of this call, as `go("first parse", call=1)`. Raises Problem."""
        for moment in self.moments:
            if (moment.what, moment.call) == (what, call):
                self.step = moment.step
                return self
        known = ", ".join(f"{moment.what!r} of call {moment.call}" for moment in self.moments[:MOMENTS]) or "none"
        raise Problem(f"{self.capture.name}: a moment was expected ({known}), {what!r} of call {call!r} came")

    def play(self) -> None:
        """Start the clock, from the beginning where it stands at the end; a long wait before the first event is cut short.

        The page that shows the player drives the clock: where none does, it stands.
        """
        self.desk.clock.playing = True

    def pause(self) -> None:
        """Stop the clock where it stands."""
        self.desk.clock.playing = False

    def _pleasant(self) -> float:
        seconds = self.capture.ended_at
        return min(SPEEDS.values(), key=lambda speed: abs(seconds / speed - PLEASANT))

    def _paced(self, speed: float) -> None:
        self.desk.clock.step = round(TICK * speed)

    def _by(self, steps: int) -> None:
        self.desk.slider.value += steps  # the slider keeps it within its ends

    def _chosen(self, step: int) -> None:
        if step != NOWHERE:
            self.desk.slider.value = step
            self.desk.moment.value = NOWHERE

    def _started(self, playing: bool) -> None:
        word = "pause" if playing else "play"
        self.desk.play.description = self.desk.play.icon = word
        if playing and self.step == len(self):
            self.desk.slider.value = 0
        if playing and self.step == 0:  # a long wait for the first event is cut to a second of the viewer's
            first = self.tape.steps[0].at - self.speed
            self.desk.clock.value = max(self.desk.clock.value, int(first * 1000))

    def _ticked(self, now: int) -> None:
        """The clock stands at `now` milliseconds of the response: show what had come by then."""
        if self._leader == "slider":
            return
        self._point(min(now / 1000, self.capture.ended_at))
        self._leader = "clock"
        self.desk.slider.value = self.tape.arrived(now / 1000)
        self._leader = None
        if self.step == len(self):
            self.pause()

    def _moved(self, step: int) -> None:
        if self._leader is None:
            self._leader = "slider"
            self.desk.clock.value = int(self.tape.steps[step - 1].at * 1000) if step else 0
            self._leader = None
        self._draw()

    def _draw(self) -> None:
        builder, came, desk = self.tape.state(self.step), self.event, self.desk
        if self._leader != "clock":  # it points at its own time
            self._point(came.at if came else 0.0)
        desk.wire.value = pane(PANES[0], wire_pane(came, self.step, len(self)))
        desk.buffers.value = pane(PANES[1], buffers_pane(builder, came, self.tape.line), tail=True)
        desk.screen.value = pane(PANES[2], screen_pane(builder), tail=True)

    def _point(self, at: float) -> None:
        self.desk.line.value = wrapped(self._drawing.at(at))

    def _repr_mimebundle_(self, **_) -> dict[str, str]:
        """The still picture, for where no widget is alive."""
        return {"text/plain": still_text(self.tape, self.step), "text/html": still_html(self.tape, self.step)}

    def _ipython_display_(self) -> None:
        """Two outputs: the widget, and its still picture, which the living widget hides (player_style.py)."""
        from IPython.display import display

        said = f"{self!r}. Run the cell to play it; its still picture follows."
        display(self.desk.widget._repr_mimebundle_() | {"text/plain": said}, raw=True)
        display(self._repr_mimebundle_(), raw=True)
