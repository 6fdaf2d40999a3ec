"""Recording: what is kept, what never is, how each ending is told, and what is refused with one line."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamkit.__main__ import main
from streamkit.lab.apis import endpoint, offered
from streamkit.lab.captures import load, read_capture
from streamkit.lab.problem import Problem
from streamkit.lab.recorder import record
from streamkit.lab.redact import REMOVED, Secrets
from streamkit.lab.replay import ReplayServer
from streamkit.lab.schedule import Cut

KEY = "sk-very-secret-0123456789"
EXAMPLES = (
    "chat-two-searches",
    "messages-preamble-then-call",
    "responses-limit-completed",
    "chat-killed-in-second-call",
    "responses-timeout-in-arguments",
)
KEPT = ("api", "model", "status", "headers", "tools")


@contextmanager
def answering(status=200, headers=(), body=b"", after=None):
    """A server that gives one fixed answer and closes; yields its base address and what it was asked."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked.append((self.path, dict(self.headers), self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.end_headers()
            for piece in [body] if isinstance(body, bytes) else body:
                self.wfile.write(piece)
                time.sleep(0.02)
            if after:
                after(self)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()


STREAM = [("content-type", "text/event-stream")]


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_replay_recorded_again_is_the_same_capture(tmp_path, name):
    """The same kept header fields, body bytes and ending; reads may merge."""
    capture = load(name)
    with ReplayServer([capture], speed=20) as server:
        again = read_capture(
            record(tmp_path / "again.jsonl", server.url, capture.api, capture.header["request"]["body"], timeout=1.0)
        )
    assert {key: again.header[key] for key in KEPT} == {key: capture.header[key] for key in KEPT}
    assert again.header["request"]["body"] == capture.header["request"]["body"]
    sent, then = again.header["request"]["headers"], capture.header["request"]["headers"]
    assert sent | {"user-agent": ""} == then | {"user-agent": ""}  # that names the version of httpx
    assert again.body == capture.body
    assert again.ending == capture.ending


def test_times_are_those_of_the_reads(tmp_path):
    capture = load("chat-preamble-then-call")
    with ReplayServer([capture], speed=2) as server:
        again = read_capture(record(tmp_path / "again.jsonl", server.url, capture.api, {"model": "x"}))
    assert (
        again.ended_at > capture.ended_at / 2 - 0.2
    )  # it cannot come earlier than it was sent, but for when the two clocks began
    times = [event.at for event in again.events()]
    assert times == sorted(times) and len(set(times)) > 10


def test_two_chunks_of_one_network_read_are_one_read(tmp_path):
    chunks = b"6\r\ndata: \r\n3\r\n1\n\n\r\n9\r\ndata: 2\n\n\r\n0\r\n\r\n"
    raw = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"

    def serve(listening):
        connection, _ = listening.accept()
        connection.recv(65536)
        connection.sendall(raw)
        time.sleep(0.1)
        connection.sendall(chunks)
        connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, args=(listening,), daemon=True).start()
        capture = read_capture(
            record(tmp_path / "c.jsonl", f"http://127.0.0.1:{listening.getsockname()[1]}", "openai-chat", {})
        )
    assert [read.data for read in capture.reads] == [b"data: 1\n\ndata: 2\n\n"]
    assert 0.05 < capture.reads[0].at < 5


def test_cancel_leaves_a_valid_capture(tmp_path):
    capture = load("messages-two-searches")
    seen = []

    def stop(at, data):
        seen.append(data)
        if len(seen) == 12:
            raise KeyboardInterrupt

    with ReplayServer([capture], speed=0) as server:
        path = record(tmp_path / "c.jsonl", server.url, capture.api, {"model": "x"}, on_read=stop)
    again = read_capture(path)
    assert again.ending == "cancel" and capture.body.startswith(again.body) and b"".join(seen) == again.body


