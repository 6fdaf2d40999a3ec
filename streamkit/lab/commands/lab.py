"""streamkit lab: the course in JupyterLab, in a workbook of the learner's own."""

import argparse
import os
from pathlib import Path

from streamkit.lab.paths import BOOK, ROOT, WORKBOOK
from streamkit.lab.problem import Problem

# Nothing leaves the machine: no news, no search for updates or extensions. Ctrl-C stops without a question.
QUIET = [
    "--LabApp.news_url=",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--LabApp.extension_manager=readonly",
    "--ServerApp.answer_yes=True",
]
SETTINGS = Path(__file__).parents[1] / "jupyter"  # the front end's own defaults: it does not ask for news either


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command; all others are JupyterLab's."""
    parser.epilog = "Every other option is handed to jupyter lab, as in: streamkit lab --no-browser --port=9000"
    parser.add_argument(
        "--renew",
        action="store_true",
        help="take newer chapters: your files move to workbook/older/, your exercise cells move over",
    )
    parser.set_defaults(rest=[])


def run(args: argparse.Namespace) -> int:
    """Make the workbook, say what is new, and open JupyterLab on it until it is stopped."""
    prepare(args.renew)
    from jupyterlab.labapp import LabApp

    paths = [str(SETTINGS), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, paths))
    print("streamkit: stop with Ctrl-C", flush=True)
    return LabApp.launch_instance(options(args.rest)) or 0


def prepare(renew: bool) -> None:
    """The workbook as it must stand before it is opened; says what it did."""
    from streamkit.lab import workbook

    if not BOOK.is_dir():
        raise Problem(
            f"expected the book's notebooks in {BOOK}, found no such folder. "
            "Run this in a clone of streamkit, or name the clone in STREAMKIT_HOME"
        )
    made = workbook.make()
    if made.copied:
        print(f"streamkit: copied {len(made.copied)} chapters to {WORKBOOK}, which is yours", flush=True)
    if made.older and renew:
        for name, older in workbook.renew(made.older):
            print(
                f"streamkit: {name} is the newer one now, with your exercise cells; yours lies in {older}", flush=True
            )
    elif made.older:
        print(
            f"streamkit: the book has newer editions of {', '.join(made.older)}. Yours are left as they are. "
            "To take the newer ones: python3 kit.py lab --renew",
            flush=True,
        )


def options(rest: list[str]) -> list[str]:
    """JupyterLab's options: ours, and those of the command line, which win."""
    ours = [
        f"--ServerApp.root_dir={ROOT}",
        f"--LabApp.default_url=/lab/tree/{WORKBOOK.name}/{first_open().name}",
        *QUIET,
    ]
    named = {option.split("=")[0] for option in rest}
    return [option for option in ours if option.split("=")[0] not in named] + rest


def first_open() -> Path:
    """The first chapter with an exercise that has no kept piece; the first of all where every one has."""
    from streamkit.lab.exercises import registry
    from streamkit.lab.exercises.pieces import Pieces
    from streamkit.lab.fill import chapter, chapters_in

    files, pieces = chapters_in(WORKBOOK), Pieces(WORKBOOK)
    if not files:
        raise Problem(f"expected chapters in {BOOK}, found none")
    for path in files:
        number = chapter(path)
        exercises = registry.chapter(number) if number in registry.numbers() else ()
        if any(pieces.load(exercise.name) is None for exercise in exercises):
            return path
    return files[0]
