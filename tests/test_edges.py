"""The measurements of benchmarks/limits.py and soak.py in small: what they expect holds, and they see where it does not."""

import importlib
import sys
import time
from collections import Counter
from dataclasses import replace

import pytest

from streamkit.lab.captures import load
from streamkit.lab.paths import ROOT
from streamkit.lab.replay import ReplayServer


@pytest.fixture(params=["limits", "soak"])
def script(request, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module(request.param)


limits = pytest.mark.parametrize("script", ["limits"], indirect=True)
soak = pytest.mark.parametrize("script", ["soak"], indirect=True)
SMALL = {"levels": 1_000, "digits": 200_000, "open calls": 200, "calls in one frame": 200, "accumulator": 2_000}


@limits
@pytest.mark.parametrize("word", SMALL)
def test_an_edge_that_does_not_depend_on_the_size_comes_out_as_stated(script, word):
    rows = [row for name, row in script.ROWS.items() if word in name]
    assert rows
    for function, _, expected, _ in rows:
        assert function(SMALL[word]) == expected


@limits
@pytest.mark.parametrize(("place", "name", "rows"), [
    ("streamkit.wire.sse", "LIMIT", ("one event of 100 MB", "the same, in one read", "one event of 100 MB in lines of two bytes", "one comment of 100 MB")),
    ("streamkit.wire.ndjson", "LIMIT", ("one line of 100 MB (Ollama)",)),
    ("streamkit.turn", "EVENTS", ("10,000,000 fragments off the wire",)),
    ("streamkit.wire.reader", "BODY", ("10,000,000 fragments off the wire",)),
])  # fmt: skip
def test_an_edge_is_where_its_limit_is(script, monkeypatch, place, name, rows):
    """Below it the answer is another one: the connection ended, and that is all."""
    monkeypatch.setattr(importlib.import_module(place), name, 100_000)
    for row in rows:
        function, _, expected, _ = script.ROWS[row]
        assert function(400_000) == expected and function(700) == "turn interrupted (eof_without_finish)"


@limits
def test_a_row_is_measured_in_a_process_of_its_own(script, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["limits", "levels in arguments"])
    assert script.main() == 0
    assert "| call unparseable (nested too deep) |" in capsys.readouterr().out
    for outcome, peak, status in (("call ready", 1.0, 1), ("call unparseable (nested too deep)", 31.0, 1)):
        monkeypatch.setattr(script, "measured", lambda name, part, said=(outcome, 0.0, peak): said)
        assert script.main() == status


@soak
def test_a_client_counts_what_came_whole_and_says_what_did_not(script, monkeypatch):
    monkeypatch.setattr(script.time, "sleep", lambda seconds: None)  # slow clients are for the soak itself
    capture = load("chat-plain-text")
    other = replace(capture, reads=[read._replace(data=read.data.replace(b"e", b"f")) for read in capture.reads])
    with ReplayServer([capture], speed=0) as server:
        for held, right in ((capture, True), (other, False)):
            seen, wrong = Counter(), []
            for seed in range(4):  # one request each; some leave in the middle
                script.client(server.port, {held.name: held}, time.monotonic() + 0.01, seed, seen, wrong)
            assert (bool(seen["whole"]), not wrong) == (right, right)
    seen, wrong = Counter(), []
    script.client(server.port, {capture.name: capture}, time.monotonic() + 0.01, 2, seen, wrong)
    assert wrong and "Error" in wrong[0]


@soak
def test_a_short_soak_keeps(script, monkeypatch, capsys):
    monkeypatch.setattr(script, "LONGEST", 1.5)
    monkeypatch.setattr(sys, "argv", ["soak", "--clients", "8", "--seconds", "2"])
    assert script.main() == 0
    said = capsys.readouterr().out
    assert "8 clients" in said and said.endswith("kept\n")
