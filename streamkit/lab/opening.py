"""The first cell of every chapter."""

import sys
from pathlib import Path
from urllib.parse import quote

from streamkit.lab import workbook
from streamkit.lab.exercises import registry, verbs
from streamkit.lab.exercises.cells import SESSION
from streamkit.lab.exercises.pieces import RECORD, judged
from streamkit.lab.fill import chapter, chapters_in
from streamkit.lab.paths import BOOK, WORKBOOK
from streamkit.lab.problem import Problem
from streamkit.lab.quick import quick

READY = "streamkit is ready. check, hint, reveal and use take the name of an exercise."


def start(number: int, renew: bool = False) -> None:
    """Follow the exercise cells of chapter `number`, and see to it that the learner works in a workbook.

    Opened in the book itself it makes the workbook and links to it. `renew` takes a newer edition of the chapter: the
    learner's file moves aside, and the exercise cells move over.
    """
    quick()
    SESSION.listen(getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)())
    registry.begin(number)
    here = verbs.HERE
    if judged():
        print(READY)
    elif here.name == BOOK.name and not (here / RECORD).exists():
        _send_on(number, here, here.parent / WORKBOOK.name)
    else:
        print(READY)
        _newer(number, here.parent / BOOK.name, here, renew)


def _file(number: int, folder: Path) -> str:
    return next((path.name for path in chapters_in(folder) if chapter(path) == number), "")


def _send_on(number: int, book: Path, folder: Path) -> None:
    """In the book: make the workbook and link to the chapter in it."""
    try:
        workbook.make(book, folder)
    except Problem as error:
        print(f"You are in the book itself. Checks work here and nothing is kept, since {error}.")
        return
    from IPython.display import Markdown, display

    where = quote(f"{folder.name}/{_file(number, book)}")  # a name of a file is no Markdown
    said = f"Your own copy is [{where}](../{where}): **open it and work there.**"
    display(Markdown(f"This is the book itself, where nothing is kept. {said}"))


def _newer(number: int, book: Path, folder: Path, renew: bool) -> None:
    """In a workbook: say that the book has a newer edition of the chapter, or take it."""
    name = _file(number, book)
    if not name or not workbook.older(name, book, folder):
        return
    if not renew:
        print("The book has a newer edition of this chapter; yours is left as it is.")
        print(f"To take the newer one: start({number}, renew=True)")
        return
    try:
        [(_, aside)] = workbook.renew([name], book, folder)
    except (Problem, OSError) as error:
        print(f"The newer edition was not taken: {error}")
    else:
        print(f"The newer edition is in place, with your exercise cells; yours lies in {aside}.")
        print("Now choose File, Reload Notebook from Disk.")
