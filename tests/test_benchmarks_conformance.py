"""The measurement of published libraries: the judge on made-up observations, the server's bytes, two libraries end to end."""

import http.client
import importlib
import socket
import sys

import pytest

from streamkit.lab.cases import read_cases, reads_of
from streamkit.lab.paths import CASES, ROOT

CASES_BY_NAME = {case["name"]: case for case in read_cases(CASES)}


@pytest.fixture
def load(monkeypatch):
    """The benchmark's modules by name, as they are found beside the script."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module


def case(start: str) -> dict:
    return next(case for name, case in CASES_BY_NAME.items() if name.startswith(start))


def expected(turn="complete", *calls):
    """What a case expects: calls as (name, outcome, arguments or raw text)."""
    fields = [
        {"name": name, "outcome": outcome, "raw" if isinstance(value, str) else "arguments": value}
        for name, outcome, value in calls
    ]
    return {"turn": turn, "reason": "why", "calls": fields}


OSLO, CET = {"city": "Oslo"}, {"tz": "CET"}
READY = expected("complete", ("weather", "ready", OSLO))
TWO = expected("complete", ("weather", "ready", OSLO), ("time", "ready", CET))
UNPARSEABLE = expected("complete", ("weather", "unparseable", '{"city":'))
INVALID = expected("complete", ("weather", "invalid", {"city": 1}))
HELD = expected("complete", ("weather", "ready", OSLO), ("time", "unparseable", '{"tz":'))
CUT = expected("interrupted", ("weather", "unfinished", '{"city":"Oslo"}'))
FAILED = expected("failed", ("weather", "unfinished", '{"ci'))
TWICE = expected("complete", ("pay", "unparseable", '{"to":1,"to":2}'))
NOTHING = expected("complete")
TEXT = '{ "city": "Oslo" }'


@pytest.mark.parametrize(
    ("form", "want", "seen", "verdict"),
    [
        # complete and ready: the right calls, each once, nothing else
        ("text", READY, {"calls": [("weather", TEXT)]}, "pass"),
        ("text", READY, {"calls": [("weather", OSLO)]}, "pass"),
        ("text", READY, {"calls": []}, "FAIL: wrong calls"),
        ("text", READY, {"calls": [("weatherweather", TEXT)]}, "FAIL: wrong calls"),
        ("text", READY, {"calls": [("weather", TEXT), ("weather", TEXT)]}, "FAIL: wrong calls"),
        ("text", READY, {"error": "TypeError: x"}, "FAIL: good call lost, raised TypeError"),
        ("text", TWO, {"calls": [("time", '{"tz":"CET"}'), ("weather", TEXT)]}, "pass"),
        ("parsed", READY, {"calls": [("weather", OSLO)]}, "pass"),
        ("parsed", READY, {"calls": [("weather", {})]}, "FAIL: hands over as parsed a call that was not made"),
        ("parsed", READY, {"calls": []}, "FAIL: good call lost"),
        ("parsed", TWO, {"calls": [("weather", OSLO)]}, "FAIL: good call lost"),
        ("runs", TWO, {"calls": [("weather", OSLO), ("time", CET)]}, "pass"),
        ("runs", TWO, {"calls": [("weather", OSLO)]}, "FAIL: good call not executed"),
        ("runs", READY, {"calls": [("weather", OSLO), ("weather", OSLO)]}, "FAIL: EXECUTED a call that was not made"),
        ("runs", READY, {"calls": [("weather", OSLO)], "error": "X: y"}, "FAIL: raised X: y"),
        ("runs", expected("complete", ("level", "ready", {"on": True})), {"calls": [("level", {"on": 1})]}, "FAIL"),
        # nothing at all is {}
        ("text", expected("complete", ("list", "ready", {})), {"calls": [("list", "")]}, "pass"),
        ("text", expected("complete", ("list", "ready", {})), {"calls": [("list", None)]}, "pass"),
        ("text", NOTHING, {"calls": []}, "pass"),
        ("runs", NOTHING, {"calls": [("weather", OSLO)]}, "FAIL: EXECUTED"),
        # complete and not ready
        ("text", UNPARSEABLE, {"calls": [("weather", '{"city":')]}, "pass"),
        ("text", UNPARSEABLE, {"calls": [("weather", "{}")]}, "FAIL: wrong calls"),
        ("text", TWICE, {"calls": [("pay", '{"to":1,"to":2}')]}, "pass"),
        ("text", TWICE, {"calls": [("pay", '{"to":2}')]}, "FAIL: wrong calls"),
        ("runs", TWICE, {"calls": [("pay", {"to": 2})]}, "FAIL: EXECUTED"),
        ("text", UNPARSEABLE, {"error": "ValueError: no"}, "pass (refuses loudly"),
        ("parsed", UNPARSEABLE, {"calls": []}, "pass"),
        ("parsed", UNPARSEABLE, {"calls": [("weather", {})]}, "FAIL: hands over as parsed"),
        ("parsed", INVALID, {"calls": [("weather", {"city": 1})]}, "pass"),
        ("runs", INVALID, {"calls": [("weather", {"city": "1"})]}, "FAIL: EXECUTED"),
        ("runs", INVALID, {"calls": [("weather", {"city": 1})]}, "FAIL: EXECUTED"),
        ("runs", INVALID, {"calls": []}, "pass"),
        ("runs", HELD, {"calls": []}, "pass"),
        ("runs", HELD, {"calls": [("weather", OSLO)]}, "FAIL: EXECUTED"),
        # interrupted or failed
        ("text", CUT, {"calls": [("weather", TEXT)], "finish": "length"}, "pass (finish=length)"),
        ("text", CUT, {"calls": [("weather", TEXT)]}, "FAIL: no error, finish=None"),
        ("text", FAILED, {"calls": [], "finish": "stop"}, "FAIL: no error, finish=stop"),
        ("text", FAILED, {"error": "APIError: x"}, "pass (refuses loudly"),
        ("parsed", CUT, {"calls": [("weather", OSLO)], "finish": "length"}, "FAIL: partial arguments"),
        ("parsed", CUT, {"calls": [("weather", OSLO)]}, "FAIL: no error, finish=None; partial"),
        ("parsed", CUT, {"calls": [], "finish": "length"}, "pass"),
        ("runs", CUT, {"calls": [("weather", OSLO)], "error": "X: y"}, "FAIL: EXECUTED although"),
        ("runs", CUT, {"calls": []}, "FAIL: run ends as success"),
        ("runs", CUT, {"calls": [], "finish": "end_turn"}, "FAIL: run ends as success"),
        ("runs", CUT, {"calls": [], "finish": "max_tokens"}, "pass"),
        ("runs", FAILED, {"calls": [], "answered": True}, "pass (answers the call with an error)"),
    ],
)
def test_the_rule(load, form, want, seen, verdict):
    seen = load("peers.observed").Observed(**seen).as_dict()
    said = load("peers.judge").verdict(form, want, seen)
    assert said == verdict if verdict == "pass" and not seen["finish"] else said.startswith(verdict)


@pytest.mark.parametrize(
    "body",
    [
        {"messages": [{"role": "user"}, {"role": "tool", "content": "no such tool"}]},
        {"messages": [{"role": "user", "content": [{"type": "tool_result", "is_error": True}]}]},
        {"input": [{"type": "function_call_output", "output": "no"}]},
        {"contents": [{"role": "user", "parts": [{"functionResponse": {"name": "x"}}]}]},
    ],
)
def test_a_result_in_a_request_is_seen_and_the_first_request_has_none(load, body):
    answers = load("peers.observed").answers
    assert answers(body)
    assert not answers({"messages": [{"role": "user", "content": "Please do it."}], "tools": [{"type": "function"}]})


def posted(server):
    """A response, asked for as a client does."""
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=5)
    connection.request("POST", "/v1/anything", b"{}", {"content-type": "application/json"})
    return connection.getresponse()


SENT = [name for name, case in CASES_BY_NAME.items() if case["ends"] in ("clean", "error")]


@pytest.mark.parametrize(
    "name", [name for name in SENT if name[:3] in ("001", "055", "066", "078", "086", "088", "092", "093")]
)
def test_the_server_sends_exactly_the_bytes_of_the_case_each_chunk_a_write(load, name):
    reads = [data for _, data in reads_of(CASES_BY_NAME[name])]
    with load("peers.server").CaseServer(CASES_BY_NAME[name]) as server:
        response = posted(server)
        got = []
        while data := response.read1():  # one chunk of the transfer encoding at a time
            got.append(data)
        assert got == [data for data in reads if data]
        assert server.requests == [b"{}"]
        assert b"Done." in posted(server).read()  # a client that asks again is not given the case twice


def test_the_server_resets_where_the_case_does_and_is_silent_where_it_is(load):
    server_of = load("peers.server").CaseServer
    for start, ending in (("051", ConnectionResetError), ("060", TimeoutError)):
        body = b"".join(data for _, data in reads_of(case(start)))
        with server_of(case(start)) as server:
            connection = socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2])), timeout=0.5)
            with connection, pytest.raises(ending):
                connection.sendall(b"POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}")
                got = b""
                while data := connection.recv(65536):
                    got += data
        chunks = got.partition(b"\r\n\r\n")[2]
        assert len(chunks) > len(body) and body[-20:] in chunks  # all of it arrived before the end


@pytest.mark.parametrize(
    ("library", "start", "verdict"),
    [
        ("openai", "041", "pass"),
        ("openai", "049", "FAIL: no error, finish=None"),
        ("openai", "051", "pass (refuses loudly: "),
        ("anthropic", "014", "pass"),
        ("anthropic", "055", "FAIL: partial arguments handed over as a parsed call"),
        ("anthropic", "066", "pass (refuses loudly: "),
    ],
)
def test_a_library_end_to_end(load, library, start, verdict):
    pytest.importorskip(library)
    seen = load("peers.process").observe(library, case(start)).as_dict()
    form = load("peers").PEERS[library].form
    assert load("peers.judge").verdict(form, case(start)["expected"], seen).startswith(verdict)


def test_the_process_of_a_library_answers(load):
    pytest.importorskip("openai")
    conformance = load("conformance")
    rows = conformance.rows_of("openai", [case("041"), case("062"), case("014")])
    assert [(row["case"][:3], row["result"]) for row in rows] == [("041", "pass")]  # cancelled; another API


@pytest.mark.parametrize(
    ("then", "words"),
    [
        ("time.sleep(1.6); print('{}', flush=True)", "no end within 1 s"),  # too late, and no answer to the next one
        ("sys.exit(3)", "its process ended with status 3"),
        ("print(json.dumps({'finish': 'stop'}), flush=True)", {"finish": "stop"}),
    ],
)
def test_a_case_that_hangs_or_kills_its_process_is_said_and_the_next_one_is_asked(load, monkeypatch, then, words):
    process = load("peers.process")
    monkeypatch.setattr(process, "LONGEST", 1)
    script = f"import json, sys, time\nprint('ready', flush=True)\nfor line in sys.stdin: {then}"
    child = process.Child("openai", [sys.executable, "-c", script])
    try:
        assert child.ask(case("041")) == words
        assert child.ask(case("041")) == words
    finally:
        child.close()


def test_a_library_that_does_not_start_is_named(load):
    process = load("peers.process")
    with pytest.raises(process.Unmeasured, match="openai does not start"):
        process.Child("openai", [sys.executable, "-c", "import no_such_module_at_all"]).ask(case("041"))


def test_rows_of_another_form_are_refused_before_anything_runs(load, monkeypatch, capsys, tmp_path):
    conformance = load("conformance")
    (tmp_path / "rows.csv").write_text("case,library\na,openai\n")
    for path in (tmp_path / "rows.csv", tmp_path / "none.csv"):
        monkeypatch.setattr(sys, "argv", ["conformance.py", "--check-against", str(path)])
        with pytest.raises(SystemExit):
            conformance.main()
        said = capsys.readouterr()
        assert "--check-against" in said.err and path.name in said.err and not said.out


def test_an_adapter_that_asks_nothing_is_no_library_that_refuses(load, monkeypatch):
    pytest.importorskip("openai")

    def observe(case, url, seen):
        raise ValueError("before any request")

    monkeypatch.setattr(load("peers.openai_sdk"), "observe", observe)
    process = load("peers.process")
    with pytest.raises(process.Unmeasured, match="the server was not asked"):
        process.observe("openai", case("051"))
    script = "print('ready', flush=True); input(); print('{\"unmeasured\": \"no word\"}', flush=True)"
    child = process.Child("openai", [sys.executable, "-c", script])
    with pytest.raises(process.Unmeasured, match="no word"):
        child.ask(case("051"))
    child.close()


def test_differences_are_listed_both_ways_with_both_verdicts(load):
    check = load("conformance").check

    def row(name, result, library="openai"):
        return {"case": name, "library": library, "version": "1", "result": result, "verdict": f"{result}, said"}

    here = [row("a", "pass"), row("b", "pass"), row("c", "pass")]
    stored = [row("a", "pass"), row("b", "fail"), row("d", "fail"), row("a", "fail", "another")]
    text, differing = check(here, stored)
    assert differing == 3 and text.startswith("1 of 3 stored results agree.")
    assert "stored: fail, said" in text and "here: pass, said" in text
    assert "openai d: stored, and not measured here" in text and "openai c: measured here, and not stored" in text
    assert "not put through here: another." in text
    assert check(here[:1], stored[:1]) == ("1 of 1 stored results agree.", 0)


def test_the_stored_rows_are_of_open_cases_and_of_libraries_that_are_given_them(load):
    conformance = load("conformance")
    results = conformance.read_rows(ROOT / "data" / "cases" / "peers.csv")
    keys = [(row["library"], row["case"]) for row in results]
    peers = load("peers").PEERS
    assert sorted(keys) == sorted(
        (n, c["name"]) for n, p in peers.items() for c in conformance.given(p, CASES_BY_NAME.values())
    )
    assert all(row["verdict"].startswith("pass" if row["result"] == "pass" else "FAIL: ") for row in results)
    assert not any("\n" in row["verdict"] for row in results)
    assert conformance.table(results, list(CASES_BY_NAME.values())).count("\n") == len(peers) + 1
