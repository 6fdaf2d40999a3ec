"""What SECURITY.md promises: each attack fails, and succeeds where its guard is taken away.

More of the same stands beside its room: test_render, test_preview, test_player, test_charts, test_show, test_recorder, test_shop,
test_replay, test_fuzz.
"""

import contextlib
import http.client
import importlib
import json
import os
import re
import socket
import threading

import pytest
from test_charts import BAD_MATHS
from test_player import HOSTILE, fragment, made, text
from test_recorder import STREAM, answering

from streamkit import finalise, strict, turn
from streamkit.__main__ import main
from streamkit.events import CallDelta, TextDelta, TurnFinished
from streamkit.lab import capture_lines, cases, chart, loopback, opening, player_words, shop_http, sources
from streamkit.lab.captures import find_captures, load, read_capture, write_capture
from streamkit.lab.charts import bars, ecdf, timeline
from streamkit.lab.exercises import verbs
from streamkit.lab.exercises.pieces import RECORD, Pieces
from streamkit.lab.lookup import Lookup
from streamkit.lab.paths import BOOK, CASES, ROOT
from streamkit.lab.player import Player
from streamkit.lab.problem import Problem
from streamkit.lab.proxy import Proxy
from streamkit.lab.recorder import record
from streamkit.lab.redact import Secrets
from streamkit.lab.replay import ReplayServer
from streamkit.lab.shop import Shop
from streamkit.render import to_html, to_text
from streamkit.turn import turn_of
from streamkit.wire import sse

ESCAPE = "\x1b]0;owned\x07\u202e"
NEVER = re.compile("(?!)")
HEADER = {"api": "openai-chat", "model": "m"}


def unchanged(text):
    return text


def draws(text: str) -> bool:
    """Whether a terminal would obey something in it."""
    return bool(re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text))


# pages, terminals


@pytest.mark.parametrize("guarded", [True, False])
def test_a_page_shows_what_a_model_wrote(monkeypatch, guarded):
    if not guarded:
        monkeypatch.setattr("html.escape", lambda text, quote=True: text)
    turn = turn_of([TextDelta(0, None, HOSTILE), CallDelta(0, 0, "a", HOSTILE, "{}"), TurnFinished(1, "tool_calls")])
    assert ("<script" in to_html(turn.blocks)) != guarded


@pytest.mark.parametrize("guarded", [True, False])
def test_the_player_shows_what_a_model_wrote(monkeypatch, guarded):
    if not guarded:
        monkeypatch.setattr(player_words, "escape", lambda text, quote=True: text, raising=True)
    player = Player(made([text(HOSTILE), fragment("{}", name=HOSTILE, id="a")]))
    assert ("<script" in player._repr_mimebundle_()["text/html"]) != guarded


@pytest.mark.parametrize("guarded", [True, False])
def test_a_terminal_shows_what_a_model_wrote(monkeypatch, guarded):
    if not guarded:
        monkeypatch.setattr("streamkit.preview.UNSEEN", NEVER)
    turn = turn_of([TextDelta(0, None, ESCAPE), CallDelta(0, 0, "a", ESCAPE, "{}"), TurnFinished(1, "tool_calls")])
    assert draws(to_text(turn.blocks)) != guarded


@pytest.mark.parametrize("guarded", [True, False])
@pytest.mark.parametrize("words", [["show"], ["show", "--events"]], ids=" ".join)
def test_show_prints_nothing_that_draws(tmp_path, capsys, monkeypatch, words, guarded):
    if not guarded:
        monkeypatch.setattr("streamkit.lab.commands.show.UNSAFE", NEVER)
    delta = {"delta": {"content": ESCAPE, "tool_calls": [{"index": 0, "id": ESCAPE, "function": {"name": ESCAPE}}]}}
    body = b"data: " + json.dumps({"choices": [delta]}, ensure_ascii=False).encode() + b"\n\n"
    path = write_capture(tmp_path / "c.jsonl", HEADER | {"model": ESCAPE, "note": ESCAPE}, [(0.1, body)], 0.2, "clean")
    assert main([words[0], str(path), *words[1:]]) == 0
    assert draws(capsys.readouterr().out) != guarded


