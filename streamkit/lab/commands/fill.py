"""streamkit fill: solved copies of the book, for a teacher."""

import argparse
from pathlib import Path

from streamkit.lab.commands.refresh import chosen
from streamkit.lab.problem import Problem


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument(
        "chapters", nargs="*", metavar="CHAPTER", help="a file, or how its name begins (default: all of the book)"
    )
    parser.add_argument(
        "--to",
        type=Path,
        default=Path("solved"),
        metavar="DIR",
        help="where to write (default: solved); nothing there is overwritten",
    )


def run(args: argparse.Namespace) -> int:
    """Write each chapter with the package's answers in its exercise cells and the outputs of the finished book."""
    import nbformat

    from streamkit.lab.exercises.registry import answers
    from streamkit.lab.fill import fill
    from streamkit.lab.refresh import text

    paths = chosen(args.chapters)
    if there := [path.name for path in paths if (args.to / path.name).exists()]:
        raise Problem(
            f"{args.to} already holds {', '.join(there)}, and nothing is overwritten. Name another folder with --to"
        )
    for path in paths:
        try:
            args.to.mkdir(parents=True, exist_ok=True)
            (args.to / path.name).write_text(
                text(fill(nbformat.read(path, as_version=4), answers())), "utf-8", newline="\n"
            )
        except OSError as error:
            raise Problem(f"cannot write {args.to / path.name}: {error.strerror}") from None
        print(args.to / path.name)
    return 0
