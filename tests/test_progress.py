"""streamkit progress: what the files of a workbook are worth, each piece run again."""

import json

import nbformat
import pytest
import small

from streamkit.__main__ import main
from streamkit.lab import progress, workbook
from streamkit.lab.fill import fill
from streamkit.lab.problem import Problem

pytest_plugins = ["small.fixtures"]

WRONG = {"keyed": "# exercise: keyed\nclass Keyed:\n    def add(self, index, text):\n        self.x = text\n"}
ENDLESS = {"count": "# exercise: count\ndef count(f):\n    while True:\n        pass"}


@pytest.fixture
def make(small_course, tmp_path):
    """Make a workbook whose exercise cells hold these answers."""
    book = small.write_book(tmp_path / "book")

    def made(name, answers):
        folder = tmp_path / name
        workbook.make(book, folder)
        for path in folder.glob("*.ipynb"):
            nbformat.write(fill(nbformat.read(path, as_version=4), answers), path)
        return folder

    return made


def signs(folder):
    """The signs of all exercises, in the order of the course."""
    return "".join(standing.sign for standing in progress.standings(folder))


def test_an_untouched_a_half_done_and_a_finished_workbook(make, small_course, capsys):
    right = small_course.answers()
    assert signs(make("untouched", {})) == "○○○"
    assert signs(make("finished", right)) == "✓✓✓"
    half = make("half", {"join-fragments": right["join-fragments"], **WRONG})
    assert signs(half) == "✓✗○"
    assert main(["progress", str(half)]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["chapter", "1", "✓", "passes", "join-fragments", "Join", "fragments"],
        ["✗", "not", "right", "yet", "keyed", "One", "buffer", "an", "index"],
        ["chapter", "2", "○", "not", "started", "count", "Count", "fragments"],
        ["1", "of", "3", "exercises", "pass"],
    ]


def test_stored_outputs_and_claims_are_not_trusted(make):
    folder = make("claims", WRONG)
    path = folder / "01_join.ipynb"
    path.write_text(
        path.read_text("utf-8").replace(
            '"outputs": []', '"outputs": [{"output_type": "stream", "name": "stdout", "text": "✓"}]'
        )
    )
    (folder / "pieces").mkdir()
    (folder / "pieces" / "keyed.py").write_text(WRONG["keyed"])
    assert signs(folder) == "○✗○"


def test_a_kept_piece_counts_and_is_said(make, small_course):
    folder = make("kept", WRONG)
    (folder / "pieces").mkdir()
    (folder / "pieces" / "keyed.py").write_text(small_course.answers()["keyed"])
    assert signs(folder) == "○✓○"
    assert progress.standings(folder)[1].remark == "the kept piece; the cell as it stands does not pass"


def test_a_kept_piece_that_no_longer_passes_was_started(make):
    folder = make("older", {})
    (folder / "pieces").mkdir()
    (folder / "pieces" / "keyed.py").write_text(WRONG["keyed"])
    standing = progress.standings(folder)[1]
    assert (standing.sign, standing.remark) == ("✗", "the kept piece")
    assert "✗ not right yet" in progress.table([standing])


def test_a_missing_chapter_a_broken_file_and_a_lost_cell_are_said(make):
    folder = make("broken", {})
    (folder / "02_count.ipynb").unlink()
    path = folder / "01_join.ipynb"
    path.write_text(path.read_text("utf-8").replace("# exercise: keyed", "# keyed"))
    assert [s.remark for s in progress.standings(folder)] == ["", "no such cell", "no such cell"]
    path.write_text(json.dumps({"metadata": {"streamkit": {"chapter": 1}}, "cells": 7}))
    assert "expected a notebook" in progress.standings(folder)[0].remark


def test_a_learners_folder_is_looked_into_for_its_workbook(make, small_course, tmp_path, capsys):
    """Kept pieces too; and chapters that lie in the folder itself come first."""
    make("anna/workbook", WRONG)
    (tmp_path / "anna/workbook/pieces").mkdir()
    (tmp_path / "anna/workbook/pieces/keyed.py").write_text(small_course.answers()["keyed"])
    assert signs(tmp_path / "anna") == "○✓○"
    assert main(["progress", str(tmp_path / "anna")]) == 0 and "1 of 3 exercises pass" in capsys.readouterr().out
    make("anna", small_course.answers())
    assert signs(tmp_path / "anna") == "✓✓✓"


def test_a_folder_that_is_no_workbook_is_said(tmp_path, small_course, capsys):
    with pytest.raises(Problem, match="expected a workbook, found no chapter"):
        progress.standings(tmp_path)
    assert main(["progress", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("streamkit progress: expected a workbook")


def test_a_room(make, small_course, tmp_path, capsys):
    right = small_course.answers()
    folders = [
        make("ada", right),
        make("bob", {"join-fragments": right["join-fragments"], **WRONG, **ENDLESS}),
        tmp_path / "eve",
    ]
    assert main(["progress", *map(str, folders)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["workbook", "1", "2", "pass"]
    assert lines[1].split()[1:] == ["✓✓", "✓", "3", "of", "3"]
    assert lines[2].split()[1:] == ["✓✗", "✗", "1", "of", "3"]
    assert "expected a workbook" in lines[3]
    assert len({line.index(mark) for line, mark in zip(lines[5:7], "✓2", strict=True)}) == 1  # one column
    assert [line.split() for line in lines[6:]] == [
        ["join-fragments", "2", "0", "0"],
        ["keyed", "1", "1", "0"],
        ["count", "1", "1", "0"],
    ]

    assert main(["progress", "--json", *map(str, folders)]) == 0
    ada, bob, eve = json.loads(capsys.readouterr().out)
    assert (ada["passing"], bob["passing"], eve["exercises"]) == (3, 1, [])
    assert bob["exercises"][1] == {
        "chapter": 1,
        "name": "keyed",
        "title": "One buffer an index",
        "state": "not right yet",
        "remark": "",
    }
    assert "expected a workbook" in eve["problem"]
