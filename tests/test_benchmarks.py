"""Every benchmark that has peers runs small: the same answers on both sides, and a table. Nothing is timed here."""

import runpy
import sys

import pytest

from streamkit.lab.paths import ROOT

HERE = ROOT / "benchmarks"


def run(monkeypatch, capsys, name: str, *options: str) -> str:
    monkeypatch.setattr(sys, "argv", [name, *options])
    monkeypatch.syspath_prepend(str(HERE))
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(HERE / f"{name}.py"), run_name="__main__")
    assert not ended.value.code
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("sse", ("--rounds", "1", "--size", "1")),
        ("accumulate", ("--rounds", "1", "--most", "10000")),
        ("pipeline", ("--rounds", "1", "--most", "1000")),
        ("first_parse", ("--rounds", "1", "--deltas", "8000")),
    ],
)
def test_it_runs_and_names_machine_and_peers(monkeypatch, capsys, name, options):
    said = run(monkeypatch, capsys, name, *options)
    assert "Python 3" in said and "cores" in said
    assert said.count("\n|") > 3


def test_a_decoder_that_loses_an_event_is_found(monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    sse = runpy.run_path(str(HERE / "sse.py"))
    reads = [b"data: a\n\n", b"data: b\n\n"]
    assert sse["ours"](reads) == ["a", "b"] != sse["ours"](reads[1:])
    assert all(peer(reads) == ["a", "b"] for peer in sse["peers"]().values())


def test_one_call_of_many_fragments_is_read_by_the_official_clients_too(monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    clients, pipeline = runpy.run_path(str(HERE / "clients.py")), runpy.run_path(str(HERE / "pipeline.py"))
    shared = runpy.run_path(str(HERE / "side_by_side.py"))
    for maker in ("openai_stream", "anthropic_stream"):
        api, collect = clients[maker]()
        reads = shared["cut"](shared["one_call"](api, 50), 1_400)
        assert collect([reads]) == pipeline["ours"](api, [reads]) == 1


@pytest.mark.parametrize(("seconds", "exponent"), [([1, 10], 1.0), ([1, 100], 2.0), ([5], 1.0)])
def test_the_exponent_is_the_power_by_which_time_grows(monkeypatch, seconds, exponent):
    monkeypatch.syspath_prepend(str(HERE))
    assert runpy.run_path(str(HERE / "pipeline.py"))["slope"](seconds) == pytest.approx(exponent)


def test_the_page_names_scripts_that_are_there_and_refuses_others(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["benchmarks", "nosuch"])
    monkeypatch.setattr(sys, "path", list(sys.path))
    page = runpy.run_path(str(HERE / "__main__.py"))
    assert all((HERE / f"{name}.py").is_file() for name in page["SCRIPTS"])
    assert page["conformance"]().count("\n| ") == 11
    with pytest.raises(SystemExit):
        page["main"]()
    assert "expected names out of sse, " in capsys.readouterr().err
