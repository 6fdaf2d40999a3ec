"""First parse against completion: one row a call.

*begun*: all required fields have started, the first moment at which a tolerant parser gives an object with all of them.
*stable*: all required fields are closed. *completed*: the completion event, or the turn's finish where the API has none.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import accumulate

from ..events import Call, TurnFinished
from ..turn import turn_of
from .captures import Capture
from .offsets import Field, fields_of, moment, offsets

TIMES = (  # what a stream without times does not have
    "announced",
    "first_fragment",
    "begun",
    "stable",
    "completed",
    "turn_finished",
    "gap_begun",
    "gap_stable",
    "same_read",
)
COLUMNS = [
    *("capture", "api", "model", "scenario", "index", "tool", "outcome", "fragments", "characters"),
    *TIMES,
    *("changed", "how", "changed_after_stable", "boundary", "derived"),
]


def rows_of(capture: Capture, boundary: str = "call") -> Iterator[dict]:
    """A row a client call of one capture. `boundary`: "call" or "turn", what completion means (design: two boundaries)."""
    events = capture.events()
    turn = turn_of(events, capture.tools or None)
    finished = max((event.at for event in events if isinstance(event, TurnFinished)), default=None)
    required = {tool["name"]: set((tool.get("parameters") or {}).get("required") or ()) for tool in capture.tools}
    for call in turn.calls:
        if call.kind != "client":
            continue
        per_call = boundary == "call" and call.finished_at is not None
        completed = (call.finished_at if per_call else finished) if turn.verdict == "complete" else None
        row = {
            "capture": capture.name,
            "api": capture.api,
            "model": capture.header.get("model"),
            "scenario": capture.header.get("scenario"),
            "index": call.ordinal,
            "tool": call.name,
            "outcome": call.outcome,
            "announced": call.announced_at,
            "turn_finished": finished,
            "boundary": "call" if per_call else "turn",
            "derived": bool(capture.header.get("derived")),
        }
        yield row | measure(texts(call), times(call), required.get(call.name, set()), completed)


def texts(call: Call) -> list[str]:
    return [fragment.text for fragment in call.fragments]


def times(call: Call) -> list[float]:
    return [fragment.at for fragment in call.fragments]


def measure(fragments: list[str], at: list[float], required: set[str], completed: float | None) -> dict:
    """The figures of one call: times and gaps in seconds, None where there is none. Linear in the text."""
    text = "".join(fragments)
    ends = list(accumulate(map(len, fragments)))
    fields = fields_of(text)
    begun_after, stable_after = offsets(text, required, fields)
    begun, stable = moment(begun_after, ends, at), moment(stable_after, ends, at)
    how = changes(text, fields, required, _whole_fragment(begun_after, ends))
    later = changes(text, fields, required, _whole_fragment(stable_after, ends))
    return {
        "fragments": len(fragments),
        "characters": len(text),
        "first_fragment": at[0] if at else None,
        "begun": begun,
        "stable": stable,
        "completed": completed,
        "gap_begun": gap(begun, completed),
        "gap_stable": gap(stable, completed),
        "same_read": None if stable is None or completed is None else stable == completed,
        "changed": bool(how),
        "how": _named(how),
        "changed_after_stable": _named(later),
    }


def gap(earlier: float | None, later: float | None) -> float | None:
    """Seconds, to the microsecond that captures are written with."""
    return None if earlier is None or later is None else round(later - earlier, 6)


def _whole_fragment(offset: int | None, ends: list[int]) -> int | None:
    """What had arrived with the fragment that brought character `offset`: a client sees whole fragments."""
    return None if offset is None else ends[bisect_left(ends, offset)]


def _named(kinds: list[str]) -> str:
    return "" if not kinds else kinds[0] if len(kinds) == 1 else "several"


def changes(text: str, fields: list[Field], required: set[str], seen: int | None) -> list[str]:
    """How the arguments still changed after their first `seen` characters, each kind once.

    "value extended" and "escape resolved": a value that was open then; "key repeated", "optional field added": what
    began later. An open value that already is what it will be (a string whose quote is missing) has not changed.
    """
    kinds: dict[str, None] = {}
    if seen is None:
        return []
    known = {field.key for field in fields if field.begun <= seen}
    for field in fields:
        if field.begun > seen:
            kinds["key repeated" if field.key in known else "optional field added"] = None
            known.add(field.key)
        elif field.closed is None or field.closed > seen:
            kind = _still_open(text, field, seen)
            if kind:
                kinds[kind] = None
    return list(kinds)


def _still_open(text: str, field: Field, seen: int) -> str | None:
    """What became of a value that was open after `seen` characters."""
    first, end = text[field.start], field.closed or len(text)
    if first == '"':
        if seen >= end - 1:
            return None
        return "escape resolved" if _inside_escape(text, field.start + 1, seen) else "value extended"
    if first in "-0123456789":
        return "value extended" if seen < end - 1 else None
    return "value extended" if first in "{[" else None  # of a literal the first letter decides


def _inside_escape(text: str, start: int, seen: int) -> bool:
    """Whether position `seen` of a string that opened before `start` lies inside an escape or a surrogate pair."""
    slash = text.rfind("\\", max(start, seen - 11), seen)
    while slash > start and text[slash - 1] == "\\":
        slash -= 1
    at = max(slash, start)
    while at < seen:
        if text[at] != "\\":
            at += 1
            continue
        size = 6 if text[at + 1 : at + 2] == "u" else 2
        if size == 6 and text[at + 2 : at + 4].lower() in ("d8", "d9", "da", "db"):
            size = 12
        if at + size > seen:
            return True
        at += size
    return False


def gaps(captures: Iterable[Capture], boundary: str = "call"):
    """A tidy pandas DataFrame, a row a call, with the columns COLUMNS; times in seconds since the request was sent."""
    import pandas

    return pandas.DataFrame([row for capture in captures for row in rows_of(capture, boundary)], columns=list(COLUMNS))
