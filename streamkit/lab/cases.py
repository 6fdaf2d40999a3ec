"""The conformance cases and recorded streams, run through the package (data/cases/FORMAT.md says what a case is)."""

import base64
import json
import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from ..events import Turn
from ..turn import turn_of
from ..wire import APIS, reader
from .capture_lines import FORMAT
from .paths import inside
from .problem import Problem

STEP = 0.01  # seconds between two chunks of a case that gives no delays


def read_cases(*paths: Path | str) -> Iterator[dict]:
    """Every case under `paths`: case files (.json), corpora (.jsonl, a case a line), folders of them."""
    for path in map(Path, paths):
        if not path.exists():
            raise Problem(f"a case file, a corpus or a folder was expected, {path} does not exist")
        if path.is_dir():
            files = inside(path, sorted(p for p in path.iterdir() if p.suffix in (".json", ".jsonl")))
            if not files:
                raise Problem(f"case files (.json) or corpora (.jsonl) were expected in {path}, there are none")
            yield from read_cases(*files)
        elif path.suffix == ".jsonl":
            with path.open(encoding="utf-8", newline="\n") as lines:
                for number, line in enumerate(lines, 1):
                    if line.strip():
                        yield _case(line, f"{path}:{number}")
        else:
            yield _case(path.read_text("utf-8"), str(path))


def _case(text: str, where: str) -> dict:
    try:
        case = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Problem(f"{where}: a JSON object was expected: {error}") from None
    if isinstance(case, dict) and case.get("format") == FORMAT:
        raise Problem(f"{where}: a case was expected, this is a capture; `streamkit show` reads it")
    if not isinstance(case, dict) or case.get("api") not in APIS:
        api = case.get("api") if isinstance(case, dict) else type(case).__name__
        raise Problem(f"{where}: a case with an api of {', '.join(APIS)} was expected, {api!r} came")
    if not {"chunks", "reads_base64", "body", "body_base64"} & set(case):
        raise Problem(f"{where}: a case with chunks, reads_base64 or body was expected")
    return case


def reads_of(case: dict) -> list[tuple[float, bytes]]:
    """The network reads of a case, each (seconds, bytes)."""
    if "chunks" in case:
        chunks = [chunk.encode() for chunk in case["chunks"]]
    elif "reads_base64" in case:
        chunks = [base64.b64decode(chunk) for chunk in case["reads_base64"]]
    else:
        chunks = [case["body"].encode() if "body" in case else base64.b64decode(case["body_base64"])]
    at, reads = 0.0, []
    delays = case.get("delays_ms") or [STEP * 1000] * len(chunks)
    for delay, chunk in zip(delays, chunks, strict=False):
        at += delay / 1000
        reads.append((at, chunk))
    return reads


def recut(reads: list[tuple[float, bytes]], places: list[int]) -> list[tuple[float, bytes]]:
    """The same bytes, cut at `places` (offsets into the body) instead; each new read has the time its first byte had."""
    body, starts, offset = b"".join(data for _, data in reads), [], 0
    for at, data in reads:
        starts.append((offset, at))
        offset += len(data)
    edges = [0, *sorted({place for place in places if 0 < place < len(body)}), len(body)]
    new, mark = [], 0
    for start, stop in pairwise(edges):
        while mark + 1 < len(starts) and starts[mark + 1][0] <= start:
            mark += 1
        new.append((starts[mark][1] if starts else 0.0, body[start:stop]))
    return new


def cut_case(case: dict, cut: int = 0, bytewise: bool = False) -> list[tuple[float, bytes]]:
    """The reads of a case as asked for: as they are, at `cut` random places (the same each time), or byte by byte."""
    reads = reads_of(case)
    size = sum(len(data) for _, data in reads)
    if bytewise:
        return recut(reads, list(range(size)))
    if cut:
        chance = random.Random(case.get("name", ""))
        return recut(reads, [chance.randrange(size + 1) for _ in range(cut)])
    return reads


def events_of(api: str, reads: list[tuple[float, bytes]], ending: str) -> list:
    """All events of one response."""
    wire, events, at = reader(api), [], 0.0
    for at, data in reads:
        events += wire.feed(data, at)
    return events + wire.close(ending, at)


def turn_of_case(case: dict, reads=None) -> Turn:
    """The turn of a case, read with the offered tools where it names them."""
    reads = reads_of(case) if reads is None else reads
    return turn_of(events_of(case["api"], reads, case.get("ends", "clean")), case.get("tools"))


def observed(turn: Turn) -> dict:
    """What was made of a turn, in the words of the case format; a minted id is null."""
    calls = []
    for call in turn.calls:
        seen = {"id": None if call.minted else call.id, "name": call.name}
        if call.outcome in ("ready", "invalid") and isinstance(call.arguments, dict):
            seen["arguments"] = call.arguments
        else:
            seen["raw"] = call.text
        if call.item and not call.fragments:  # an item with typed fields instead of an arguments text
            seen.pop("arguments", None)
            seen.pop("raw", None)
        calls.append(seen | {"outcome": call.outcome, "kind": call.kind})
    return {"calls": calls, "text": turn.text, "turn": turn.verdict, "reason": turn.reason}


def canonical(value) -> str:
    """JSON text with sorted keys: in Python True == 1 and 1.0 == 1, in text they are not."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def difference(turn: Turn, expected: dict) -> str | None:
    """The first difference between a turn and what a case expects, in words; None where there is none."""
    seen = observed(turn)
    listed = any("kind" in call for call in expected["calls"])
    pairs = [(s, c) for s, c in zip(seen["calls"], turn.calls, strict=True) if listed or s["kind"] == "client"]
    if len(pairs) != len(expected["calls"]):
        names = [s["name"] for s, _ in pairs]
        return f"calls: {len(expected['calls'])} expected, {len(pairs)} came ({', '.join(names) or 'none'})"
    for number, ((got, call), want) in enumerate(zip(pairs, expected["calls"], strict=True)):
        for field in ("id", "name", "outcome", "kind", "arguments", "raw"):
            if field in want and canonical(got.get(field)) != canonical(want[field]):
                return f"call {number} {field}: {canonical(want[field])} expected, {canonical(got.get(field))} came"
        if "wire_index" in want and call.index != want["wire_index"]:
            return f"call {number} wire_index: {want['wire_index']} expected, {call.index} came"
    for field in ("text", "turn", "reason"):
        if seen[field] != expected[field]:
            return f"{field}: {canonical(expected[field])} expected, {canonical(seen[field])} came"
    order = [f"call:{block.call.id}" if block.kind == "call" else block.kind for block in turn.blocks]
    if "order" in expected and order != expected["order"]:
        return f"order: {expected['order']} expected, {order} came"
    return None


def judge(case: dict, cut: int = 0, bytewise: bool = False) -> str | None:
    """The first difference of a case or of its second attempt; None where it passes."""
    found = difference(turn_of_case(case, cut_case(case, cut, bytewise)), case["expected"])
    if found is None and "retry" in case:
        again = {"api": case["api"], "tools": case.get("tools"), "name": case["name"]} | case["retry"]
        found = difference(turn_of_case(again, cut_case(again, cut, bytewise)), again["expected"])
        return found and f"retry: {found}"
    return found
