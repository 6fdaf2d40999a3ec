"""Charts: the plotted data, the sentence that stands for the picture, and the look."""

import base64
import io
import subprocess
import sys

import pytest
from test_player import HOSTILE, SMALL, clean, fragment, made, text

from streamkit.lab.chart import COLOURS, HATCHES, LINES, MARKERS
from streamkit.lab.charts import bars, ecdf, timeline
from streamkit.lab.problem import Problem

BAD_MATHS = r"$\frac{$ and $x^$"  # typeset, this raises


def test_the_time_line_plots_what_happened():
    chart = timeline(made(SMALL))
    (call,) = chart.data["calls"]
    assert chart.data["text"] == [0.1, 0.2]
    assert (chart.data["finished"], chart.data["ended"]) == (0.8, 0.9)
    assert (call["announced"], call["first_parse"], call["completed"], call["own"]) == (0.3, 0.5, 0.8, False)
    assert call["gap"] == pytest.approx(0.3)
    assert call["fragments"] == [0.4, 0.5, 0.6, 0.7]
    (ax,) = chart.figure.axes
    marks = {
        marked.get_label(): marked.get_offsets().tolist() for marked in ax.collections if marked.get_label()[0] != "_"
    }
    assert {name: places for name, places in marks.items() if name in ("announced", "first parse", "completed")} == {
        "announced": [[0.3, 1.0]],
        "first parse": [[0.5, 1.0]],
        "completed": [[0.8, 1.0]],
    }
    assert chart.alt.startswith("made. Time line of 0.900 seconds, 1 call. Call 0, find: announced at 0.300 s")


def test_a_call_that_was_cut_off_is_marked_so():
    (ax,) = timeline(made(SMALL[:5], ending="disconnect")).figure.axes
    marks = {marked.get_label(): marked.get_offsets().tolist() for marked in ax.collections}
    assert marks["cut off"] == [[0.5, 1.0]]
    assert "completed" not in marks


def test_the_distribution_and_its_median():
    chart = ecdf({"chat": [3, 1, 2, 10], "messages": [5.0]}, "gap, seconds", "The gap", (0.21, "published median"))
    assert chart.data["chat"] == {"x": [1, 2, 3, 10], "y": [0.25, 0.5, 0.75, 1], "median": 2.5}
    assert chart.alt == (
        "The gap (gap, seconds). chat: median 2.5, from 1 to 10; messages: median 5, from 5 to 5. For reference, published median: 0.21."
    )
    (ax,) = chart.figure.axes
    steps = [line for line in ax.lines if line.get_label()[0] != "_"]
    assert [list(line.get_ydata()) for line in steps] == [[0, 0.25, 0.5, 0.75, 1], [0, 1]]
    with pytest.raises(Problem, match="'none'"):
        ecdf({"none": []}, "seconds")


def test_bars_carry_their_values():
    groups = {"early": {"extended": 12, "escape": 3}, "at completion": {"extended": 0}}
    chart = bars(groups, "calls", "Wrong answers")
    (ax,) = chart.figure.axes
    assert chart.data == groups
    assert [[bar.get_width() for bar in drawn] for drawn in ax.containers] == [[12, 3], [0]]
    assert [said.get_text() for said in ax.texts] == ["12", "3", "0"]
    assert chart.alt == "Wrong answers (calls). early: extended 12, escape 3; at completion: extended 0."
    with pytest.raises(Problem, match="at least one value"):
        bars({}, "calls")


def test_a_bar_stands_at_its_label():
    """Alone it is centred on its tick; bars of one name stand around it."""
    (ax,) = bars({"yours": {"kit": 3, "both": 1}, "libraries": {"both": 2, "a": 4, "b": 5}}, "cases").figure.axes
    ticks = dict(zip([tick.get_text() for tick in ax.get_yticklabels()], ax.get_yticks(), strict=True))
    yours, libraries = ([bar.get_y() + bar.get_height() / 2 for bar in drawn] for drawn in ax.containers)
    assert [yours[0], *libraries[1:]] == pytest.approx([ticks["kit"], ticks["a"], ticks["b"]])
    assert yours[1] - ticks["both"] == pytest.approx(-0.2) and libraries[0] - ticks["both"] == pytest.approx(0.2)


def test_series_are_told_apart_without_colour():
    assert len(set(LINES)) == len(set(MARKERS)) == len(set(HATCHES)) == len(COLOURS)
    (ax,) = ecdf({str(n): [n, n + 1] for n in range(6)}, "seconds").figure.axes
    lines = [line for line in ax.lines if line.get_label()[0] != "_"]
    assert len({line.get_linestyle() for line in lines[:4]}) == 4
    assert len({line.get_marker() for line in ax.lines if line not in lines}) == 6
    (ax,) = bars({str(n): {"a": 1} for n in range(6)}, "calls").figure.axes
    assert len({drawn[0].get_hatch() for drawn in ax.containers}) == 6


def test_foreign_text_is_drawn_and_never_typeset():
    hostile = HOSTILE + BAD_MATHS
    frames = [text("a"), fragment('{"query": "a"}', name=BAD_MATHS, id="c"), fragment("{}", 1, name=hostile, id="d")]
    capture = made(frames, tools=[])
    capture.path = capture.path.with_name(BAD_MATHS.replace("\\", "") + ".jsonl")
    charts = [
        timeline(capture),
        ecdf({hostile: [1, 2]}, "seconds", reference=(1, BAD_MATHS)),
        bars({hostile: {hostile: 1}, BAD_MATHS: {BAD_MATHS: 2}}, "calls"),
    ]
    for chart in charts:
        data, _ = chart._repr_mimebundle_()
        assert clean(data["text/html"])
        assert clean(data["text/plain"])
        assert "<script" not in data["text/html"]


def test_a_chart_shows_as_a_picture_with_alt_text():
    chart = ecdf({'a "quoted" <name>': [1, 2]}, "seconds")
    data, metadata = chart._repr_mimebundle_()
    assert data["text/plain"] == chart.alt == metadata["image/png"]["alt"]
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert data["text/html"].startswith(
        '<img alt="Cumulative distribution (seconds). a &quot;quoted&quot; &lt;name&gt;: median'
    )
    assert data["image/png"] in data["text/html"]


def test_the_picture_is_the_same_every_time_and_small():
    one, two = (timeline(made(SMALL)).png() for _ in range(2))
    assert one == two
    assert len(one) < 40_000
    from PIL import Image

    assert Image.open(io.BytesIO(one)).size[0] == 1440


def test_matplotlib_comes_with_the_first_chart_only():
    code = "import sys, streamkit.lab.charts, streamkit.lab.player; sys.exit('matplotlib' in sys.modules or 'pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
