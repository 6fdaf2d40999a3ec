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

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))  # the scripts import each other by name

from conformance import read_rows, table  # noqa: E402
from side_by_side import about  # noqa: E402

from streamkit.lab.cases import read_cases  # noqa: E402
from streamkit.lab.paths import CASES  # noqa: E402

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


def conformance() -> str:
    """The section of the published libraries, from the stored rows: measuring them again takes the extra `peers`."""
    rows = read_rows(CASES / "peers.csv")
    return (
        "## The conformance cases through published libraries\n\n"
        "`python benchmarks/conformance.py` (extra `peers`) measured [data/cases/peers.csv](../data/cases/peers.csv) and states the "
        "rule. The package's own parts pass all 74: `streamkit cases data/cases`.\n\n"
        f"{table(rows, list(read_cases(CASES)))}\n"
    )


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.split("\n")[0])
    options.add_argument("names", nargs="*", metavar="NAME", help=f"only these, printed: {', '.join(SCRIPTS)}")
    names = options.parse_args().names
    if unknown := set(names) - set(SCRIPTS):
        options.error(f"expected names out of {', '.join(SCRIPTS)}; got {', '.join(sorted(unknown))}")
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    head = (
        "# Results\n\nMade by `python -m benchmarks`. A ratio above 1 says how many times as long the other one takes; in brackets are "
        "the least and the most of the rounds.\n\n"
        "Hostile input has pages of its own: [fuzzing](results/fuzz.md), [limits](results/limits.md), [soak](results/soak.md).\n\n"
        f"{datetime.date.today():%d %B %Y}. {about()}. Load before the first script: {load}.\n"
    )
    pages = [head]
    for name in names or SCRIPTS:
        print(f"{name} …", file=sys.stderr, flush=True)
        pages.append(result(name))
    page = "\n".join(pages if names else [*pages, conformance()])
    if names:
        print(page)
    else:
        (HERE / "RESULTS.md").write_text(page, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
