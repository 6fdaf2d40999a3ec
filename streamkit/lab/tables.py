"""A table of one's own (CSV, a row a fragment) → the rows of latency.py. Who has production logs need not record again.

Columns: `call` (any key that tells calls apart), `tool`, `at` (seconds), `fragment` (the argument delta's text), and
optionally `completed` (seconds, on any row of the call). Without `completed` the last fragment stands in, and the row's
`boundary` says so. What was mended or left out is counted in Repairs, to be said.
"""

import csv
import json
import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from .latency import measure
from .problem import Problem

NEEDED = ("call", "tool", "at", "fragment")
REPAIRS = {  # what to say of so many calls
    "unsorted": "whose rows were not in the order of their times: sorted by time",
    "no time": "with a fragment without a time: left out",
    "negative": "completed before the arguments had parsed: left out of the gaps (two clocks?)",
    "no schemas": "of a table without --tools SCHEMAS.json: no required fields known, stable is the object's first character",
    "no tool": "of a tool that the schemas do not name: no required fields known, stable is the object's first character",
}
SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}
TICK = 2**18  # bytes between two words about progress
csv.field_size_limit(2**31 - 1)


class Held:
    """One call of a table while its rows come."""

    __slots__ = ("at", "completed", "fragments", "tool")

    def __init__(self, tool: str):
        self.tool, self.fragments, self.at, self.completed = tool, [], array("d"), None


def rows_of_table(
    path: Path, required: dict[str, set[str]], repairs: Counter, tick: Callable[[int], object]
) -> Iterator[dict]:
    """A row a call. `required`: the required fields of each tool, {} where no schemas are known; `tick` is told the bytes
    read. Calls may be mixed, so the table is read whole before the first row. Raises Problem."""
    held = _read(path, tick)
    if not held:
        raise Problem(f"{path}: rows were expected under the header, there are none")
    for name in list(held):
        call = held.pop(name)
        if any(math.isnan(moment) for moment in call.at):
            repairs["no time"] += 1
            continue
        if any(later < earlier for earlier, later in zip(call.at, call.at[1:], strict=False)):
            repairs["unsorted"] += 1
            order = sorted(range(len(call.at)), key=call.at.__getitem__)
            call.fragments, call.at = [call.fragments[i] for i in order], array("d", [call.at[i] for i in order])
        if call.tool not in required:
            repairs["no tool" if required else "no schemas"] += 1
        told = call.completed is not None
        completed = call.completed if told else call.at[-1]
        row = measure(call.fragments, call.at, required.get(call.tool, set()), completed)
        if row["gap_stable"] is not None and row["gap_stable"] < 0:
            repairs["negative"] += 1
            row |= {"gap_begun": None, "gap_stable": None, "same_read": None}
        yield {"capture": name, "tool": call.tool, "boundary": "call" if told else "last fragment"} | row


def _ticking(lines: Iterable[str], tick: Callable[[int], object]) -> Iterator[str]:
    read = 0
    for line in lines:
        yield line
        read += len(line.encode())
        if read > TICK:
            tick(read)
            read = 0
    tick(read)


def _read(path: Path, tick: Callable[[int], object]) -> dict[str, Held]:
    held: dict[str, Held] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(_ticking(lines, tick))
            if not reader.fieldnames:
                kind = "its first line is empty" if path.stat().st_size else "the file is empty"
                raise Problem(f"{path}: {kind}; a table begins with a line that names its columns: {','.join(NEEDED)}")
            lacking = [column for column in NEEDED if column not in reader.fieldnames]
            if lacking:
                for mark, name in SEPARATORS.items():
                    if set(NEEDED) <= set("".join(reader.fieldnames).replace('"', "").split(mark)):
                        raise Problem(f"{path}: commas were expected between the columns, this table has {name}")
                has = ", ".join(name if name.isprintable() else ascii(name) for name in reader.fieldnames)
                raise Problem(
                    f"{path}: the columns {', '.join(NEEDED)} were expected, {', '.join(lacking)} not there; "
                    f"it has {has[:200]}"
                )
            for row in reader:
                _take(row, held, f"{path}, line {reader.line_num}")
    except UnicodeDecodeError as error:
        raise Problem(f"{path}: UTF-8 was expected, byte {error.start} is none") from None
    except csv.Error as error:
        raise Problem(f"{path}: a CSV table was expected: {error}") from None
    return held


def _take(row: dict, held: dict[str, Held], where: str) -> None:
    if not row["call"]:
        raise Problem(f"{where}: a call was expected in the column `call`, it is empty")
    call = held.setdefault(row["call"], Held(row["tool"] or ""))
    if row["tool"] and row["tool"] != call.tool:
        raise Problem(
            f"{where}: call {row['call']!a:.60} is of tool {call.tool!a:.60} above and of {row['tool']!a:.60} here"
        )
    call.fragments.append(row["fragment"] or "")
    call.at.append(_seconds(row["at"], where))
    if not math.isnan(completed := _seconds(row.get("completed"), where)):
        call.completed = completed


def _seconds(text: str | None, where: str) -> float:
    try:
        value = float(text) if text and text.strip() else math.nan
    except ValueError:
        raise Problem(f"{where}: seconds were expected, {text!a:.60} came") from None
    return math.nan if math.isinf(value) else value


def required_fields(path: Path | str | None) -> dict[str, set[str]]:
    """Tool name → its required fields, from a JSON file of tools; {} without a file. Raises Problem."""
    if path is None:
        return {}
    try:
        tools = json.loads(Path(path).read_text("utf-8"))
        tools = [tool.get("function", tool) for tool in (tools["tools"] if isinstance(tools, dict) else tools)]
        schemas = {tool["name"]: tool.get("parameters") or tool.get("input_schema") or {} for tool in tools}
        return {name: set(schema.get("required") or ()) for name, schema in schemas.items()}
    except OSError as error:
        raise Problem(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Problem(
            f'{path}: a JSON list of tools was expected, each {{"name": …, "parameters": JSON Schema}}'
        ) from None
