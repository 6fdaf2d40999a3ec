"""Each chapter as a learner sees it: in JupyterLab, from the workbook, in a browser that cannot leave the machine."""

import os
import shutil
from pathlib import Path

import pytest
import small
from browser import browser, chromium, lab

from streamkit.lab.fill import chapters_in
from streamkit.lab.paths import BOOK, DATA, ROOT

pytest.importorskip("playwright", reason="playwright is not installed")
if chromium() is None:
    pytest.skip(
        "there is no Chromium (on Debian: apt install chromium; or name one in CHROMIUM)", allow_module_level=True
    )

CHAPTERS = chapters_in(BOOK)
PANES = ("The event on the wire", "The buffers, one a call", "What a user sees")
SHOTS = os.environ.get("STREAMKIT_SHOTS")  # a folder for pictures, to look at


@pytest.fixture(scope="module")
def screen_on():
    """One browser for all."""
    with browser() as screen:
        yield screen


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The course opened in a home of its own, so that no workbook of anybody's is touched."""
    home = tmp_path_factory.mktemp("home")
    shutil.copytree(BOOK, home / "notebooks", ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    shutil.copytree(DATA, home / "data")
    env = dict(os.environ, STREAMKIT_HOME=str(home), PYTHONPATH=str(ROOT))
    with lab(home, env) as address:
        yield address


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_runs_from_top_to_bottom(path, course, screen_on):
    screen = screen_on(course)
    screen.open(f"workbook/{path.name}")
    assert screen.page.locator(".jp-OutputArea-output").count() == 0  # nothing answers a question before it is asked
    screen.run_all()
    screen.page.wait_for_timeout(500)
    if SHOTS:
        screen.shoot(Path(SHOTS), path.stem)
    assert screen.faults() == []
    assert screen.page.locator("dialog.jp-Dialog").count() == 0
    assert screen.page.locator(".jp-OutputArea-output img").count() >= 1
    assert screen.page.get_by_text("not started").count() >= 1
    if "Player(" in path.read_text("utf-8"):
        first, last = (moved(screen, key) for key in ("Home", "End"))
        assert all(one != other for one, other in zip(first, last, strict=True)), (first, last)
    assert screen.errors == [] and screen.outside == []


def moved(screen, key):
    """What the three panes of the first player show when its slider got a key."""
    handle = screen.page.locator(".widget-slider .noUi-handle").first
    handle.scroll_into_view_if_needed()
    handle.focus()
    screen.page.keyboard.press(key)
    screen.page.wait_for_timeout(700)
    player = screen.page.locator(".jp-OutputArea-output", has=screen.page.locator(".widget-slider")).first
    panes = [player.locator(".widget-html", has_text=title).last for title in PANES]
    return [pane.inner_text() for pane in panes]


def test_a_newcomers_path(tmp_path, screen_on):
    """Open, run, a wrong answer, a hint, a right answer, close, reopen: the state is there, in this chapter and the next."""
    small.write_book(tmp_path)
    with lab(tmp_path, small.environment(tmp_path)) as address:
        screen = screen_on(address)
        screen.open("notebooks/01_join.ipynb")  # as a hub's link does: the book itself, which sends the learner on
        screen.page.locator(".jp-CodeCell .cm-content").first.click()
        screen.page.keyboard.press("Control+Enter")
        screen.page.get_by_role("link", name="workbook/01_join.ipynb").click()
        screen.page.wait_for_url("**/lab/tree/workbook/01_join.ipynb*")

        screen = screen_on(address)
        screen.open("workbook/01_join.ipynb")
        screen.run_all()
        assert screen.faults() == []
        assert "○ join-fragments: not started" in screen.run(2)
        wrong = "# exercise: join-fragments\ndef join(fragments):\n    return ''.join(f.strip() for f in fragments)"
        screen.write(1, wrong)
        said = screen.run(2)
        assert "✗ join-fragments: not right yet" in said and "A blank may stand inside a string" in said
        screen.write(3, 'hint("join-fragments")')
        assert "Hint 1 of 2: One operation is enough." in screen.page.locator(".jp-OutputArea").nth(3).inner_text()
        screen.write(1, "# exercise: join-fragments\ndef join(fragments):\n    return ''.join(fragments)")
        assert "✓ join-fragments: passes" in (said := screen.run(2)) and "Kept in pieces/join-fragments.py" in said
        screen.save()
        if SHOTS:
            screen.shoot(Path(SHOTS), "newcomer")
        assert screen.errors == [] and screen.outside == []

    with lab(tmp_path, small.environment(tmp_path)) as address:  # the next evening
        screen = screen_on(address)
        screen.open("workbook/01_join.ipynb")
        assert "✓ join-fragments: passes" in screen.page.locator(".jp-Notebook").inner_text()
        screen.run(0)
        assert "✓" in (said := screen.run(2)) and "This is the kept one" in said
        screen.run(1)
        assert "✓" in (said := screen.run(2)) and "kept one" not in said
        assert screen.errors == [] and screen.outside == []
    done = small.command(tmp_path, "streamkit", "progress")
    assert "✓ passes         join-fragments" in done.stdout and "1 of 3 exercises pass" in done.stdout
