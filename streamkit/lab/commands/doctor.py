"""streamkit doctor: what works here, what does not, and what to type."""

import argparse
import sys

from streamkit.lab import doctor


def arguments(parser: argparse.ArgumentParser) -> None:
    """The command has no options."""
    parser.epilog = "Exit status: 0, or 1 where something is missing that the course needs."


def run(args: argparse.Namespace) -> int:
    """Look at everything and print it; nothing is changed, and nothing leaves the machine."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal without ✓ still gets the word beside it
    found = list(doctor.findings())
    print(doctor.report(found))
    return 1 if any(one.verdict == doctor.MISSING for one in found) else 0
