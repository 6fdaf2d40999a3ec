"""Replay: the captures over real HTTP, in their own time, and the official clients reading them."""

import json
import socket
import subprocess
import sys
import time

import anthropic
import httpx
import openai
import pytest

from streamkit.__main__ import main
from streamkit.lab.captures import find_captures, load, read_capture, write_capture
from streamkit.lab.problem import Problem
from streamkit.lab.replay import ReplayServer
from streamkit.lab.schedule import Cut, schedule

CAPTURES = [read_capture(path) for path in find_captures()]
COMPLETE = [capture for capture in CAPTURES if capture.turn().verdict == "complete"]
ASK = [{"role": "user", "content": "the answer is recorded"}]

# Where a client cannot read what the package reads, and why. Each is checked to be so still.
REFUSES_HALF_A_PAIR = (
    "the anthropic client parses arguments itself, strictly, and raises; the package keeps the text: unparseable"
)
NEEDS_OUTPUT_INDEX = "the local server sends no output_index, which the openai client's .stream() counts blocks by; its final snapshot is read instead"


@pytest.fixture(scope="module")
def server():
    with ReplayServer(CAPTURES, speed=0) as server:
        yield server


@pytest.fixture(scope="module")
def openai_client(server):
    return openai.OpenAI(base_url=server.url, api_key="none", max_retries=0)


@pytest.fixture(scope="module")
def anthropic_client(server):
    return anthropic.Anthropic(base_url=server.url.removesuffix("/v1"), api_key="none", max_retries=0)


def of(api):
    return pytest.mark.parametrize("capture", [c for c in COMPLETE if c.api == api], ids=lambda capture: capture.name)