def test_ctrl_c_leaves_a_valid_capture_and_status_130(tmp_path):
    out = tmp_path / "c.jsonl"
    with ReplayServer([load("responses-two-searches")], speed=0.2) as server:
        command = [
            sys.executable,
            "-m",
            "streamkit",
            "record",
            server.url + "/responses",
            "-o",
            str(out),
            "--model",
            "m",
            "--prompt",
            "p",
        ]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        for _ in range(400):
            time.sleep(0.05)
            if out.exists() and out.read_bytes().count(b"\n") > 3:
                break
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=20)
    assert process.returncode == 130 and "cancel" in said
    assert read_capture(out).ending == "cancel" and read_capture(out).turn().reason == "cancelled"


@pytest.mark.parametrize("cut", [Cut(bytes=2000), Cut(seconds=0.8)], ids=["bytes", "seconds"])
def test_a_reset_is_a_disconnect(tmp_path, cut):
    capture = load("chat-two-searches")
    with ReplayServer([capture], speed=0, cut=cut) as server:
        again = read_capture(record(tmp_path / "c.jsonl", server.url, capture.api, {}))
    assert again.ending == "disconnect" and capture.body.startswith(again.body) and len(again.body) < len(capture.body)
    if cut.bytes:
        assert len(again.body) == 2000


def test_the_body_and_the_key_are_sent_as_the_api_wants_them(tmp_path):
    for api, name, value in (
        ("openai-chat", "authorization", f"Bearer {KEY}"),
        ("anthropic-messages", "x-api-key", KEY),
    ):
        with answering(headers=STREAM, body=b"data: {}\n\n") as (url, asked):
            record(tmp_path / "c.jsonl", url, api, {"model": "m"}, key=KEY)
        path, headers, body = asked[0]
        assert path == "/v1" + {"openai-chat": "/chat/completions", "anthropic-messages": "/messages"}[api]
        assert {key.lower(): text for key, text in headers.items()}[name] == value
        assert json.loads(body) == {"model": "m", "stream": True}


