"""`streamkit gaps PATH…`: first parse against completion, over captures, folders of them or a table of one's own."""

import csv
from collections import Counter

from tqdm import tqdm

from ...wire import APIS
from ..latency import COLUMNS
from ..player_words import many
from ..problem import Problem
from ..sources import dask_map, files_of, measured
from ..summary import CONFIDENCE, RESAMPLES, Summary, printed
from ..tables import REPAIRS, required_fields

FULL = "Gap: from the moment all required fields had closed (stable) to the completion of the call, in milliseconds."
BARE = (
    "Gap: from the first character of the arguments to the completion of the call, in milliseconds.\n"
    "No schemas were given, so no required fields are known, and stable is the object's first character: "
    "--tools SCHEMAS.json names them."
)
MINUTE = 60_000  # milliseconds: a longer median gap is most likely a table in another unit


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
        print(f"Broken off: measured until then: {many(summary.calls['all'], 'call')}.")
    return 130 if broken_off else 0


def report(summary: Summary, repairs: Counter) -> str:
    """The table with the sentences that say what it shows."""
    table, calls = summary.table(), summary.calls["all"]
    repairs = repairs.copy()
    bare = repairs["no schemas"] == calls and repairs.pop("no schemas")  # said once, above the table
    lines = [
        BARE if bare else FULL,
        printed(table),
        f"low and high: {CONFIDENCE:.0%} bootstrap interval of the median ({RESAMPLES} resamples). "
        "begun p50: the same gap from the moment they had all started. one read: both came in the same read.",
    ]
    if summary.stand_in:
        lines.append(f"{many(summary.stand_in, 'call')} without a completion time: the last fragment stands in for it.")
    if summary.derived:
        lines.append(f"{many(summary.derived, 'call')} of captures with derived completion events.")
    lines += [f"{many(count, 'call')} {REPAIRS[kind]}." for kind, count in repairs.items() if count]
    if (table[-1]["p50"] or 0) > MINUTE:
        lines.append("The median gap is longer than a minute. Are these times milliseconds? They were read as seconds.")
    return "\n".join(lines)


def _open(path: str | None):
    if path is None:
        return None
    try:
        return open(path, "w", encoding="utf-8", newline="")
    except OSError as error:
        raise Problem(f"{path}: cannot be written: {error.strerror}") from None