@of("openai-chat")
def test_the_openai_client_reads_chat_as_we_do(openai_client, capture):
    with openai_client.chat.completions.stream(model=capture.name, messages=ASK) as stream:
        message = stream.get_final_completion().choices[0].message
    turn = capture.turn()
    assert (message.content or "") == turn.text
    assert [(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or []] == [
        (call.id, call.name, call.text) for call in turn.calls
    ]


@of("openai-responses")
def test_the_openai_client_reads_responses_as_we_do(openai_client, capture):
    with (
        pytest.raises((TypeError, AttributeError)),
        openai_client.responses.stream(model=capture.name, input="x") as stream,
    ):
        stream.get_final_response()  # NEEDS_OUTPUT_INDEX
    *_, last = openai_client.responses.create(model=capture.name, input="x", stream=True)
    output, turn = last.response.output, capture.turn()
    assert "".join(part.text for item in output if item.type == "message" for part in item.content) == turn.text
    assert [(item.call_id, item.name, item.arguments) for item in output if item.type == "function_call"] == [
        (call.id, call.name, call.text) for call in turn.calls
    ]


@of("anthropic-messages")
def test_the_anthropic_client_reads_messages_as_we_do(anthropic_client, capture):
    turn = capture.turn()

    def read():
        with anthropic_client.messages.stream(model=capture.name, max_tokens=9, messages=ASK) as stream:
            return stream.get_final_message()

    if capture.name == "messages-half-a-pair":  # REFUSES_HALF_A_PAIR
        assert turn.calls[0].outcome == "unparseable"
        with pytest.raises(ValueError, match="lone leading surrogate"):
            read()
        return
    message = read()
    assert "".join(block.text for block in message.content if block.type == "text") == turn.text
    assert [(block.id, block.name, block.input) for block in message.content if block.type == "tool_use"] == [
        (call.id, call.name, json.loads(call.text or "{}")) for call in turn.calls
    ]


def test_the_clients_see_each_broken_ending_as_an_error(openai_client, anthropic_client):
    """A reset and a silence reach the client as such; the names differ by client and by version."""
    hasty = anthropic_client.with_options(timeout=0.3)
    broken = {
        "connection": lambda: openai_client.chat.completions.create(
            model="chat-killed-in-second-call", messages=ASK, stream=True
        ),
        "read": lambda: anthropic_client.messages.create(
            model="messages-killed-in-second-call", messages=ASK, stream=True, max_tokens=9
        ),
        "timeout": lambda: hasty.messages.create(
            model="messages-timeout-in-arguments", messages=ASK, stream=True, max_tokens=9
        ),
    }
    for word, ask in broken.items():
        with pytest.raises(Exception) as caught:
            list(ask())
        names = " ".join(kind.__name__ for kind in type(caught.value).__mro__).lower()
        assert word in names or "transport" in names


def post(server, path, **more):
    return httpx.post(server.url.removesuffix("/v1") + path, json={"model": "x"}, trust_env=False, **more)


def test_the_model_names_a_capture_else_the_next_of_the_api_answers():
    mine = [load("chat-query-alone"), load("messages-query-alone"), load("chat-plain-text")]
    with ReplayServer(mine, speed=0) as server:
        bodies = [post(server, "/v1/chat/completions").content for _ in range(3)]
        assert bodies == [mine[0].body, mine[2].body, mine[0].body]
        named = httpx.post(server.url + "/chat/completions", json={"model": "chat-plain-text"}, trust_env=False)
        assert named.content == mine[2].body
        assert post(server, "/chat/completions").content == mine[2].body  # the named one did not move the others on
        assert [model["id"] for model in httpx.get(server.url + "/models", trust_env=False).json()["data"]] == [
            c.name for c in mine
        ]


def test_its_own_timing_is_kept_and_speed_divides_it():
    capture = load("responses-query-alone")
    for speed in (1.0, 4.0):
        with ReplayServer([capture], speed=speed) as server, httpx.Client(trust_env=False) as client:
            began = time.monotonic()
            with client.stream("POST", server.url + "/responses", json={}) as response:
                times = [time.monotonic() - began for _ in response.iter_raw()]
        due = [read.at / speed for read in capture.reads]
        assert len(times) == len(due)
        assert all(came >= planned - 0.01 for came, planned in zip(times, due, strict=True))  # never before its time


def test_a_buffering_proxy_sends_all_at_the_end():
    capture = load("messages-query-alone")
    reads, ended_at, ending = schedule(capture, buffered=True)
    assert reads == [(capture.ended_at, capture.body)] and (ended_at, ending) == (capture.ended_at, "clean")
    with ReplayServer([capture], speed=10, buffered=True) as server, httpx.Client(trust_env=False) as client:
        began = time.monotonic()
        with client.stream("POST", server.url + "/messages", json={}) as response:
            first = next(response.iter_raw())
        assert first == capture.body and time.monotonic() - began >= capture.ended_at / 10 - 0.01


@pytest.mark.parametrize("size", [0, 1, 999, 2500])
def test_a_cut_in_bytes_is_exact(size):
    capture = load("chat-query-alone")
    reads, ended_at, ending = schedule(capture, cut=Cut(bytes=size))
    assert b"".join(data for _, data in reads) == capture.body[:size] and ending == "disconnect"
    assert ended_at <= capture.ended_at
    received = b""
    with ReplayServer([capture], speed=0, cut=Cut(bytes=size)) as server, httpx.Client(trust_env=False) as client:  # noqa: SIM117
        with (
            pytest.raises(httpx.NetworkError),
            client.stream("POST", server.url + "/chat/completions", json={}) as response,
        ):
            for chunk in response.iter_raw():
                received += chunk
    assert received == capture.body[:size]


def test_a_cut_in_seconds_keeps_what_came_by_then_and_one_behind_the_end_cuts_nothing():
    capture = load("chat-two-searches")
    middle = capture.reads[20].at
    reads, ended_at, ending = schedule(capture, cut=Cut(seconds=middle))
    assert (len(reads), ended_at, ending) == (21, middle, "disconnect")
    whole = ([tuple(read) for read in capture.reads], capture.ended_at, "clean")
    assert schedule(capture, cut=Cut(seconds=99)) == schedule(capture, cut=Cut(bytes=10**9)) == whole


def test_silence_is_silence_until_the_client_leaves():
    capture = load("messages-timeout-in-arguments")
    received = []
    with ReplayServer([capture], speed=0) as server, httpx.Client(timeout=0.4, trust_env=False) as client:  # noqa: SIM117
        with pytest.raises(httpx.ReadTimeout), client.stream("POST", server.url + "/messages", json={}) as response:
            received += response.iter_raw()
    assert b"".join(received) == b"" or capture.body.startswith(b"".join(received))


def raw(server, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_only_this_machine_and_only_under_its_own_name(server):
    with socket.socket() as other:
        other.settimeout(0.5)
        own = socket.gethostbyname(socket.gethostname())
        if not own.startswith("127."):
            assert other.connect_ex((own, server.port)) != 0
    for host in ("127.0.0.1", f"127.0.0.1:{server.port}", f"localhost:{server.port}"):
        assert raw(server, f"GET /v1/models HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n".encode()).startswith(
            b"HTTP/1.1 200"
        )
    for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1.evil.example", ""):
        for request in ("GET /v1/models", "POST /v1/messages"):
            said = raw(server, f"{request} HTTP/1.1\r\nhost: {host}\r\ncontent-length: 2\r\n\r\n{{}}".encode())
            assert said.startswith(b"HTTP/1.1 403") and b"data:" not in said


def test_a_bad_request_gets_a_plain_word(server):
    cases = [
        (b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\n\r\n", b"400", b"content-length"),
        (b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 3\r\n\r\nabc", b"400", b"JSON"),
        (b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n", b"400", b"content-length"),
        (b"POST /v1/else HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}", b"404", b"/v1/messages"),
        (b"GET /v1/messages HTTP/1.1\r\nhost: localhost\r\n\r\n", b"404", b"POST"),
    ]
    for request, status, word in cases:
        said = raw(server, request)
        assert said.split(b" ")[1] == status and word in said
    wrong = httpx.post(server.url + "/messages", json={"model": "chat-plain-text"}, trust_env=False)
    assert wrong.status_code == 404 and "speaks openai-chat" in wrong.json()["error"]["message"]


def test_a_port_in_use_is_said(capsys):
    with ReplayServer([load("chat-plain-text")]) as server:
        with pytest.raises(Problem, match=f"cannot listen on 127.0.0.1:{server.port}"):
            ReplayServer([], port=server.port)
        assert main(["replay", "chat-plain-text", "--port", str(server.port)]) == 2
    error = capsys.readouterr().err
    assert "--port" in error and error.count("\n") == 1


def test_a_cut_needs_its_unit():
    assert (Cut.parse("1.5s"), Cut.parse("5b")) == (Cut(seconds=1.5), Cut(bytes=5))
    with pytest.raises(Problem, match=r"expected seconds as 1[.]5s or bytes as 2000b, got '5'"):
        Cut.parse("5")


BAD_COMMANDS = {
    "expected seconds as 1.5s or bytes as 2000b, got 'half'": ["chat-plain-text", "--cut-at", "half"],
    "--speed: expected a number": ["chat-plain-text", "--speed", "-1"],
    "no such file": ["missing/", "--port", "0"],
    "no captures in this folder": ["{}"],
    "cannot be replayed": ["{}/gemini.jsonl"],
    "line 2: not JSON": ["{}/broken.jsonl"],
    "cannot listen on 127.0.0.1:99999": ["chat-plain-text", "--port", "99999"],
}


@pytest.mark.parametrize("reason", BAD_COMMANDS)
def test_a_command_that_cannot_be_done_is_refused_in_one_line(tmp_path, capsys, reason):
    if "/" in BAD_COMMANDS[reason][0][2:]:
        write_capture(tmp_path / "gemini.jsonl", {"api": "gemini"}, [], 0, "clean")
        (tmp_path / "broken.jsonl").write_text('{"format":"streamkit-capture","version":1,"api":"openai-chat"}\nx\n')
    assert main(["replay", *[word.replace("{}", str(tmp_path)) for word in BAD_COMMANDS[reason]]]) == 2
    error = capsys.readouterr().err
    assert reason in error and error.count("\n") == 1


def test_the_command_serves_until_ctrl_c():
    command = [sys.executable, "-u", "-m", "streamkit", "replay", "messages-plain-text", "--port", "0", "--speed", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        url = process.stdout.readline().split(" at ")[1].split()[0]
        assert process.stdout.readline().startswith(f"  POST {url}/messages  1 of them")
        assert (
            httpx.post(url + "/messages", json={"model": "\x1b[31m"}, trust_env=False).content
            == load("messages-plain-text").body
        )
        assert process.stdout.readline().startswith("'/v1/messages' -> messages-plain-text")
    finally:
        process.send_signal(2)
    assert process.wait(10) == 130


def test_a_client_of_http_1_0_gets_no_chunks(server):
    """nginx asks like this unless it is told otherwise: the body is what comes until the connection closes."""
    capture = load("chat-query-alone")
    body = json.dumps({"model": capture.name}).encode()
    with socket.create_connection(("127.0.0.1", server.port), 10) as connection:
        head = f"POST /v1/chat/completions HTTP/1.0\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)
        head, _, got = b"".join(iter(lambda: connection.recv(65536), b"")).partition(b"\r\n\r\n")
    assert b"transfer-encoding" not in head.lower() and b"text/event-stream" in head
    assert got == capture.body
