"""nbval on the book and on workbooks, with the plain command: always the book, with somebody's exercise cells."""

import json
import re
import shutil
import subprocess
import sys

import nbformat
import pytest
import small
from nbformat.v4 import new_code_cell, new_markdown_cell

from streamkit.lab import workbook
from streamkit.lab.exercises.cells import name_of
from streamkit.lab.fill import chapter, chapters_in, fill, written
from streamkit.lab.problem import Problem

pytest_plugins = ["small.fixtures"]

JOIN = '# exercise: join-fragments\ndef join(pieces):\n    return "".join(list(pieces))\n'
KEYED = (
    "# exercise: keyed\nclass Keyed:\n    def __init__(self):\n        self.by = {}\n    def add(self, index, text):\n"
    '        self.by[index] = self.by.get(index, "") + text\n    def texts(self):\n        return list(self.by.values())\n'
)
COUNT = "# exercise: count\ndef count(pieces):\n    return sum(1 for _ in pieces)\n"
SOLVED = {"join-fragments": JOIN, "keyed": KEYED, "count": COUNT}


# fill and written.


def test_fill_changes_exercise_cells_and_nothing_else(home):
    book = nbformat.read(home / "notebooks" / "01_join.ipynb", as_version=4)
    filled = fill(book, {"join-fragments": JOIN, "no-such": "x"})
    for before, after in zip(book.cells, filled.cells, strict=True):
        if name_of(before.source) == "join-fragments" and before.cell_type == "code":
            assert after.source == JOIN and {**after, "source": ""} == {**before, "source": ""}
        else:
            assert after == before
    assert book == nbformat.read(home / "notebooks" / "01_join.ipynb", as_version=4)


def test_of_two_cells_the_last_in_the_file_counts(tmp_path):
    cells = [
        ("code", "# exercise: a\n1"),
        ("markdown", "# exercise: b"),
        ("code", ["# exercise: a\n", "2"]),
        ("code", "x"),
    ]
    path = tmp_path / "n.ipynb"
    path.write_text(json.dumps({"cells": [{"cell_type": kind, "source": source} for kind, source in cells]}))
    assert written(path) == {"a": "# exercise: a\n2"}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"cells": 3}', '{"cells": [{}]}', '{"cells": [{"cell_type": "code"}]}']
)
def test_what_is_no_notebook_is_said(tmp_path, text):
    (tmp_path / "n.ipynb").write_text(text)
    with pytest.raises(Problem, match=r"expected a notebook, .*n\.ipynb"):
        written(tmp_path / "n.ipynb")
    assert chapter(tmp_path / "n.ipynb") is None and chapters_in(tmp_path) == []


# nbval. All workbooks of a kind in one run, since each needs a kernel.


def make(home, name, change=lambda book: None, answers=None, chapters=("01_join.ipynb",)):
    """A workbook in a home of its own, beside the same book: exercise cells as in `answers`, then changed."""
    there = home / name
    shutil.copytree(home / "notebooks", there / "notebooks")
    workbook.make(there / "notebooks", there / "workbook")
    for path in chapters_in(there / "workbook"):
        if path.name not in chapters:
            path.unlink()
            continue
        book = fill(nbformat.read(path, as_version=4), answers or {})
        change(book)
        path.write_text(json.dumps(book))  # as a front end saves it, valid or not
    return there / "workbook"


def outcomes(home, *folders, options=()):
    """{(folder, file, cell): outcome} of the plain command."""
    words = [
        sys.executable,
        "-m",
        "pytest",
        "--nbval",
        *map(str, folders),
        "-p",
        "no:cacheprovider",
        "-rA",
        "-q",
        *options,
    ]
    ran = subprocess.run(words, cwd=home, env=small.environment(home), capture_output=True, text=True)
    found = re.findall(
        r"^(PASSED|FAILED|ERROR) (?:(\S+?)/)?(?:(?:workbook|notebooks)/)?(\S+?)::(?:Cell (\d+)|(\w+))", ran.stdout, re.M
    )
    assert found, ran.stdout + ran.stderr
    return {
        (folder.rpartition("/")[2], file, int(cell or -1)): outcome for outcome, folder, file, cell, _ in found
    }, ran


def red(found, folder):
    """The numbers of the code cells that failed in a folder."""
    return sorted(cell for (where, _, cell), outcome in found.items() if where == folder and outcome != "PASSED")


# The code cells of chapter 1 by number.
JOIN_CELL, JOIN_CHECK, USE, KEYED_CELL, KEYED_CHECK = 1, 2, 3, 4, 5


