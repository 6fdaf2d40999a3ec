"""The small proxy: what it holds back, what it lets through, and that nothing is lost in it."""

import csv
import http.client
import importlib.util
import itertools
import threading
import time
from collections import Counter
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamkit.lab.captures import load
from streamkit.lab.first_sight import sights
from streamkit.lab.paths import DATA
from streamkit.lab.problem import Problem
from streamkit.lab.proxy import Buffer, Proxy, held_back
from streamkit.lab.replay import ReplayServer

WAIT = 10  # seconds, after which a test is given up; nothing here should take one


@given(st.lists(st.binary(max_size=40)), st.integers(1, 50))
def test_a_buffer_loses_nothing_and_sends_full_ones(pieces, size):
    buffer = Buffer(size)
    sent = [buffer.feed(piece) for piece in pieces]
    assert all(len(part) % size == 0 for part in sent)
    rest = buffer.rest()
    assert len(rest) < size
    assert b"".join([*sent, rest]) == b"".join(pieces)


@given(st.lists(st.tuples(st.floats(0, 9), st.binary(min_size=1, max_size=40))), st.integers(1, 50))
def test_held_back_reads_come_no_earlier_and_only_at_the_times_of_reads_or_the_end(reads, size):
    reads.sort(key=lambda read: read[0])
    late = held_back(reads, 10.0, size)
    assert b"".join(data for _, data in late) == b"".join(data for _, data in reads)
    assert {at for at, _ in late} <= {at for at, _ in reads} | {10.0}
    for bytes_seen, (at, _) in zip(itertools.accumulate(len(data) for _, data in late), late, strict=True):
        arrived = sum(len(data) for when, data in reads if when <= at)
        assert bytes_seen <= arrived


def test_a_small_response_comes_whole_at_its_end():
    assert held_back([(0.1, b"a"), (0.5, b"b")], 0.9) == [(0.9, b"ab")]


class Step:
    """An upstream that sends `first`, waits until it is told to go on, and sends `then`; `cut`: it breaks off instead of ending."""

    def __init__(self, first, then=b"", headers=(), cut=False):
        self.go, self.seen = threading.Event(), {}
        step = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                step.seen |= {"path": self.path, "body": body, "headers": dict(self.headers)}
                self.send_response(200)
                for name, value in [("content-type", "text/event-stream"), ("transfer-encoding", "chunked"), *headers]:
                    self.send_header(name, value)
                self.end_headers()
                self.chunk(first)
                step.go.wait(WAIT)
                self.chunk(then)
                if not cut:
                    self.wfile.write(b"0\r\n\r\n")
                self.close_connection = True

            do_GET = do_POST

            def chunk(self, data):
                if data:
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.go.set()
        self.server.shutdown()
        self.server.server_close()


def ask(url, timeout=WAIT):
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=timeout)
    connection.request(
        "POST", "/v1/chat/completions?x=1", b'{"stream": true}', {"authorization": "Bearer k", "te": "trailers"}
    )
    return connection.getresponse()


def first_before_the_rest(settings, headers=()):
    """Does the first piece reach a client while the upstream still waits to send the second?"""
    with Step(b"first", b"second", headers) as upstream, Proxy(upstream.url, **settings) as proxy:
        try:
            response = ask(proxy.url, timeout=0.4)
            early = response.read1(100)
        except TimeoutError:
            return False
        upstream.go.set()
        assert early + response.read() == b"firstsecond"
        return True


NO = (("X-Accel-Buffering", "no"),)


@pytest.mark.parametrize(
    ("settings", "headers", "early"),
    [
        ({"buffering": True}, (), False),
        ({"buffering": False}, (), True),
        ({"buffering": True}, NO, True),
        ({"buffering": True, "honour": False}, NO, False),
        ({"buffering": True}, (("X-Accel-Buffering", "yes"),), False),
        ({"buffering": True, "size": 5}, (), True),
    ],
)
def test_what_is_held_back(settings, headers, early):
    assert first_before_the_rest(settings, headers) is early


def test_the_request_and_the_body_go_through_whole():
    with Step(b"x" * 5000, b"y" * 5000, NO) as upstream, Proxy(upstream.url, honour=False) as proxy:
        upstream.go.set()
        response = ask(proxy.url)
        assert response.read() == b"x" * 5000 + b"y" * 5000
        assert response.headers["content-type"] == "text/event-stream"
        assert "x-accel-buffering" not in response.headers
    assert upstream.seen["path"] == "/v1/chat/completions?x=1"
    assert upstream.seen["body"] == b'{"stream": true}'
    names = {name.lower() for name in upstream.seen["headers"]}
    assert "authorization" in names and "te" not in names
    assert upstream.seen["headers"]["Host"] == upstream.url.removeprefix("http://")


