"""The pieces that pass, kept beside the workbook so that later chapters can load them."""

import os
import re
import tempfile
from pathlib import Path

JUDGED = "STREAMKIT_JUDGED"  # set where the book is run by a test: then nothing is kept
RECORD = ".streamkit.json"  # a folder that holds this is a workbook
FOLDER = "pieces"
NAME = re.compile(r"[\w-]+")  # of a piece: a notebook says it, and it becomes a file's name


def judged() -> bool:
    """Is this kernel run by a test rather than by a learner?"""
    return bool(os.environ.get(JUDGED))


class Pieces:
    """The kept pieces of one workbook: `pieces/NAME.py`, each the text of a cell. Outside a workbook there are none."""

    def __init__(self, folder: Path):
        self.folder = Path(folder) / FOLDER if (Path(folder) / RECORD).is_file() else None

    def load(self, name: str) -> str | None:
        """The kept text of a piece, or None."""
        if self.folder is None or not NAME.fullmatch(name):
            return None
        try:
            return (self.folder / f"{name}.py").read_text("utf-8")
        except (OSError, ValueError):
            return None

    def keep(self, name: str, text: str) -> str | None:
        """Keep a piece that passes, whole or not at all; the file's name within the workbook, None where none is kept."""
        if self.folder is None or judged() or not NAME.fullmatch(name):
            return None
        try:
            self.folder.mkdir(exist_ok=True)
            handle, new = tempfile.mkstemp(dir=self.folder, prefix=".", suffix=".py")
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            os.replace(new, self.folder / f"{name}.py")
        except OSError:
            return None
        return f"{FOLDER}/{name}.py"
