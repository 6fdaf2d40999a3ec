"""Every benchmark with its peers, and the page of their results: python -m benchmarks   (extra `bench`; about half an hour)

    python -m benchmarks                 all of them, to benchmarks/RESULTS.md
    python -m benchmarks sse pipeline    these, printed

Run it on a machine that does nothing else. Each script can be run alone and says in its first lines what it compares.
"""

import argparse
import datetime
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.side_by_side import about

HERE = Path(__file__).resolve().parent
SCRIPTS = {  # script → its options
    "sse": (),
    "accumulate": (),
    "pipeline": (),
    "display": (),
    "first_parse": (),
    "ledger_torture": ("--rounds", "500"),
}


def result(name: str) -> str:
    """One script's section: its first line as the heading, and what it printed."""
    script = HERE / f"{name}.py"
    title = script.read_text("utf-8").split("\n")[0].strip('"').rstrip(".:")
    done = subprocess.run(
        [sys.executable, str(script), *SCRIPTS[name]], capture_output=True, text=True, encoding="utf-8"
    )
    if done.returncode:
        raise SystemExit(f"{script.name} stopped with {done.returncode}:\n{done.stderr[-2000:]}")
    options = " ".join(("", *SCRIPTS[name]))
    return f"## {title}\n\n`python benchmarks/{name}.py{options}`\n\n{done.stdout.strip()}\n"


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.split("\n")[0])
    options.add_argument("names", nargs="*", choices=[*SCRIPTS, []], help="only these, printed")
    names = options.parse_args().names
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    head = (
        "# Results\n\nMade by `python -m benchmarks`. A ratio above 1 says how many times as long the other one takes; in brackets are "
        "the least and the most of the rounds.\n\n"
        f"{datetime.date.today():%d %B %Y}. {about()}. Load before the first script: {load}.\n"
    )
    pages = [head]
    for name in names or SCRIPTS:
        print(f"{name} …", file=sys.stderr, flush=True)
        pages.append(result(name))
    page = "\n".join(pages)
    if names:
        print(page)
    else:
        (HERE / "RESULTS.md").write_text(page, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