def test_an_upstream_that_breaks_off_is_no_clean_end():
    with Step(b"half", cut=True) as upstream, Proxy(upstream.url) as proxy:
        upstream.go.set()
        response = ask(proxy.url)
        with pytest.raises(http.client.IncompleteRead) as caught:
            response.read()
        assert caught.value.partial == b"half"


def test_a_client_that_leaves_stops_nobody():
    with Step(b"first", b"second" * 1000) as upstream, Proxy(upstream.url, buffering=False) as proxy:
        response = ask(proxy.url)
        assert response.read1(5) == b"first"
        response.close()
        upstream.go.set()
        assert ask(proxy.url).read().startswith(b"first")


def test_no_upstream_is_one_clear_answer():
    with Step(b"") as upstream:
        gone = upstream.url
    with Proxy(gone) as proxy:
        begun = time.monotonic()
        response = ask(proxy.url)
        assert response.status == 502
        assert b"no answer from the upstream" in response.read()
        assert time.monotonic() - begun < WAIT


@pytest.mark.parametrize(
    "upstream", ["https://127.0.0.1:1", "http://example.org:80", "http://127.0.0.1", "127.0.0.1:8000"]
)
def test_only_this_machine_is_an_upstream(upstream):
    with pytest.raises(Problem, match=r"http://127\.0\.0\.1:8000"):
        Proxy(upstream)


def test_a_port_in_use_is_one_clear_line():
    with Step(b"") as upstream, Proxy(upstream.url) as proxy:
        port = int(proxy.url.rpartition(":")[2])
        with pytest.raises(Problem, match=f"cannot listen on 127.0.0.1:{port}"):
            Proxy(upstream.url, port=port)


# Real nginx, and the table of what it did.


@pytest.fixture(scope="module")
def measure():
    """data/recording/measure_proxy.py as a module."""
    path = DATA / "recording" / "measure_proxy.py"
    spec = importlib.util.spec_from_file_location("measure_proxy", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HELD = {"streamkit.lab.proxy", "nginx as it is", "X-Accel-Buffering: no, ignored"}
KEPT_WHOLE = {"gzip on, proxy_http_version 1.1"}


@pytest.fixture(scope="module")
def table(measure):
    with (DATA / "proxy.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_table_has_every_way_and_capture_once(measure, table):
    assert tuple(table[0]) == measure.COLUMNS
    ways = {measure.DIRECT, measure.OURS, *measure.LOCATIONS}
    assert Counter((row["way"], row["capture"]) for row in table) == Counter(itertools.product(ways, measure.CAPTURES))


def test_the_table_says_what_the_chapter_says(measure, table):
    seconds = {(row["capture"], row["way"]): (float(row["announced"]), float(row["ended"])) for row in table}
    for (capture, way), (announced, ended) in seconds.items():
        direct = seconds[capture, measure.DIRECT][0]
        if way in KEPT_WHOLE:
            assert ended - announced < 0.02, (capture, way)
        elif way in HELD:
            assert announced > direct + 0.1, (capture, way)
        else:
            assert abs(announced - direct) < 0.05, (capture, way)


def test_the_table_is_of_the_captures_as_they_are(table):
    for row in table:
        capture = load(row["capture"])
        assert (row["api"], int(row["bytes"])) == (capture.api, len(capture.body))
        if row["way"] == "no proxy":  # replayed in its own time
            assert float(row["announced"]) == pytest.approx(next(sights([capture])).announced, abs=0.1)


def test_holding_back_a_page_is_what_nginx_does(table):
    """What the chart computes for a proxy is close to what nginx was measured to do: its head shares the first buffer."""
    for row in table:
        if row["way"] == "nginx as it is":
            computed = next(sights([load(row["capture"])])).held_back
            assert float(row["announced"]) == pytest.approx(computed, abs=0.1)


def test_nginx_does_so_here_too(measure):
    try:
        nginx = measure.program()
    except Problem as reason:
        pytest.skip(str(reason))
    capture = load("messages-query-alone")
    silent = replace(capture, header=capture.header | {"headers": {}})
    with ReplayServer([silent], speed=4) as server, measure.running(nginx, server.port) as url:
        reads = {}
        for number, way in enumerate(measure.LOCATIONS):
            if way in ("nginx as it is", "proxy_buffering off"):
                got = measure.ask(f"{url}/{number}/v1", silent)
                assert got.body == capture.body
                reads[way] = len(got.reads)
    assert reads["nginx as it is"] == 1 and reads["proxy_buffering off"] > 5, reads
