"""Where a workbook stands, from its files alone: nothing that an earlier check printed or kept is taken on trust."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from streamkit.lab.exercises.pieces import Pieces
from streamkit.lab.exercises.record import Exercise
from streamkit.lab.exercises.registry import chapters
from streamkit.lab.exercises.report import WORDS
from streamkit.lab.exercises.state import state_of
from streamkit.lab.fill import chapter, written
from streamkit.lab.problem import Problem


class Standing(NamedTuple):
    """One exercise of one workbook. `remark` says what the sign alone does not."""

    chapter: int
    name: str
    title: str
    sign: str
    remark: str


def standings(folder: Path) -> list[Standing]:
    """Every exercise of the course as a workbook's files have it, each run again. Problem where there are no files.

    `folder` is the workbook, or holds it as `workbook/`, as a learner's copy of the project does.
    """
    files = _files(folder)
    if not files and (files := _files(folder / "workbook")):
        folder = folder / "workbook"
    if not files:
        raise Problem(
            f"expected a workbook, found no chapter of the course in {folder}. "
            "A workbook is made by: python3 kit.py lab"
        )
    pieces, texts, unreadable = Pieces(folder), {}, {}
    for number, path in files.items():
        try:
            texts |= written(path)
        except Problem as problem:
            unreadable[number] = str(problem)

    def mine(name: str) -> str | None:
        return texts.get(name) or pieces.load(name)

    def standing(number: int, exercise: Exercise) -> Standing:
        name, text, remark = exercise.name, texts.get(exercise.name), ""
        sign = "○" if text is None else state_of(exercise, text, mine).sign
        if text is None:
            remark = unreadable.get(number, "no such cell")
        if sign != "✓" and (kept := pieces.load(name)):
            if state_of(exercise, kept, mine).sign == "✓":
                sign, remark = "✓", "the kept piece; the cell as it stands does not pass"
            elif sign == "○":
                sign, remark = "✗", "the kept piece"
        return Standing(number, name, exercise.title, sign, remark)

    return [standing(number, exercise) for number, exercises in chapters().items() for exercise in exercises]


def _files(folder: Path) -> dict[int, Path]:
    """The chapters of the course in a folder, by their numbers."""
    return {number: path for path in sorted(folder.glob("*.ipynb")) if (number := chapter(path)) is not None}


def room(folders: Iterable[Path], done: Callable[[], None] = lambda: None) -> dict[Path, list[Standing] | Problem]:
    """The standings of many workbooks, or why there are none; `done` is called after each."""

    def one(folder: Path) -> list[Standing] | Problem:
        try:
            return standings(folder)
        except Problem as problem:
            return problem
        finally:
            done()

    folders = list(folders)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:  # each piece runs in a process of its own
        return dict(zip(folders, pool.map(one, folders), strict=True))


def table(found: list[Standing]) -> str:
    """One workbook, an exercise a line."""
    width = max((len(standing.name) for standing in found), default=0)
    lines, last = [], None
    for number, name, title, sign, remark in found:
        head = f"chapter {number}" if number != last else ""
        lines.append(f"{head:<11}{sign} {WORDS[sign]:<14} {name:<{width}}  {title}{f'  ({remark})' if remark else ''}")
        last = number
    passing = sum(standing.sign == "✓" for standing in found)
    return "\n".join([*lines, f"{passing} of {len(found)} exercises pass"])


def overview(found: dict[Path, list[Standing] | Problem]) -> str:
    """A room, a workbook a line, the exercises of each chapter as signs; last, how many pass each exercise."""
    numbers = list(chapters())
    columns = [max(len(exercises), len(str(number))) + 2 for number, exercises in chapters().items()]
    width = max([len(str(folder)) for folder in found] + [8])
    lines = [
        f"{'workbook':<{width}}  "
        + "".join(f"{number:<{column}}" for number, column in zip(numbers, columns, strict=True))
        + "pass"
    ]
    rows = {folder: standing for folder, standing in found.items() if not isinstance(standing, Problem)}
    for folder, standing in found.items():
        if isinstance(standing, Problem):
            lines.append(f"{folder!s:<{width}}  {standing}")
            continue
        signs = ["".join(s.sign for s in standing if s.chapter == number) for number in numbers]
        passing = f"{sum(s.sign == '✓' for s in standing)} of {len(standing)}"
        lines.append(
            f"{folder!s:<{width}}  "
            + "".join(f"{sign:<{column}}" for sign, column in zip(signs, columns, strict=True))
            + passing
        )
    if rows:
        width = max(len(standing.name) for standing in next(iter(rows.values())))
        lines += ["", f"{'exercise':<{width}}  ✓ passes  ✗ not right yet  ○ not started"]
        for same in zip(*rows.values(), strict=True):
            count = {sign: sum(s.sign == sign for s in same) for sign in WORDS}
            lines.append(f"{same[0].name:<{width}}  {count['✓']:<10}{count['✗']:<17}{count['○']}")
    return "\n".join(lines)
