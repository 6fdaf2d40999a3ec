"""The one function: a book with its exercise cells filled. Tests, `refresh` and solved copies all go through it."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from streamkit.lab.exercises.cells import name_of
from streamkit.lab.problem import Problem

if TYPE_CHECKING:  # every chapter's kernel loads this file, and nbformat takes a second
    from nbformat import NotebookNode

MARK = "streamkit"  # the key in a notebook's metadata that says it is one of ours: {"chapter": N, "minutes": M}


def fill(book: NotebookNode, answers: Mapping[str, str]) -> NotebookNode:
    """A copy of `book` in which every exercise cell named in `answers` holds that text; outputs and ids stay."""
    filled = copy.deepcopy(book)
    for cell in filled.cells:
        if cell.cell_type == "code" and (name := name_of(cell.source)) in answers:
            cell.source = answers[name]
    return filled


def written(path: Path) -> dict[str, str]:
    """The exercise cells of a notebook file by name; of two with one name the last.

    Read as plain JSON: outputs, ids, cells added, removed or moved do not matter. Problem where it is no notebook.
    """
    try:
        cells = json.loads(path.read_text("utf-8"))["cells"]
        texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise Problem(f"expected a notebook, found none that can be read ({type(error).__name__}): {path}") from None
    return {name: text for text in texts if (name := name_of(text)) is not None}


def chapter(path: Path) -> int | None:
    """The chapter number of one of our notebooks, None for any other file."""
    try:
        number = json.loads(path.read_text("utf-8"))["metadata"][MARK]["chapter"]
        return number if isinstance(number, int) else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def chapters_in(folder: Path) -> list[Path]:
    """Our notebooks in a folder, in the order of their names."""
    return [path for path in sorted(folder.glob("*.ipynb")) if chapter(path) is not None]
