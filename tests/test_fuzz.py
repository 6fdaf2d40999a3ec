"""The fuzzer of benchmarks/fuzz.py in small: it finds nothing as things are, and it finds each guard that is taken away."""

import importlib
import json
import random
import re
import sys
from functools import partial

import pytest

from streamkit import preview, turn
from streamkit.finalise import finalise
from streamkit.lab.paths import ROOT

NEVER = re.compile("(?!)")


@pytest.fixture(scope="module")
def fuzz():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        module = importlib.import_module("fuzz")
        module.SEEDS = module.Seeds()
        yield module
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


def found(fuzz, target: str, inputs: int) -> set[str]:
    """What is wrong with so many inputs of one target."""
    targets = fuzz.Targets(fuzz.SEEDS.tools)
    wrong = set()
    for seed in range(inputs):
        data = fuzz.generated(target, random.Random(seed), fuzz.SEEDS)
        wrong.add(fuzz.fault(targets, target, data, seed)[0])
    return wrong - {None}


def test_a_short_run_finds_nothing(fuzz, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["fuzz", "--inputs", "1500", "--seed", "77"])
    assert fuzz.main() == 0
    said = capsys.readouterr().out
    assert "1,500 inputs" in said and "failures: none" in said and "Python 3" in said


def no_judge(text, name, tools, complete):
    return finalise(text, name, tools, True)


GUARDS = {  # target → what is taken away: (module or class, name, instead), and how the fault is said
    "wire openai-chat": (("fuzzing.turns", "TurnBuilder", partial(turn.TurnBuilder, finalise=no_judge)), "a call is"),
    "wire anthropic-messages": (("streamkit.wire.reader", "MISSHAPEN", (ValueError,)), "Error in"),
    "wire ollama": (("streamkit.wire.ndjson.NDJSONDecoder", "feed", lambda self, c: [self._record(x) for x in c.split(b"\n") if x.strip()]), "another cut"),
    "render gemini": (("streamkit.preview", "UNSEEN", NEVER), "obey"),
    "render openai-responses": (("streamkit.render.html", "escape", str), "stranger"),
    "history anthropic-messages": (("streamkit.messages", "clean", str), "half a surrogate"),
    "frames": (("streamkit.wire.sse.SSEDecoder", "_begin", lambda self, chunk: setattr(self, "_begun", True) or chunk.removeprefix(b"data")), "frames|standard"),
    "fields": (("streamkit.fields.Fields", "_withdraw", lambda self, key: None), "closed twice|taken"),
    "strict": (("streamkit.strict", "SURROGATE", NEVER), "UnicodeEncodeError"),
    "problems": (("streamkit.refusals", "told", repr), "ValueError|RecursionError"),
    "captures": (("streamkit.lab.capture_lines", "_shown", str), "draws"),
    "tables": (("streamkit.lab.tables", "math", None), "AttributeError"),
}  # fmt: skip


@pytest.mark.parametrize("target", GUARDS)
def test_a_guard_that_is_taken_away_is_missed(fuzz, monkeypatch, target):
    (where, name, instead), said = GUARDS[target]
    try:
        owner = importlib.import_module(where)
    except ModuleNotFoundError:
        module, _, attribute = where.rpartition(".")
        owner = getattr(importlib.import_module(module), attribute)
    monkeypatch.setattr(owner, name, instead)
    for inputs in (300, 3_000):
        wrong = found(fuzz, target, inputs)
        if any(re.search(said, one) for one in wrong):
            return
    raise AssertionError(f"not found: {wrong}")


def test_time_that_the_size_does_not_explain_is_a_fault(fuzz, monkeypatch):
    monkeypatch.setattr(fuzz, "FLOOR", 0.0)
    monkeypatch.setattr(fuzz, "RATE", 0.0)
    assert found(fuzz, "strict", 20) == {fuzz.SLOW}


def test_a_failing_input_is_cut_down_kept_and_fails_again(fuzz, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(preview, "UNSEEN", NEVER)
    monkeypatch.setattr(sys, "argv", ["fuzz", "--inputs", "300", "--only", "previews", "--out", str(tmp_path / "out")])
    assert fuzz.main() == 1
    assert "promise: a terminal would obey it" in capsys.readouterr().out
    kept = sorted((tmp_path / "out").iterdir())[0]
    assert len(json.loads(kept.read_text())["data64"]) < 200
    monkeypatch.setattr(sys, "argv", ["fuzz", "--again", str(kept)])
    with pytest.raises(AssertionError, match="a terminal would obey it"):
        fuzz.main()
    monkeypatch.undo()
    monkeypatch.setattr(sys, "argv", ["fuzz", "--again", str(kept)])
    assert fuzz.main() == 0
