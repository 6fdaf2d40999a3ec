"""`streamkit gaps PATH…`: first parse against completion, over captures, folders of them or a table of one's own."""

import csv
from collections import Counter

from tqdm import tqdm

from ...wire import APIS
from ..latency import COLUMNS
from ..problem import Problem
from ..sources import dask_map, files_of, measured
from ..summary import CONFIDENCE, RESAMPLES, Summary, printed
from ..tables import REPAIRS, required_fields


def arguments(parser) -> None:
    parser.add_argument(
        "paths", nargs="+", metavar="PATH", help="captures, folders, CSV tables, or bare .sse with --api"
    )
    parser.add_argument("--csv", metavar="OUT", help="write a row a call to this file")
    parser.add_argument("--by", choices=("api", "model", "tool", "scenario"), help="a line for each")
    parser.add_argument(
        "--boundary", choices=("call", "turn"), default="call", help="what completion means (default: call)"
    )
    parser.add_argument(
        "--tools", metavar="SCHEMAS.json", help="tools with their schemas, for the required fields of a table"
    )
    parser.add_argument("--api", choices=APIS, help="the API that bare streams speak; they have no times")
    parser.add_argument("--engine", choices=("plain", "dask"), default="plain", help="dask: many files, many processes")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="a running Dask scheduler, for --engine dask")
    parser.add_argument(
        "--workers", type=int, default=2, help="processes of --engine dask without a scheduler (default: 2)"
    )


def run(args) -> int:
    files = files_of(args.paths, args.api)
    required = required_fields(args.tools)
    engine = dask_map(args.scheduler, args.workers) if args.engine == "dask" else None
    summary, repairs, broken_off = Summary(args.by), Counter(), False
    out = _open(args.csv)
    writer = csv.DictWriter(out, COLUMNS, restval="", extrasaction="ignore") if out else None
    if writer:
        writer.writeheader()
    total = sum(path.stat().st_size for path in files)
    with tqdm(total=total, unit="B", unit_scale=True, disable=None, leave=False) as bar:
        try:
            for row in measured(files, args.boundary, args.api, required, repairs, bar.update, engine):
                summary.add(row)
                if writer:
                    writer.writerow(row)
        except KeyboardInterrupt:
            broken_off = True
        finally:
            if out:
                out.close()
    if not summary.calls:
        raise Problem("no call was found; streams with tool calls were expected")
    print(report(summary, repairs))
    if broken_off:
        print(f"Broken off: these are the {summary.calls['all']} calls measured until then.")
    return 130 if broken_off else 0


def report(summary: Summary, repairs: Counter) -> str:
    """The table with the sentences that say what it shows."""
    lines = [
        "Gap: from the moment all required fields had closed (stable) to the completion of the call, in milliseconds.",
        printed(summary.table()),
        f"low and high: {CONFIDENCE:.0%} bootstrap interval of the median ({RESAMPLES} resamples). "
        "begun p50: the same gap from the moment they had all started. one read: both came in the same read.",
    ]
    if summary.stand_in:
        lines.append(f"{summary.stand_in} calls had no completion time: their last fragment stands in for it.")
    if summary.derived:
        lines.append(f"{summary.derived} calls are of captures with derived completion events.")
    lines += [f"{count} {REPAIRS[kind]}." for kind, count in repairs.items()]
    return "\n".join(lines)


def _open(path: str | None):
    if path is None:
        return None
    try:
        return open(path, "w", encoding="utf-8", newline="")
    except OSError as error:
        raise Problem(f"{path}: cannot be written: {error.strerror}") from None
