"""The player, driven from Python: what it plays, what stands in its panes, and what it refuses."""

import base64
import json
import re
import xml.etree.ElementTree as xml
from html.parser import HTMLParser
from pathlib import Path

import IPython.display
import pytest
from conftest import ALL_CASES, random_cuts

from streamkit.lab.captures import Capture, Read, find_captures, read_capture
from streamkit.lab.cases import reads_of, recut
from streamkit.lab.player import Player
from streamkit.lab.player_line import Axis, Drawing
from streamkit.lab.player_tape import Tape
from streamkit.lab.problem import Problem
from streamkit.turn import TurnBuilder
from streamkit.wire import APIS

TOOLS = [
    {
        "name": "find",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
            "required": ["query"],
        },
    }
]
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)></style><b>&amp;\x1b[31m\u202e\x07$x^2$ \ud800"


def made(frames, tools=TOOLS, ending="clean", step=0.1, **header) -> Capture:
    """A capture typed by hand, in OpenAI's chat form: one delta a read, `step` seconds apart."""
    reads = [
        Read(round((n + 1) * step, 6), b"data: " + json.dumps({"choices": [frame]}).encode() + b"\n\n")
        for n, frame in enumerate(frames)
    ]
    header = {"api": "openai-chat", "tools": tools, "model": "by-hand", **header}
    return Capture(Path("made.jsonl"), header, reads, round((len(reads) + 1) * step, 6), ending)


def text(content):
    return {"delta": {"content": content}}


def fragment(arguments, index=0, **more):
    function = {"arguments": arguments} | ({"name": more["name"]} if "name" in more else {})
    return {
        "delta": {"tool_calls": [{"index": index, "function": function} | ({"id": more["id"]} if "id" in more else {})]}
    }


SMALL = [
    text("Let me "),
    text("look."),
    fragment("", name="find", id="c1"),
    fragment('{"query": "la'),
    fragment('mp"'),
    fragment(', "limit": 3'),
    fragment("}"),
    {"delta": {}, "finish_reason": "tool_calls"},
]


@pytest.fixture
def player() -> Player:
    return Player(made(SMALL))


def bare(events):
    return [(type(event), event._replace(at=0)) for event in events]


# what is played


@pytest.mark.parametrize("case", ALL_CASES, ids=lambda case: case.get("name", ""))
def test_the_steps_hold_every_byte_and_every_event_whatever_the_cuts(case):
    reads = [Read(*read) for read in reads_of(case)]
    ending = case.get("ends", "clean")
    capture = Capture(Path("case.jsonl"), {"api": case["api"], "tools": case.get("tools")}, reads, reads[-1].at, ending)
    tape = Tape(capture)
    assert b"".join(step.raw for step in tape.steps) == capture.body
    assert [event for step in tape.steps for event in step.events] == capture.events()
    cuts = random_cuts(len(capture.body), str(case.get("name")), 20)
    again = Tape(
        Capture(capture.path, capture.header, [Read(*r) for r in recut(reads, cuts)], capture.ended_at, ending)
    )
    one, other = (bare(event for step in t.steps for event in step.events) for t in (tape, again))
    assert one == other


def test_every_recorded_capture_ends_in_the_turn_that_it_makes():
    for path in find_captures():
        capture = read_capture(path)
        tape, turn = Tape(capture), capture.turn()
        end = tape.state(len(tape))
        assert (end.turn.verdict, end.turn.reason, end.turn.text) == (turn.verdict, turn.reason, turn.text)
        assert [(call.name, call.text, call.outcome) for call in end.calls] == [
            (call.name, call.text, call.outcome) for call in turn.calls
        ]


def test_the_state_is_the_same_from_either_side():
    tape = Tape(made(SMALL))
    forward = [_state(tape.state(n)) for n in range(len(tape) + 1)]
    backward = [_state(tape.state(n)) for n in range(len(tape), -1, -1)]
    assert forward == backward[::-1]
    assert len({json.dumps(state) for state in forward}) == len(
        tape
    )  # of one more; the finish reason alone changes nothing


def _state(builder):
    blocks = [(block.kind, block.text, block.outcome) for block in builder.blocks]
    return blocks, [(call.name, call.id, call.text, call.outcome) for call in builder.calls]


def test_a_wire_event_without_content_is_a_step_of_its_own():
    tape = Tape(made([{"delta": {"role": "assistant", "content": ""}}, *SMALL]))
    assert tape.steps[0].events == ()
    assert tape.steps[0].raw.startswith(b"data: ")
    assert len(tape) == len(SMALL) + 2  # and the end of the stream


@pytest.mark.parametrize("api", APIS)
def test_every_step_of_every_case_can_be_drawn(api):
    cases = [case for case in ALL_CASES if case["api"] == api]
    assert cases
    for case in cases:
        reads = [Read(*read) for read in reads_of(case)]
        header = {"api": api, "tools": case.get("tools")}
        player = Player(Capture(Path("case.jsonl"), header, reads, reads[-1].at, case.get("ends", "clean")))
        for step in range(len(player) + 1):
            player.step = step
            for page in (player.desk.line, player.desk.wire, player.desk.buffers, player.desk.screen):
                Tags(page.value)
        Tags(player._repr_mimebundle_()["text/html"])
        assert "the turn is" in player.desk.screen.value


# the moments


def test_the_moments_of_a_call(player):
    assert player.moments == [(3, "announced", 0), (5, "first parse", 0), (8, "completed", 0)]
    call = player.tape.line.calls[0]
    assert (call.announced, call.first_parse, call.completed, call.own) == (0.3, 0.5, 0.8, False)
    assert call.gap == pytest.approx(0.3)


def test_a_completion_event_of_its_own_is_told_from_the_turns_finish():
    case = next(case for case in ALL_CASES if case["name"].startswith("084-anthropic"))
    reads = [Read(*read) for read in reads_of(case)]
    tape = Tape(Capture(Path("case.jsonl"), {"api": case["api"], "tools": case["tools"]}, reads, 9.0, "clean"))
    (call,) = tape.line.calls
    assert (call.own, call.completed) == (True, tape.state(len(tape)).calls[0].finished_at)
    assert call.completed < tape.line.finished


def test_each_call_has_moments_of_its_own():
    frames = [*SMALL[:4], fragment('{"limit": 1, ', 1, name="find", id="c2"), fragment('"query": "a"}', 1), *SMALL[4:]]
    player = Player(made(frames))
    assert [(step, what) for step, what, call in player.moments if call == 1] == [
        (5, "announced"),
        (6, "first parse"),
        (10, "completed"),
    ]
    assert [call.first_parse for call in player.tape.line.calls] == [0.7, 0.6]
    assert player.go("announced", 1).event.at == 0.5


def test_a_call_that_was_cut_off_is_never_completed():
    player = Player(made(SMALL[:5], ending="disconnect"))
    assert [what for _, what, _ in player.moments] == ["announced", "first parse"]
    player.step = len(player)
    assert "✂ cut off</span> find" in player.desk.screen.value
    assert "no call, whatever its text looks like" in player.desk.buffers.value


def test_without_a_schema_there_is_no_first_parse():
    assert [what for _, what, _ in Player(made(SMALL, tools=[])).moments] == ["announced", "completed"]


# the controls


def test_the_slider_moves_the_three_panes_and_the_time_line(player):
    seen = set()
    for step in range(len(player) + 1):
        player.step = step
        seen.add((player.desk.line.value, player.desk.wire.value, player.desk.buffers.value, player.desk.screen.value))
    assert len(seen) == len(player) + 1
    player.desk.slider.value = 5
    assert player.step == 5
    assert player.event.events[0].text == 'mp"'
    assert '<mark class="sk-f sk-new">mp&quot;</mark>' in player.desk.buffers.value
    assert '<mark class="sk-new">&quot;mp\\&quot;&quot;</mark>' in player.desk.wire.value
    assert "… preparing" in player.desk.screen.value


def test_nothing_on_the_screen_says_that_a_call_runs(player):
    for step in range(len(player) + 1):
        player.step = step
        assert not any(word in player.desk.screen.value for word in ("running", " ran", "▶"))


def test_the_clock_shows_what_had_come_by_then(player):
    for now, step in ((0, 0), (99, 0), (100, 1), (449, 4), (450, 4), (900, len(player))):
        player.desk.clock.value = now
        assert player.step == step, now


def test_the_clock_follows_the_slider(player):
    player.step = 4
    assert (player.desk.clock.value, player.step) == (400, 4)


def test_events_of_one_read_can_still_be_gone_through_one_by_one():
    capture = made(SMALL)
    once = Capture(capture.path, capture.header, [Read(0.5, capture.body)], 0.5, "clean")
    player = Player(once)
    for step in range(1, len(player) + 1):
        player.step = step
        assert player.step == step
        assert ("First parse was" in player.desk.buffers.value) == (5 <= step < len(player))
    player.step = 0
    player.desk.clock.value = 500
    assert player.step == len(player)


def test_play_pause_speed(player):
    player.play()
    assert player.desk.clock.playing
    player.pause()
    assert not player.desk.clock.playing
    player.speed = 0.5
    assert player.desk.clock.step * player.speed**-1 == player.desk.clock.interval
    player.step = len(player)
    player.desk.play.click()
    assert (player.step, player.desk.clock.playing, player.desk.play.description) == (
        0,
        True,
        "pause",
    )  # from the start
    player.desk.play.click()
    assert (player.desk.clock.playing, player.desk.play.description) == (False, "play")
    player.play()
    player.desk.clock.value = player.desk.clock.max
    assert player.step == len(player)
    assert not player.desk.clock.playing


def test_the_time_line_points_at_the_clock_between_events(player):
    pointed = set()
    for now in (410, 420, 430):
        player.desk.clock.value = now
        pointed.add(player.desk.line.value)
        assert f"at {now / 1000:.3f} s" in player.desk.line.value
        assert player.step == 4
    assert len(pointed) == 3


def test_a_long_wait_is_cut_to_a_second_of_the_viewers():
    late = Player(made(SMALL, step=10), speed=2.0)
    late.play()
    assert (late.desk.clock.value, late.step) == (8000, 0)
    soon = Player(made(SMALL), speed=2.0)
    soon.play()
    assert soon.desk.clock.value == 0


def test_buttons_and_list(player):
    player.desk.next.click()
    player.desk.next.click()
    player.desk.back.click()
    assert player.step == 1
    words, step = player.desk.moment.options[2]
    assert words == "first parse: call 0 find (event 5)"
    player.desk.moment.value = step
    assert player.step == 5
    player.desk.moment.value = len(player)
    player.desk.next.click()  # past the end: it stays
    assert player.step == len(player)
    assert player.go("announced").step == 3


def test_what_it_refuses(player):
    for wrong in (-1, len(player) + 1, 1.5, "3"):
        with pytest.raises(Problem, match="a step from 0 to 9 was expected"):
            player.step = wrong
    with pytest.raises(Problem, match="a speed was expected"):
        player.speed = 3
    with pytest.raises(Problem, match=r"'first parse' of call 0.*call 7 came"):
        player.go("first parse", 7)
    with pytest.raises(Problem, match="no capture named"):
        Player("no-such-capture")


# foreign text


class Tags(HTMLParser):
    ALLOWED = frozenset(
        ("div", "span", "b", "mark", "table", "tr", "td", "th", "svg", "path", "rect", "g", "text", "style", "img")
    )
    PICTURE = "data:image/svg+xml;base64,"  # obeys no script and loads nothing

    def __init__(self, page):
        super().__init__()
        self.styles = 0
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.styles += tag == "style"
        assert tag in self.ALLOWED, tag
        said = dict(attributes)
        assert not [name for name in said if name.startswith("on") or name == "href"]
        if source := said.get("src"):
            assert tag == "img" and source.startswith(self.PICTURE) and said["alt"]
            xml.fromstring(base64.b64decode(source.removeprefix(self.PICTURE)))


def test_what_a_model_wrote_is_shown_and_never_obeyed():
    arguments = json.dumps({"query": HOSTILE})
    frames = [
        text(HOSTILE),
        {"delta": {"reasoning": HOSTILE}},
        fragment("", name=HOSTILE, id=HOSTILE),
        fragment(arguments[:9]),
        fragment(HOSTILE),
        fragment(arguments[9:]),
        {"delta": {}, "finish_reason": HOSTILE},
    ]
    for tools in (TOOLS, []):
        capture = made(frames, tools=tools, model=HOSTILE, derived=HOSTILE)
        capture.path = Path(HOSTILE.replace("/", "") + ".jsonl")
        player = Player(capture)
        for step in range(len(player) + 1):
            player.step = step
            pages = [
                pane.value for pane in (player.desk.line, player.desk.wire, player.desk.buffers, player.desk.screen)
            ]
            pages += [player._repr_mimebundle_()["text/html"], player.desk.widget.children[0].value]
            for page in pages:
                Tags(page)
                assert clean(page)
        assert Tags(pages[4]).styles == 1
        bundle = player._repr_mimebundle_()
        assert clean(bundle["text/plain"])
        assert clean(player.text)
        assert all(clean(words) for words, _ in player.desk.moment.options)
        assert "tex2jax_ignore" in bundle["text/html"]  # and `$x^2$` is no formula
        assert "&lt;script&gt;" in player.desk.screen.value


def clean(page: str) -> bool:
    return not any((ord(c) < 32 and c not in "\n") or c in "\x7f\u202e" or 0xD800 <= ord(c) < 0xE000 for c in page)


# size


def long(events: int) -> Capture:
    arguments = json.dumps({"query": "lamp " * events})
    size = len(arguments) // events + 1
    pieces = [arguments[at : at + size] for at in range(0, len(arguments), size)]
    frames = [fragment("", name="find", id="c1"), *map(fragment, pieces), {"delta": {}, "finish_reason": "tool_calls"}]
    return made([text("word "), text("by word "), *frames], step=0.01)


def test_what_is_drawn_does_not_grow_and_says_what_it_leaves_out():
    small, large = (Player(long(events)) for events in (200, 10_000))
    for player in (small, large):
        player.step = len(player) - 3
    for name in ("line", "wire", "buffers", "screen"):
        few, many = (len(getattr(player.desk, name).value) for player in (small, large))
        assert many < 6_000, name
        assert many < 2 * few, name
    assert "earlier fragments not drawn" in large.desk.buffers.value
    assert len(large._repr_mimebundle_()["text/html"]) < 60_000


def test_one_huge_fragment_is_cut():
    player = Player(made([text("x" * 100_000), fragment('{"query": "' + "y" * 100_000, name="find", id="c1")]), step=2)
    assert all(len(pane.value) < 6_000 for pane in (player.desk.wire, player.desk.buffers, player.desk.screen))
    assert "more bytes not drawn" in player.desk.wire.value
    assert len(player._repr_mimebundle_()["text/plain"]) < 3_000


def test_many_calls_and_blocks_are_counted_not_drawn():
    frames = [frame for n in range(500) for frame in (fragment("", n, name=f"tool{n}", id=f"c{n}"), fragment("{}", n))]
    player = Player(made([*frames, {"delta": {}, "finish_reason": "tool_calls"}]), step=1000)
    assert "494 earlier calls not drawn" in player.desk.buffers.value
    assert "488 earlier blocks not drawn" in player.desk.screen.value
    assert "492 more calls not drawn" in player.desk.line.value
    assert len(player._repr_mimebundle_()["text/html"]) < 60_000


def test_a_step_forward_costs_what_it_brings(monkeypatch):
    player, added = Player(long(2_000)), []
    add = TurnBuilder.add
    monkeypatch.setattr(TurnBuilder, "add", lambda self, event: added.append(event) or add(self, event))
    player.step = 1000
    added.clear()
    for step in range(1001, 1101):
        player.step = step
    assert len(added) == 100


def test_a_response_of_nothing():
    player = Player(made([], ending="disconnect"))
    player.step = len(player)
    assert "the connection broke" in player.desk.wire.value
    assert "✂ the turn is interrupted" in player.desk.screen.value


# where no widget is alive


def test_the_still_form_is_the_same_every_time():
    bundles = [Player(made(SMALL), step=5)._repr_mimebundle_() for _ in range(2)]
    assert bundles[0] == bundles[1]
    assert repr(Player(made(SMALL))) == "Player(made: 9 events in 0.900 s (openai-chat, by-hand))"
    said = bundles[0]["text/plain"]
    assert (
        "call 0 find: announced 0.300 s, first parse 0.500 s, completed 0.800 s with the turn, gap 0.300 s; ✓ ready"
        in said
    )
    assert 'buffer 0: {"query": "lamp"\n' in said
    page = bundles[0]["text/html"]
    assert all(head in page for head in ("The event on the wire", "The buffers", "What a user sees", "0.300 s"))
    assert "event 5 of 9" in page


def test_the_still_form_can_be_read_where_drawings_and_styles_are_stripped(player):
    """A notebook that is not trusted keeps the text of an <svg> and drops its shape, and drops the style sheet."""
    page = player._repr_mimebundle_()["text/html"]
    assert "<svg" not in page and page.count("<img") == 1
    assert not re.search(r"<t[dh]>", page) and page.count("text-align: left") > 10
    assert 'sk-board" width="100%"' in page and "word-wrap: break-word" in page
    picture = base64.b64decode(re.search(r'base64,([^"]+)"', page)[1]).decode()
    assert 'fill="white"' in picture and "currentColor" not in picture and "var(" not in picture


def test_it_shows_a_widget_and_beside_it_the_still_form(player, monkeypatch):
    shown = []
    monkeypatch.setattr(IPython.display, "display", lambda data, raw: shown.append(data))
    player._ipython_display_()
    live, still = shown
    assert "application/vnd.jupyter.widget-view+json" in live
    assert live["text/plain"] == f"{player!r}. Run the cell to play it; its still picture follows."
    assert set(still) == {"text/plain", "text/html"}
    assert "sk-still" in still["text/html"]
    assert "sk-alive" not in still["text/html"]
    assert "sk-alive" in player.desk.widget.children[0].value


def test_a_derived_capture_says_so():
    assert (
        "derived, not as recorded"
        in Player(made(SMALL, derived="closing events moved"))._repr_mimebundle_()["text/html"]
    )


def test_every_mark_of_the_time_line_lies_on_it():
    line = Tape(made(SMALL)).line
    axis = Axis(0.1, line.ended)
    assert [axis.x(at) for at in (0, line.ended, 99)] == [150, 920, 920]
    late = Axis(4, 6)
    assert [late.x(at) for at in (0, 4, 5, 6)] == [150, 150, 535, 920]
    for begun, ended in ((0, 0.9), (4, 6), (0.001, 12_345), (0, 0), (99.5, 100)):
        ticks = Axis(begun, ended).ticks()
        assert 3 <= len(ticks) <= 11
        assert ticks == sorted(set(ticks))
    drawing = Drawing(line).at(0.5)
    assert (
        drawing.count('class="sk-announced"')
        == drawing.count('class="sk-first-parse"')
        == drawing.count('class="sk-completed"')
        == 1
    )
    assert f"M{axis.x(0.5)} 6 V" in drawing
    assert [drawing.count(f"M{axis.x(at):.0f} 64v10") for at in (0.4, 0.5, 0.6, 0.7)] == [1] * 4
    assert "Call 0, find: announced at 0.300 s, first parse at 0.500 s, completed at 0.800 s." in drawing