def table_of(tmp_path):
    rows = [f"{n},{ESCAPE},0.{n},{{}}" for n in range(1, 4)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["call,tool,at,fragment", *rows]) + "\n", "utf-8")
    return ["gaps", str(path), "--by", "tool"], "streamkit.lab.summary.words", lambda text, longest: str(text)


def case_of(tmp_path):
    case = json.loads((CASES / "053-length-mid-arguments.json").read_text("utf-8"))
    case |= {"name": ESCAPE, "expected": case["expected"] | {"reason": "\u202e"}}
    (tmp_path / "case.json").write_text(json.dumps(case))
    return ["cases", str(tmp_path / "case.json")], "streamkit.lab.commands.cases.safe", unchanged


def capture_of(tmp_path):
    header = HEADER | {"tools": [{"name": ESCAPE, "parameters": {"type": ESCAPE}}]}
    path = write_capture(tmp_path / "c.jsonl", header, [], 0.2, "clean")
    return ["show", str(path)], "streamkit.lab.problem.visible", unchanged


def workbook_of(tmp_path):
    folder = tmp_path / f"room{ESCAPE}"
    folder.mkdir()
    return ["progress", str(folder), str(tmp_path), "--json"], "streamkit.lab.problem.visible", unchanged


@pytest.mark.parametrize("guarded", [True, False])
@pytest.mark.parametrize("attack", [table_of, case_of, capture_of, workbook_of])
def test_no_command_prints_what_draws(tmp_path, capsys, monkeypatch, attack, guarded):
    words, guard, instead = attack(tmp_path)
    if not guarded:
        monkeypatch.setattr(guard, instead)
    main(words)
    said = capsys.readouterr()
    shown = "".join(row["problem"] for row in json.loads(said.out)) if "--json" in words else said.out + said.err
    assert shown and draws(shown) != guarded


@pytest.mark.parametrize("guarded", [True, False])
def test_a_chart_draws_a_dollar_as_a_dollar(monkeypatch, guarded):
    if not guarded:
        monkeypatch.setitem(chart.LOOK, "text.parse_math", True)
    made_of = made([text("a"), fragment("{}", name=BAD_MATHS, id="c")], tools=[])
    for drawn in (timeline(made_of), ecdf({BAD_MATHS: [1, 2]}, "seconds"), bars({"a": {BAD_MATHS: 1}}, "calls")):
        with contextlib.nullcontext() if guarded else pytest.raises(ValueError, match="Parse"):
            drawn.png()
    assert chart.LOOK["text.usetex"] is False


@pytest.mark.parametrize("guarded", [True, False])
def test_a_charts_alt_text_stays_in_its_attribute(monkeypatch, guarded):
    if not guarded:
        monkeypatch.setattr(chart, "escape", unchanged)
    page = ecdf({'"><script>alert(1)</script>': [1]}, "seconds")._repr_mimebundle_()[0]["text/html"]
    assert ("<script>" in page) != guarded


@pytest.mark.parametrize("guarded", [True, False])
def test_a_files_name_is_no_markdown(tmp_path, monkeypatch, guarded):
    """The one place where the kit shows Markdown: the link from the book to the workbook."""
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda markdown: shown.append(markdown.data))
    monkeypatch.setattr(opening.workbook, "make", lambda *_: None)
    if not guarded:
        monkeypatch.setattr(opening, "quote", unchanged)
    (tmp_path / "01](x)<img src=x>.ipynb").write_text('{"metadata": {"streamkit": {"chapter": 1}}}')
    opening._send_on(1, tmp_path, tmp_path)
    assert ("<img" in shown[0]) != guarded and ("](x)" in shown[0]) != guarded


# files


@pytest.mark.parametrize("guarded", [True, False])
def test_a_piece_stays_in_its_folder(tmp_path, monkeypatch, capsys, guarded):
    monkeypatch.delenv("STREAMKIT_JUDGED", raising=False)
    folder = tmp_path / "workbook"
    (folder / "pieces").mkdir(parents=True)
    (folder / RECORD).write_text("{}")
    if not guarded:
        monkeypatch.setattr("streamkit.lab.exercises.pieces.NAME", re.compile("(?s).*"))
    (tmp_path / "secret.py").write_text("secret")
    assert (Pieces(folder).load("../../secret") == "secret") != guarded
    Pieces(folder).keep("../../outside", "x = 1")
    assert (tmp_path / "outside.py").exists() != guarded
    verbs.check("../../secret")  # and no exercise has such a name
    assert "secret" not in capsys.readouterr().out.replace("../../secret", "")


