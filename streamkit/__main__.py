"""The command line: one word, one module of `lab` with `arguments(parser)` and `run(args) -> exit status`."""

import argparse
import importlib
import os
import sys

from streamkit.lab.problem import Problem
from streamkit.lab.quick import quick

COMMANDS = {
    "lab": "open the course in JupyterLab, in a workbook of your own",
    "doctor": "say what works on this machine, and what to type where something does not",
    "cases": "run conformance cases, or a corpus of them, through the package and say which differ",
    "record": "record a stream of your provider's, with its arrival times",
    "show": "print the turn of a capture for people",
    "replay": "serve captures over loopback HTTP with their own timing",
    "gaps": "measure first parse against completion over captures or a table of your own",
    "progress": "show which exercises pass in a workbook",
    "fill": "write solved copies of the book, for a teacher",
    "refresh": "run the book again and store its outputs",
}


def main(argv=None) -> int:
    """Run one command; 0 is success, 1 a check that failed, 2 bad input (one line on stderr)."""
    quick()
    parser = argparse.ArgumentParser(
        prog="streamkit", description="Streamed tool calls: record, show, replay, measure, check."
    )
    words = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    argv = sys.argv[1:] if argv is None else argv
    for name, purpose in COMMANDS.items():
        sub = words.add_parser(name, help=purpose, description=purpose.capitalize() + ".")
        if name == next((word for word in argv if not word.startswith("-")), None):
            command = importlib.import_module(f"streamkit.lab.commands.{name}")
            command.arguments(sub)
            sub.set_defaults(run=command.run)
    args, rest = parser.parse_known_args(argv)
    if rest and not hasattr(args, "rest"):  # one command hands options on: lab
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    args.rest = rest
    try:
        return args.run(args)
    except BrokenPipeError:  # `streamkit show … | head`: the reader left, which is no fault
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    except Problem as error:
        print(f"streamkit {args.command}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
