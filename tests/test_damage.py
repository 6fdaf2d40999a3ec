"""What early dispatch would have run, what warming saves, and the figures of the stored table."""

import csv

import pytest

from streamkit.lab.captures import find_captures, read_capture
from streamkit.lab.damage import RIGHT, damage, saved, warming_chart
from streamkit.lab.latency import COLUMNS, gaps, rows_of
from streamkit.lab.lookup import Lookup
from streamkit.lab.paths import DATA


def test_the_stored_table_is_what_the_captures_give():
    """`streamkit gaps data/latency --csv data/latency.csv` makes it."""
    with (DATA / "latency.csv").open(newline="") as lines:
        stored = list(csv.DictReader(lines))
    assert list(stored[0]) == COLUMNS
    made = [row for path in find_captures(DATA / "latency") for row in rows_of(read_capture(path))]
    plain = [{name: "" if row[name] is None else str(row[name]) for name in COLUMNS} for row in made]
    assert stored == plain
    assert len(stored) >= 300


def test_every_call_is_counted_once():
    frame = gaps(read_capture(path) for path in find_captures(DATA / "captures"))
    for counts in damage(frame).values():
        assert sum(counts.values()) == len(frame) and counts[RIGHT] > 0


def test_warming_never_saves_more_than_the_gap_or_the_cost():
    assert saved([0.1, 0.5], 0.3) == [0.1, 0.3]
    data = warming_chart([0.1, 0.5, 0.9]).data
    assert data["warming"] == sorted(data["warming"]) and data["warming"][-1] == pytest.approx(data["early"])


def test_a_prepared_query_gives_the_same_answer():
    with Lookup(prepare=0.0) as service:
        assert service.ask("lamp") == service.ask("lamp", service.prepare("lamp")) == "answer to lamp"