def linked(tmp_path, name: str, content: str):
    """A folder with a link to a file outside, and one to a file inside, which is no harm."""
    folder, outside = tmp_path / "sent", tmp_path / ("outside" + os.path.splitext(name)[1])
    folder.mkdir()
    outside.write_text(content, "utf-8")
    try:
        (folder / name).symlink_to(outside)
    except OSError:
        pytest.skip("no links here")
    return folder


CAPTURE = '{"format":"streamkit-capture","version":1,"api":"openai-chat"}\n[0,"end","clean"]\n'
CASE = '{"api": "openai-chat", "chunks": []}'
LINKS = {
    "captures": ("a.jsonl", CAPTURE, find_captures, "streamkit.lab.captures"),
    "cases": ("a.json", CASE, lambda folder: list(cases.read_cases(folder)), "streamkit.lab.cases"),
    "tables": ("a.csv", "x", lambda folder: sources.files_of([str(folder)], None), "streamkit.lab.sources"),
    "streams": ("a.sse", "x", lambda folder: sources.files_of([str(folder)], "openai-chat"), "streamkit.lab.sources"),
}


@pytest.mark.parametrize("guarded", [True, False])
@pytest.mark.parametrize("kind", LINKS)
def test_a_link_out_of_a_folder_is_not_followed(tmp_path, monkeypatch, kind, guarded):
    name, content, read, module = LINKS[kind]
    folder = linked(tmp_path, name, content)
    if not guarded:
        monkeypatch.setattr(f"{module}.inside", lambda folder, found: list(found))
        assert read(folder)
        return
    with pytest.raises(Problem, match="a link that leads out of"):
        read(folder)
    (folder / name).unlink()
    (folder / f"real-{name}").write_text(content, "utf-8")
    (folder / name).symlink_to(f"real-{name}")
    assert read(folder)  # a link within the folder


def test_a_folder_behind_a_link_is_not_searched(tmp_path):
    folder = linked(tmp_path, "a.jsonl", CAPTURE)
    (folder / "a.jsonl").unlink()
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "b.jsonl").write_text(CAPTURE)
    (folder / "more").symlink_to(tmp_path / "private", target_is_directory=True)
    with pytest.raises(Problem, match="no captures"):
        find_captures(folder)


def test_a_name_from_outside_is_never_a_path(tmp_path):
    """The stem of a capture, and the model of a request to the replay server."""
    (tmp_path / "secret.jsonl").write_text(CAPTURE)
    here = os.path.relpath(tmp_path / "secret", ROOT / "data" / "captures")
    with pytest.raises(Problem, match="no capture named"):
        load(here)
    capture = load("chat-plain-text")
    with ReplayServer([capture], speed=0) as server:
        assert server.choose("openai-chat", f"{tmp_path / 'secret'}") is capture
        assert server.choose("openai-chat", "../../secret") is capture


# servers


