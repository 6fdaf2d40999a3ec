"""Where the kit's files lie."""

import os
from collections.abc import Iterable
from pathlib import Path

from streamkit.lab.problem import Problem

ROOT = Path(os.environ.get("STREAMKIT_HOME") or Path(__file__).resolve().parents[2])
DATA = ROOT / "data"
CAPTURES = DATA / "captures"
CASES = DATA / "cases"
BOOK = ROOT / "notebooks"
WORKBOOK = ROOT / "workbook"


def inside(folder: Path, found: Iterable[Path]) -> list[Path]:
    """The files found in a folder. Raises Problem for a link among them that leads out of it.

    A folder that came from elsewhere must not have files read that its sender chose and did not send.
    """
    files, home = list(found), folder.resolve()
    for path in files:
        if not path.resolve().is_relative_to(home):
            raise Problem(f"{path}: a link that leads out of {folder}; to read what it leads to, name that itself")
    return files