def test_workbooks_red_only_where_they_must_be(home):
    def edited(book):
        """Moved, doubled, added, removed, renamed and saved over: nothing of that is an exercise."""
        book.cells.reverse()
        book.cells = [cell for cell in book.cells if "check(" not in cell.source]
        book.cells.insert(0, new_code_cell("1 / 0"))
        book.cells.insert(0, new_code_cell("# exercise: keyed\nclass Keyed: pass"))
        book.cells.insert(3, new_markdown_cell("# exercise: keyed"))
        book.cells.append(new_code_cell("%%time\n# mine\n" + KEYED))
        for number, cell in enumerate(book.cells):
            cell.id = f"renewed-{number}"
            if cell.cell_type == "code":
                cell.outputs = [{"output_type": "stream", "name": "stdout", "text": "saved over"}]

    half = {"join-fragments": JOIN.replace("return", "print('noise', pieces)\n    return")}
    broken = {"join-fragments": JOIN, "keyed": "# exercise: keyed\nclass Keyed\n    ..."}
    helper = {**SOLVED, "join-fragments": "# exercise: join-fragments\ndef join(pieces):\n    return helper(pieces)"}
    make(home, "solved", answers=SOLVED)
    make(home, "empty")
    make(home, "half", answers=half)
    make(home, "broken", answers=broken)
    make(home, "edited", edited, SOLVED)
    make(home, "helper", lambda book: book.cells.insert(2, new_code_cell("helper = ''.join")), helper)
    make(home, "nothing").joinpath("01_join.ipynb").write_text("no notebook")

    # Beside them: a later chapter that runs a kept piece, somebody else's notebooks/, and what a learner adds.
    kept = make(home, "kept", answers={**SOLVED, "keyed": ""}, chapters=("02_count.ipynb",))
    (kept / "pieces").mkdir()
    witness = f"self.by = {{}}; open({str(home / 'witness')!r}, 'a').close()"
    (kept / "pieces" / "keyed.py").write_text(KEYED.replace("self.by = {}", witness))
    other = nbformat.v4.new_notebook(cells=[new_code_cell("# exercise: join-fragments\nprint(1)")])
    other.cells[0].execution_count = 1
    other.cells[0].outputs = [nbformat.v4.new_output("stream", name="stdout", text="1\n")]
    (home / "theirs" / "notebooks").mkdir(parents=True)
    nbformat.write(other, home / "theirs" / "notebooks" / "n.ipynb")
    nbformat.write(other, kept / "scratch.ipynb")
    (kept / "older").mkdir()
    shutil.copy(kept / "02_count.ipynb", kept / "older" / "02_count.ipynb")
    names = ["solved", "empty", "half", "broken", "edited", "helper", "nothing"]
    before = {path: path.read_bytes() for path in home.rglob("*.ipynb")}

    folders = [*(f"{name}/workbook" for name in [*names, "kept"]), "theirs/notebooks"]
    found, ran = outcomes(home, *folders, options=("-n", "2"))

    assert {name: red(found, name) for name in names} == {
        "solved": [],
        "empty": [JOIN_CHECK, KEYED_CHECK],
        "half": [KEYED_CHECK],
        "broken": [KEYED_CELL, KEYED_CHECK],
        "edited": [],
        "helper": [JOIN_CHECK],
        "nothing": [-1],
    }
    assert "expected a notebook" in ran.stdout
    assert all(len([key for key in found if key[0] == name]) == 6 for name in names[:-1])  # every cell, no more
    assert before == {path: path.read_bytes() for path in home.rglob("*.ipynb")}
    assert [path.name for path in home.rglob("pieces/*")] == ["keyed.py"]  # a test keeps nothing
    assert (home / "witness").exists() and red(found, "kept") == red(found, "theirs") == []
    assert {file for where, file, _ in found if where in ("kept", "theirs")} == {
        "02_count.ipynb",
        "scratch.ipynb",
        "n.ipynb",
    }


def test_the_book_passes_and_a_change_of_its_meaning_does_not(home):
    second = home / "notebooks" / "02_count.ipynb"
    book = nbformat.read(second, as_version=4)
    cell = next(cell for cell in book.cells if "piece.texts()" in cell.source)
    cell.source = cell.source.replace('add(0, "x")', 'add(0, "y")')
    nbformat.write(book, second)
    never = home / "notebooks" / "03_never.ipynb"
    small.write_book(home / "other")
    shutil.copy(home / "other" / "notebooks" / "01_join.ipynb", never)
    shutil.rmtree(home / "other")
    found, ran = outcomes(home, "notebooks")
    failing = {(file, cell) for (_, file, cell), outcome in found.items() if outcome != "PASSED"}
    assert failing == {("02_count.ipynb", 4), ("03_never.ipynb", -1)}, ran.stdout
    assert "6 code cells of 03_never.ipynb were never executed" in ran.stdout


# Solved copies.


def test_solved_copies_are_written_once(home):
    done = small.command(home, "streamkit", "fill", "--to", "solved")
    assert done.returncode == 0 and done.stdout.split() == ["solved/01_join.ipynb", "solved/02_count.ipynb"]
    book = nbformat.read(home / "solved" / "01_join.ipynb", as_version=4)
    assert "return BLANK.join(fragments)" in written(home / "solved" / "01_join.ipynb")["join-fragments"]
    assert any("✓ keyed" in str(cell.get("outputs")) for cell in book.cells)
    again = small.command(home, "streamkit", "fill", "01", "--to", "solved")
    assert again.returncode == 2 and "nothing is overwritten" in again.stderr and len(again.stderr.splitlines()) == 1
    assert small.command(home, "streamkit", "fill", "07").returncode == 2