def test_no_secret_is_written(tmp_path, monkeypatch, capsys):
    """The key echoed in a header, in the stream over two reads, in the request's body and in the address: nowhere in the file."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    request = tmp_path / "body.json"
    request.write_text(json.dumps({
        "model": "m", "user": KEY, "messages": [{"role": "user", "content": f"my key is {KEY}"}],
        "tools": [{"type": "mcp", "server_label": "x", "authorization": "tok-abcdef123", "headers": {"X-Auth": "tok-ghijkl456"}},
                  {"type": "function", "name": "f", "parameters": {"properties": {"token": {"type": "string"}}}}],
    }))  # fmt: skip
    echo = [b'data: {"a": "' + KEY[:9].encode(), KEY[9:14].encode(), KEY[14:].encode() + b'"}\n\n', b"data: s\n\n"]
    headers = [*STREAM, ("server", f"x {KEY}"), ("set-cookie", "session=abcdef"), ("x-organization", "org-123456")]
    with answering(headers=headers, body=echo) as (url, _):
        where = (
            url.replace("http://", "http://me:pass-word-1@")
            + f"/v1/chat/completions?key={KEY}&api-version=2&sig=abcdefgh"
        )
        out = tmp_path / "c.jsonl"
        assert (
            main(["record", where, "-o", str(out), "--request", str(request), "--header", "x-team: team-secret-7"]) == 0
        )
    text = out.read_text()
    for secret in (KEY, "pass-word-1", "abcdefgh", "tok-", "team-secret-7", "session=", "org-123456", "team-secret-7"):
        assert secret not in text and secret not in capsys.readouterr().out
    capture = read_capture(out)
    assert KEY.encode() not in capture.body and len(capture.body) == sum(map(len, echo))  # masked, not shortened
    assert capture.header["request"]["body"]["tools"][1]["parameters"] == {"properties": {"token": {"type": "string"}}}
    assert capture.header["request"]["url"].endswith(f"/v1/chat/completions?key={REMOVED}&api-version=2&sig={REMOVED}")


@given(data=st.data())
def test_a_secret_is_masked_however_the_reads_cut_it(data):
    secret = data.draw(st.text("ab", min_size=6, max_size=9))
    body = data.draw(
        st.lists(st.sampled_from([secret, "a", "b", "ab", secret[:-1], "c"]), max_size=8).map("".join)
    ).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=6)))
    pieces = [body[start:end] for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    secrets = Secrets(secret)
    out = [read for at, piece in enumerate(pieces) for read in secrets.reads(at, piece)] + secrets.rest()
    assert [len(data) for _, data in out] == [len(piece) for piece in pieces] and [at for at, _ in out] == list(
        range(len(pieces))
    )
    masked = b"".join(data for _, data in out)
    assert secret.encode() not in masked
    assert all(kept == was or kept == ord("*") for kept, was in zip(masked, body, strict=True))
    if secret.encode() not in body:
        assert masked == body


REFUSED = {
    "401": (401, [("content-type", "application/json")], json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}."}}).encode(), "answered 401 Unauthorized: Incorrect API key provided: [removed]."),
    "500": (500, [("content-type", "text/plain")], b"oops \x1b[31m\nline two", r"answered 500 Internal Server Error: oops \x1b[31m line two"),
    "html": (200, [("content-type", "text/html")], b"<html><script>alert(1)</script>", "answered text/html, expected text/event-stream (an HTML page)"),
    "json": (200, [("content-type", "application/json")], b'{"choices": []}', "answered application/json, expected text/event-stream"),
    "redirect": (307, [("location", f"http://elsewhere.example/?key={KEY}")], b"", "redirects to http://elsewhere.example/?key=[removed]"),
    "deep json": (429, [("content-type", "application/json")], b"[" * 200_000, "answered 429"),
    "endless": (503, [("content-type", "text/plain")], [b"x" * 60_000] * 10, "answered 503"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_an_answer_that_is_no_stream_is_refused_in_one_line(tmp_path, monkeypatch, capsys, name):
    status, headers, body, said = REFUSED[name]
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with answering(status, headers, body) as (url, _):
        out = tmp_path / "c.jsonl"
        assert main(["record", url, "--api", "openai-chat", "-o", str(out), "--model", "m", "--prompt", "p"]) == 2
    error = capsys.readouterr().err
    assert (
        said in error
        and error.count("\n") == 1
        and error.rstrip("\n").isprintable()
        and KEY not in error
        and len(error) < 500
    )
    assert not out.exists()


def test_no_connection_and_no_answer_are_told_apart(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(Problem, match="no answer from http"):
            record(tmp_path / "c.jsonl", url, "openai-chat", {}, timeout=0.2)
    with pytest.raises(Problem, match="cannot reach http"):
        record(tmp_path / "c.jsonl", url, "openai-chat", {})
    assert not (tmp_path / "c.jsonl").exists()


BAD_COMMANDS = {
    "does not say which API": ["http://127.0.0.1:9/v1", "-o", "{}/c.jsonl", "--model", "m", "--prompt", "p"],
    "expected a name ending in .jsonl": ["http://127.0.0.1:9/v1/messages", "-o", "{}/c.json", "--model", "m", "--prompt", "p"],
    "is there already; --force": ["http://127.0.0.1:9/v1/messages", "-o", "{}/there.jsonl", "--model", "m", "--prompt", "p"],
    "no such folder": ["http://127.0.0.1:9/v1/messages", "-o", "{}/none/c.jsonl", "--model", "m", "--prompt", "p"],
    "give either --request FILE or --prompt": ["http://127.0.0.1:9/v1/messages", "-o", "{}/c.jsonl"],
    "--prompt needs --model": ["http://127.0.0.1:9/v1/messages", "-o", "{}/c.jsonl", "--prompt", "p"],
    "is not JSON": ["http://127.0.0.1:9/v1/messages", "-o", "{}/c.jsonl", "--request", "{}/there.jsonl"],
    "cannot read": ["http://127.0.0.1:9/v1/messages", "-o", "{}/c.jsonl", "--request", "{}/missing.json"],
    "expected 'NAME: VALUE'": ["http://127.0.0.1:9/v1/messages", "-o", "{}/c.jsonl", "--model", "m", "--prompt", "p", "--header", KEY],
    "environment variable NO_SUCH_KEY is not set": ["http://127.0.0.1:9/v1/messages", "-o", "{}/c.jsonl", "--model", "m", "--prompt", "p", "--key-env", "NO_SUCH_KEY"],
    "expected an address such as": ["ftp://127.0.0.1/v1/messages", "-o", "{}/c.jsonl", "--model", "m", "--prompt", "p"],
    "not an address": ["http://[::1/v1/messages", "-o", "{}/c.jsonl", "--model", "m", "--prompt", "p"],
    "--timeout: expected seconds": ["http://127.0.0.1:9/v1/messages", "-o", "{}/c.jsonl", "--model", "m", "--prompt", "p", "--timeout", "0"],
}  # fmt: skip


@pytest.mark.parametrize("reason", BAD_COMMANDS)
def test_a_command_that_cannot_be_done_is_refused_in_one_line(tmp_path, capsys, reason):
    (tmp_path / "there.jsonl").write_text("not json")
    assert main(["record", *[word.replace("{}", str(tmp_path)) for word in BAD_COMMANDS[reason]]]) == 2
    error = capsys.readouterr().err
    assert reason in error and error.count("\n") == 1 and KEY not in error


def test_the_prompt_makes_a_body_that_each_api_takes(tmp_path, capsys):
    from streamkit.lab.paths import DATA

    for path in ("/v1/chat/completions", "/v1/messages", "/v1/responses"):
        with answering(headers=STREAM, body=b"data: {}\n\n") as (url, asked):
            out = tmp_path / f"{path.count('a')}{len(path)}.jsonl"
            assert (
                main(
                    [
                        "record",
                        url + path,
                        "-o",
                        str(out),
                        "--model",
                        "m",
                        "--prompt",
                        "p",
                        "--tools",
                        str(DATA / "tools.json"),
                    ]
                )
                == 0
            )
        body = json.loads(asked[0][2])
        api = {
            "/v1/chat/completions": "openai-chat",
            "/v1/messages": "anthropic-messages",
            "/v1/responses": "openai-responses",
        }[path]
        assert offered(api, body) == json.loads((DATA / "tools.json").read_text("utf-8"))
        assert read_capture(out).tools == offered(api, body)


def test_a_key_does_not_travel_in_the_clear(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    words = ["--api", "openai-chat", "-o", str(tmp_path / "c.jsonl"), "--model", "m", "--prompt", "p"]
    assert main(["record", "http://provider.example/v1", *words]) == 2
    assert "would go to 'provider.example' unencrypted" in capsys.readouterr().err
    for url in (f"ftp://me:{KEY}@host/v1?key={KEY}", f"http://[::1?{KEY}"):
        assert main(["record", url, *words]) == 2
        assert KEY not in capsys.readouterr().err


@pytest.mark.parametrize(("given_url", "made"), [
    ("https://host/v1", "https://host/v1/messages"), ("https://host/v1/", "https://host/v1/messages"), ("https://host", "https://host/v1/messages"),
    ("https://host/v1/messages", "https://host/v1/messages"), ("https://host/proxy/v1?beta=true", "https://host/proxy/v1/messages?beta=true"),
])  # fmt: skip
def test_a_base_address_gets_the_path_of_its_api(given_url, made):
    assert httpx.URL(endpoint(given_url, "anthropic-messages")) == httpx.URL(made)


def test_a_compressed_answer_is_recorded_as_text(tmp_path):
    import gzip

    with answering(headers=[*STREAM, ("content-encoding", "gzip")], body=gzip.compress(b"data: {}\n\n")) as (url, _):
        capture = read_capture(record(tmp_path / "c.jsonl", url, "openai-chat", {}))
    assert capture.body == b"data: {}\n\n"


def test_the_disk_is_full(tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    os.symlink("/dev/full", tmp_path / "c.jsonl")
    with (
        answering(headers=STREAM, body=b"data: {}\n\n") as (url, _),
        pytest.raises(Problem, match=r"cannot write .*No space left"),
    ):
        record(tmp_path / "c.jsonl", url, "openai-chat", {})
