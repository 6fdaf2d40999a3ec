"""The README's pictures come from the captures and say what the player says."""

import io
import subprocess
import sys

from PIL import Image

from streamkit.lab.captures import load
from streamkit.lab.paths import ROOT
from streamkit.lab.pictures import MOMENT, SCENE, board, panes, player
from streamkit.lab.player_tape import Tape

TAPE = Tape(load(SCENE))
STEP = next(moment.step for moment in TAPE.moments if moment.what == MOMENT)


def test_the_panes_hold_what_had_arrived_by_then_and_no_more():
    wire, (head, text, *_), screen = panes(TAPE, STEP)
    whole = TAPE.capture.turn().calls[0].text
    assert f"event {STEP} of {len(TAPE)}" in wire[0]
    assert "forming" in head and whole.startswith(text) and text != whole
    assert "preparing" in screen[-1] and "running" not in "".join(screen)


def test_the_player_is_drawn_with_its_board_below_the_time_line():
    drawn = Image.open(io.BytesIO(player()))
    assert drawn.width > 1000 and drawn.height > 600
    assert "It is still not a call" in board(TAPE, STEP).alt


def test_asking_for_help_draws_nothing():
    before = [file.stat().st_mtime_ns for file in sorted((ROOT / "docs").iterdir())]
    done = subprocess.run(
        [sys.executable, "-m", "streamkit.lab.pictures", "--help"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0 and "usage:" in done.stdout and "README" in done.stdout
    assert [file.stat().st_mtime_ns for file in sorted((ROOT / "docs").iterdir())] == before


def test_the_stored_pictures_are_small_and_whole():
    for name in ("player.png", "gap.png"):
        file = ROOT / "docs" / name
        assert file.stat().st_size < 100_000
        Image.open(file).verify()