def asked(port: int, host: str, method: str = "GET", path: str = "/", body: bytes = b"") -> int:
    """The status that a server gives a request under this Host."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        line.request(method, path, body or None, {"Host": host, "Content-Type": "application/json"})
        return line.getresponse().status
    finally:
        line.close()


@contextlib.contextmanager
def serving(kind: str):
    """Port, and a request that the server answers with 200."""
    with ReplayServer([load("chat-plain-text")], speed=0) as replay:
        if kind == "replay":
            yield replay.port, ("GET", "/v1/models")
        elif kind == "proxy":
            with Proxy(f"http://127.0.0.1:{replay.port}") as proxy:
                yield proxy.server.server_address[1], ("GET", "/v1/models")
        elif kind == "lookup":
            with Lookup(prepare=0) as lookup:
                yield lookup.port, ("POST", "/ask", b'"x"')
        else:
            with Shop() as shop:
                yield shop.port, ("GET", "/effects")


FOREIGN = (
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "evil.example:80",
    "0.0.0.0",
    "127.0.0.1@e",
)


@pytest.mark.parametrize("kind", ["replay", "proxy", "lookup", "shop"])
def test_a_server_answers_to_its_own_name_alone(kind, monkeypatch):
    with serving(kind) as (port, request):
        assert asked(port, f"127.0.0.1:{port}", *request) == asked(port, f"localhost:{port}", *request) == 200
        for host in (*FOREIGN, f"evil.example:{port}", f"127.0.0.1:{port + 1}"):
            assert asked(port, host, *request) in (403, 421)
        if kind != "shop":
            monkeypatch.setattr(f"streamkit.lab.{kind}.is_ours", lambda handler: True)
            assert asked(port, "evil.example", *request) == 200


@pytest.mark.parametrize("kind", ["replay", "proxy", "lookup", "shop"])
@pytest.mark.parametrize("length", ["-1", "99999999999", "x", "1" * 5_000])
def test_a_body_without_end_is_not_read(kind, length):
    with serving(kind) as (port, _), socket.create_connection(("127.0.0.1", port), timeout=5) as line:
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        line.sendall(f"{head}Content-Length: {length}\r\n\r\n".encode())
        assert line.makefile("rb").readline().split()[1] in (b"400", b"413")


@pytest.mark.parametrize("kind", ["replay", "proxy", "lookup", "shop"])
def test_no_client_is_turned_away_where_many_come_at_once(kind):
    """A class that presses the same key; the library's own server has a queue of five and resets the others."""
    gate, answers = threading.Barrier(80), []

    def client():
        gate.wait()
        with contextlib.suppress(OSError):
            answers.append(asked(port, f"127.0.0.1:{port}", *request))

    with serving(kind) as (port, request):
        clients = [threading.Thread(target=client) for _ in range(80)]
        for each in clients:
            each.start()
        for each in clients:
            each.join()
    assert answers == [200] * 80


def reachable(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.2", port)) == 0


@pytest.mark.parametrize("kind", ["replay", "proxy", "lookup", "shop"])
def test_a_server_listens_on_loopback_alone(kind, monkeypatch):
    """127.0.0.2 is this machine under another address: a server bound to all of them would answer there."""
    with socket.socket() as everywhere:
        everywhere.bind(("", 0))
        everywhere.listen()
        if not reachable(everywhere.getsockname()[1]):
            pytest.skip("127.0.0.2 is no address here")
    with serving(kind) as (port, _):
        assert not reachable(port)


def test_nothing_else_opens_a_port():
    """Every server in the sources is one of the four that are tried here, or the doctor's, which asks only whether it may."""
    found = {
        path.name
        for path in (ROOT / "streamkit").rglob("*.py")
        if re.search(r"HTTPServer\b|create_server|\.bind\(", path.read_text("utf-8"))
    }
    assert found == {"replay.py", "proxy.py", "lookup.py", "shop.py", "doctor.py"}


# secrets


KEY = "sk-very-secret-0123456789"
GUARDS = {
    "text": lambda self, text: text,
    "value": lambda self, value: value,
    "url": lambda self, url: url,
    "reads": lambda self, at, data: [(at, data)],
}


@pytest.mark.parametrize("missing", [None, *GUARDS])
def test_a_recording_keeps_no_secret(tmp_path, monkeypatch, missing):
    """The key in the address, a header, the body and the stream, and what is named like a secret."""
    if missing:
        monkeypatch.setattr(Secrets, missing, GUARDS[missing])
    body = {
        "model": "m",
        "user": KEY,
        "tools": [{"type": "mcp", "x-goog-api-key": "other-1", "aws_secret_access_key": "other-2"}],
    }
    with answering(
        headers=[*STREAM, ("server", KEY)], body=[b"data: " + KEY[:7].encode(), KEY[7:].encode() + b"\n\n"]
    ) as (url, _):
        where = url.replace("http://", "http://me:other-3@") + "/v1/chat/completions?sig=other-4"
        path = record(tmp_path / "c.jsonl", where, "openai-chat", body, key=KEY, headers={"x-team": "other-5"})
    said = path.read_text() + read_capture(path).body.decode()
    assert bool(re.search(rf"{KEY}|other-\d", said)) == bool(missing)


@pytest.mark.parametrize("guarded", [True, False])
def test_an_error_quotes_no_secret(tmp_path, monkeypatch, guarded):
    if not guarded:
        monkeypatch.setattr(Secrets, "text", GUARDS["text"])
    reply = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}}).encode()
    with answering(401, [("content-type", "application/json")], reply) as (url, _), pytest.raises(Problem) as refused:
        record(tmp_path / "c.jsonl", f"{url}/v1?key={KEY}", "openai-chat", {}, key=KEY)
    assert (KEY in str(refused.value)) != guarded


