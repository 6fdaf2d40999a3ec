"""streamkit progress: which exercises pass, in one workbook or in a room of them."""

import argparse
import json
import sys
from pathlib import Path

from streamkit.lab.paths import WORKBOOK
from streamkit.lab.problem import Problem
from streamkit.preview import visible


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.description = "Show which exercises pass. Every piece is run again: it is code of those who wrote it, and it runs with your rights."
    parser.add_argument(
        "workbooks",
        nargs="*",
        type=Path,
        metavar="DIR",
        help="workbooks, or folders that hold a workbook/ (default: your own)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON: a list of workbooks with their exercises")


def run(args: argparse.Namespace) -> int:
    """One workbook as a table of its exercises, several as an overview. Exit 2 where none could be read."""
    from tqdm import tqdm

    from streamkit.lab import progress

    folders = list(dict.fromkeys(args.workbooks)) or [WORKBOOK]
    with tqdm(total=len(folders), unit="workbook", file=sys.stderr, disable=None if len(folders) > 1 else True) as bar:
        found = progress.room(folders, bar.update)
    problems = [standing for standing in found.values() if isinstance(standing, Problem)]
    if len(problems) == len(found) and not args.json:
        raise problems[0]
    if args.json:
        print(
            json.dumps([_plain(folder, standing) for folder, standing in found.items()], indent=1, ensure_ascii=False)
        )
    else:
        print(visible(progress.table(found[folders[0]]) if len(folders) == 1 else progress.overview(found)))
    return 2 if len(problems) == len(found) else 0


def _plain(folder: Path, found) -> dict:
    from streamkit.lab.exercises.report import WORDS

    if isinstance(found, Problem):
        return {"workbook": str(folder), "problem": str(found), "exercises": []}
    rows = [
        {"chapter": s.chapter, "name": s.name, "title": s.title, "state": WORDS[s.sign], "remark": s.remark}
        for s in found
    ]
    return {"workbook": str(folder), "passing": sum(s.sign == "✓" for s in found), "exercises": rows}
