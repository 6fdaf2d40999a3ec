"""The learner's copy of the book: made from it with the outputs cleared, and never overwritten."""

import hashlib
import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from streamkit.lab.exercises.pieces import RECORD
from streamkit.lab.fill import chapters_in, fill, written
from streamkit.lab.paths import BOOK, WORKBOOK
from streamkit.lab.problem import Problem


class Made(NamedTuple):
    """What `make` did: files copied now, and files made from an older book, which it left alone."""

    copied: list[str]
    older: list[str]


def make(book: Path = BOOK, workbook: Path = WORKBOOK) -> Made:
    """Copy the chapters that are not in the workbook yet. Problem where that cannot be written."""
    made = Made([], [])
    try:
        workbook.mkdir(parents=True, exist_ok=True)
        record = _record(workbook)
        for source in chapters_in(book):
            target, edition = workbook / source.name, _edition(source)
            if not target.exists():
                _create(target, cleared(source))
                record[source.name] = edition
                made.copied.append(source.name)
            elif record.setdefault(source.name, edition) != edition:
                made.older.append(source.name)
        for beside in _beside(book):  # what the chapters refer to: the guide, the glossary
            if not (workbook / beside.name).exists():
                shutil.copyfile(beside, workbook / beside.name)
        _write(workbook / RECORD, json.dumps(record, indent=1, sort_keys=True) + "\n")
    except OSError as error:
        raise Problem(
            f"the workbook cannot be written: {error.strerror or error}: {error.filename or workbook}"
        ) from None
    return made


def renew(names: Iterable[str], book: Path = BOOK, workbook: Path = WORKBOOK) -> list[tuple[str, str]]:
    """Take chapters of a newer book: the learner's file moves to `older/`, and its exercise cells go into the new one.

    Returns pairs of the chapter and where its older copy lies now. Problem where the learner's file is no notebook.
    """
    import nbformat

    record, moved = _record(workbook), []
    for name in names:
        source, target = book / name, workbook / name
        texts = written(target)
        aside = _free(workbook / "older" / name)
        aside.parent.mkdir(exist_ok=True)
        os.replace(target, aside)
        filled = fill(nbformat.reads(cleared(source), as_version=4), texts)
        _write(target, nbformat.writes(filled) + "\n")
        record[name] = _edition(source)
        moved.append((name, str(aside.relative_to(workbook))))
    _write(workbook / RECORD, json.dumps(record, indent=1, sort_keys=True) + "\n")
    return moved


def cleared(path: Path) -> str:
    """A notebook without outputs and counts: stored outputs would answer every question before it is asked."""
    book = json.loads(path.read_text("utf-8"))
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    book["metadata"].pop("widgets", None)
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


def older(name: str, book: Path = BOOK, workbook: Path = WORKBOOK) -> bool:
    """Was this chapter of the workbook made from an older book?"""
    made_from = _record(workbook).get(name)
    return made_from is not None and (book / name).is_file() and made_from != _edition(book / name)


def _beside(book: Path) -> list[Path]:
    return sorted(path for path in book.glob("*.md") if path.is_file())


def _record(workbook: Path) -> dict[str, str]:
    try:
        record = json.loads((workbook / RECORD).read_text("utf-8"))
        return record if isinstance(record, dict) else {}
    except (OSError, ValueError):
        return {}


def _edition(path: Path) -> str:
    """What a chapter says, whatever its outputs: a re-run book is no newer book."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    said = json.dumps([[cell["cell_type"], "".join(cell["source"])] for cell in cells])
    return hashlib.sha256(said.encode()).hexdigest()


def _free(path: Path) -> Path:
    """The path, or its first numbered neighbour that does not exist."""
    names = [path, *(path.with_stem(f"{path.stem}-{number}") for number in range(2, 1000))]
    return next(name for name in names if not name.exists())


def _create(path: Path, text: str) -> None:
    """Write a file that must not exist yet: two kernels may make the workbook at once."""
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        pass
    except OSError:  # a full disk: half a chapter must not pass for the learner's
        path.unlink(missing_ok=True)
        raise


def _write(path: Path, text: str) -> None:
    """Write whole or not at all."""
    new = path.with_name(path.name + ".new")
    new.write_text(text, "utf-8", newline="\n")
    os.replace(new, path)