# notebooks


# A picture as data fetches nothing, and an SVG that stands in an img runs nothing (in a page of its own it could).
ACTIVE = re.compile(
    r"(?i)<script|<iframe|<object|<embed|<link|<form|\son\w+\s*=|javascript:|\b(src|href)\s*=\s*[\"']?(?!data:image/(?:png|svg))\w+:"
)
PASSIVE = {"text/plain", "text/html", "image/png"}


def active(book: dict) -> list[str]:
    """What in a notebook's stored outputs a browser would run or fetch, were the notebook trusted."""
    found = []
    for cell in book["cells"]:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            found += sorted(set(data) - PASSIVE) + ACTIVE.findall("".join(data.get("text/html", ())))
    return found


def test_the_stored_outputs_of_the_book_run_nothing():
    """So that trusting a chapter, which Jupyter does once it was run, gives nothing a right that it uses."""
    books = sorted(BOOK.glob("*.ipynb"))
    assert len(books) == 8
    for path in books:
        book = json.loads(path.read_text("utf-8"))
        assert not active(book) and "widgets" not in book["metadata"]


@pytest.mark.parametrize(
    "data",
    [
        {"text/html": ["<b>a</b><scr", "ipt>alert(1)</script>"]},
        {"text/html": '<img src="https://host/x.png">'},
        {"text/html": "<b onmouseover='x()'>a</b>"},
        {"text/html": "<a href=javascript:x()>a</a>"},
        {"text/html": '<a href="data:text/html,x">a</a>'},
        {"text/html": '<object data="data:image/svg+xml;base64,x"></object>'},
        {"application/javascript": "x()"},
    ],
    ids=str,
)
def test_an_output_that_would_run_is_found(data):
    assert active({"cells": [{"outputs": [{"data": data}]}]})
    assert not active(
        {"cells": [{"outputs": [{"data": {"text/html": '<img alt="a on = b" src="data:image/png;base64,x">'}}]}]}
    )


# the page


def test_the_page_names_tests_that_are_there_and_all_of_this_file():
    page, here = (ROOT / "SECURITY.md").read_text("utf-8"), (ROOT / "tests/test_security.py").read_text("utf-8")
    named = [name.removesuffix("…") for name in re.findall(r"`(test_\w+…?)`", page)]
    tests = re.findall(r"^def (test_\w+)", here, re.M)
    assert all(any(test.startswith(name) for test in tests) for name in named)
    quiet = {"test_an_output_that_would_run_is_found", "test_the_page_names_tests_that_are_there_and_all_of_this_file"}
    quiet |= {"test_the_page_states_the_limits_as_they_are"}
    assert {test for test in tests if not any(test.startswith(name) for name in named)} == quiet


def test_the_page_states_the_limits_as_they_are():
    page = (ROOT / "SECURITY.md").read_text("utf-8")
    reader = importlib.import_module("streamkit.wire.reader")
    for stated in (
        f"| {reader.BODY // 2**30} GiB |",
        f"| {sse.LIMIT // 2**20} MiB |",
        f"{reader.DEPTH} levels; integers of {strict.DIGITS:,} digits",
        f"{turn.EVENTS:,} events; {turn.BLOCKS:,} blocks",
        f"| {strict.DEPTH} levels;",
        f"{finalise.COMPLAINTS} of {finalise.MESSAGE} characters",
        f"| {capture_lines.LINE // 2**20} MiB |",
        f"| {loopback.LONGEST // 2**20} MiB (the shop: {shop_http.LONGEST // 10**6} MB)",
    ):
        assert stated in page, stated
