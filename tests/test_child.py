"""One rule: what is killed is dead at that place, and what is not runs to its end; both are told."""

import os

import pytest

from streamkit.lab.child import run_child
from streamkit.lab.problem import Problem

TWO_POINTS = """
import atexit, pathlib
atexit.register(lambda: pathlib.Path(trace).write_text("handlers ran"))
try:
    print("begun", end="")
    reached("one")
    reached("two")
    print(" done")
finally:
    reached("finally")
"""


def test_a_child_runs_its_piece_and_tells(tmp_path):
    child = run_child(TWO_POINTS, trace=str(tmp_path / "trace"))
    assert child.killed_at is None and child.code == 0
    assert child.reached == ["one", "two", "finally"] and child.said == "begun done\n"
    assert (tmp_path / "trace").exists()


def test_a_killed_child_runs_nothing_any_more(tmp_path):
    child = run_child(TWO_POINTS, "two", trace=str(tmp_path / "trace"))
    assert (child.killed_at, child.reached, child.said) == ("two", ["one"], "begun")
    assert child.code == (1 if os.name == "nt" else -9) and not (tmp_path / "trace").exists()


def test_a_child_dies_before_the_line_that_is_told():
    piece = "for n in range(3):\n    print(n)\nprint('end')\n"
    deaths = [run_child(piece, line) for line in range(1, 10)]
    assert [child.said for child in deaths] == [
        "",
        "",
        "0\n",
        "0\n",
        "0\n1\n",
        "0\n1\n",
        "0\n1\n2\n",
        "0\n1\n2\n",
        "0\n1\n2\nend\n",
    ]
    assert deaths[0].killed_at == "<piece>:1" and deaths[-1].killed_at is None


@pytest.mark.parametrize(
    "piece, say",
    [("1 / 0", "ZeroDivisionError"), ("reached('one')", "had reached one"), ("not a piece of python", "SyntaxError")],
)
def test_a_point_never_reached_is_said(piece, say):
    with pytest.raises(Problem, match=f"expected the piece to reach 'two'.*{say}"):
        run_child(piece, "two")


def test_a_child_that_hangs_is_ended():
    with pytest.raises(Problem, match=r"to end within 1 s; it had reached one"):
        run_child("reached('one')\nimport time\ntime.sleep(60)", patience=1)


def test_an_error_of_the_piece_comes_back_with_its_line():
    child = run_child("import sys\nprint('so far')\nraise ValueError('no')")
    assert child.code == 1 and child.said == "so far\n"
    assert "raise ValueError('no')" in child.errors and '"<piece>", line 3' in child.errors
