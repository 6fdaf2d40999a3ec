"""Who keys rightly on which streams: chapter 2's measurement, as data and as a picture.

A client is a class with `add(event)` and `calls`, as in naive_keys.py.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from .captures import Capture, find_captures, read_capture
from .cases import events_of, read_cases, reads_of
from .chart import Chart, axes, styled
from .interleave import interleaved
from .naive_keys import arguments, held
from .paths import CASES

RECORDED, MADE, SYNTHETIC = "recorded", "made", "synthetic"
# kind of stream → the case that shows it; the cases are synthetic, after what users of public projects reported
BENT = {
    "index from 1": "006-index-starts-at-one",
    "index missing": "001-missing-index-parallel",
    "index null": "001-missing-index-parallel",
    "index reused": "003-all-index-zero-distinct-ids",
    "id changes": "008-id-changes-mid-call",
    "id twice": "011-same-id-two-calls",
    "name repeated": "015-name-repeated-every-chunk",
    "name in pieces": "016-name-split-in-fragments",
}


class Stream(NamedTuple):
    """The events of one stream, and the calls in it as (name, arguments), the text where it does not parse."""

    origin: str  # recorded, made or synthetic
    name: str
    events: list
    calls: list[tuple[str, Any]]


def recorded_captures() -> Iterator[Capture]:
    """The captures as they were recorded: without those that were derived from others."""
    return (capture for capture in map(read_capture, find_captures()) if not capture.header.get("derived"))


def recorded_stream(capture: Capture, origin: str = RECORDED) -> Stream:
    """A capture as a stream. The calls are those of its turn."""
    calls = [(call.name, arguments(call.text)) for call in capture.turn().calls]
    return Stream(origin, capture.name, capture.events(), calls)


def bent_stream(kind: str) -> Stream:
    """The synthetic case of data/cases that shows one kind of BENT."""
    name = BENT[kind]
    (case,) = read_cases(CASES / f"{name}.json")
    if kind == "index null":  # the same case, edited: where the index was left out it is null
        name += ", edited"
        case["chunks"] = [chunk.replace('{"id":"call_', '{"index":null,"id":"call_') for chunk in case["chunks"]]
    calls = [(call["name"], call.get("arguments", call.get("raw"))) for call in case["expected"]["calls"]]
    return Stream(SYNTHETIC, name, events_of(case["api"], reads_of(case), case["ends"]), calls)


def streams_by_kind(captures: Iterable[Capture]) -> dict[str, list[Stream]]:
    """Streams of every kind that a key must stand: recorded ones whose calls are whole, made ones, and synthetic cases."""
    kinds: dict[str, list[Stream]] = {"one call": [], "two tools": [], "one tool twice": [], "interleaved": []}
    for capture in captures:
        stream = recorded_stream(capture)
        names = [name for name, whole in stream.calls if isinstance(whole, dict)]
        if len(names) < len(stream.calls):
            continue  # cut off inside a call: its text is no document, whoever holds it
        if len(names) == 1:
            kinds["one call"].append(stream)
        elif len(names) > 1:
            kinds["two tools" if len(set(names)) == len(names) else "one tool twice"].append(stream)
            kinds["interleaved"].append(recorded_stream(interleaved(capture), MADE)._replace(calls=stream.calls))
    return {kind: streams for kind, streams in kinds.items() if streams} | {kind: [bent_stream(kind)] for kind in BENT}


def scores(clients: Mapping[str, Callable], kinds: Mapping[str, list[Stream]]) -> dict[str, dict[str, tuple[int, int]]]:
    """Client → kind of stream → (how many it got right, how many there are). The order of the calls does not count."""
    return {
        name: {
            kind: (sum(right(client, stream) for stream in streams), len(streams)) for kind, streams in kinds.items()
        }
        for name, client in clients.items()
    }


def right(client: Callable, stream: Stream) -> bool:
    """Does the client hold the calls of this stream, and nothing else?"""
    found = held(client, stream.events)
    return found is not None and sorted(map(repr, found)) == sorted(map(repr, stream.calls))


def score_chart(table: Mapping[str, Mapping[str, tuple[int, int]]], kinds: Mapping[str, list[Stream]]) -> Chart:
    """A grid: a client a row, a kind of stream a column. White: all right; hatched: some or all wrong. Data: the table."""
    clients, columns = list(table), list(kinds)
    with styled():
        figure, ax = axes(10.0, 0.42 * len(clients) + 1.9)
        for y, client in enumerate(clients):
            for x, kind in enumerate(columns):
                good, count = table[client][kind]
                fault = good < count
                look = {"facecolor": "0.88" if fault else "white", "hatch": "////" if fault else "", "edgecolor": "0.6"}
                ax.add_patch(_cell(x, y, look))
                words = f"{good}/{count}" if count > 1 else "wrong" if fault else "right"
                box = {"facecolor": "white", "edgecolor": "none", "pad": 1.2} if fault else None
                ax.text(x, y, words, ha="center", va="center", fontsize=9, weight="bold" if fault else None, bbox=box)
        ax.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(clients) - 0.5, -0.5))
        ax.set_xticks(range(len(columns)), [f"{k}\n({kinds[k][0].origin})" for k in columns], rotation=40, ha="left")
        ax.set_yticks(range(len(clients)), clients)
        ax.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False, length=0)
        ax.grid(False)
        for spine in ax.spines.values():
            spine.set_visible(False)
    said = "; ".join(
        f"{client}: wrong on {', '.join(k for k in columns if table[client][k][0] < table[client][k][1]) or 'nothing'}"
        for client in clients
    )
    return Chart(figure, table, f"Which client gets which kind of stream right. {said}.")


def _cell(x: int, y: int, look: dict):
    from matplotlib.patches import Rectangle

    return Rectangle((x - 0.5, y - 0.5), 1, 1, **look)
