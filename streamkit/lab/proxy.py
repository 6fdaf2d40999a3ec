"""A small reverse proxy that holds a response back until a buffer is full, as a front server does that was not told to stream.

For trying a client behind one: loopback only, standard library only. `held_back` says what it does to arrival times, without a socket.
"""

import contextlib
import http.client
import socket
import threading
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from streamkit.lab.loopback import QUEUE, is_ours, length_of
from streamkit.lab.problem import Problem

SIZE = 4096  # bytes: a memory page, nginx's default
LOOPBACK = ("127.0.0.1", "localhost", "::1")
HOP = {
    "connection",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "proxy-connection",
    "content-length",
}
GONE = (ConnectionError, TimeoutError)


class Buffer:
    """Bytes in, full buffers of `size` bytes out; the last, not full, at the end."""

    def __init__(self, size: int = SIZE):
        self.size = size
        self._held = bytearray()

    def feed(self, data: bytes) -> bytes:
        """What may go on: as many whole buffers as are full."""
        self._held += data
        full = len(self._held) // self.size * self.size
        sent = bytes(self._held[:full])
        del self._held[:full]
        return sent

    def rest(self) -> bytes:
        sent, self._held = bytes(self._held), bytearray()
        return sent


def held_back(reads: Iterable, ended_at: float, size: int = SIZE) -> list[tuple[float, bytes]]:
    """The reads, (seconds, bytes), as a client behind a buffer of `size` bytes would get them; the last when the stream ended."""
    buffer = Buffer(size)
    late = [(at, sent) for at, data in reads if (sent := buffer.feed(data))]
    rest = buffer.rest()
    return [*late, (ended_at, rest)] if rest else late


class Proxy:
    """A proxy on a free port of 127.0.0.1, in a thread, as a context manager; `url` is its address.

    `upstream`: http://127.0.0.1:PORT. `buffering`: hold back `size` bytes at a time. `honour`: let a response that carries
    `X-Accel-Buffering: no` through as it comes, as nginx does. Raises Problem for an upstream that is not on this machine.
    """

    def __init__(self, upstream: str, *, buffering: bool = True, size: int = SIZE, honour: bool = True, port: int = 0):
        where = urlsplit(upstream)
        if where.scheme != "http" or where.hostname not in LOOPBACK or not where.port:
            raise Problem(f"expected an upstream such as http://127.0.0.1:8000, got {upstream!a}")
        handler = type("Handler", (_Handler,), {"upstream": (where.hostname, where.port)})
        handler.size, handler.honour = size if buffering else None, honour
        try:
            self.server = _Server(("127.0.0.1", port), handler)
        except OSError as error:
            raise Problem(f"cannot listen on 127.0.0.1:{port}: {error.strerror}") from None
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self) -> "Proxy":
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self.server.shutdown()
        self.server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = QUEUE
    block_on_close = False  # a stream that nobody reads to its end must not hold the teacher's notebook

    def handle_error(self, request, client_address):
        """A client that leaves in the middle of a stream is no error."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    upstream: tuple[str, int]
    size: int | None
    honour: bool

    def do_GET(self):
        self._forward()

    def do_POST(self):
        self._forward()

    def log_message(self, *_):
        """Silent: a request a line would be printed into the learner's notebook."""

    def _forward(self) -> None:
        if not is_ours(self):  # the upstream is told another Host, so it could not see this itself
            self.close_connection = True
            return self.send_error(403, explain="this proxy answers to 127.0.0.1 and localhost only")
        try:
            body = self.rfile.read(length_of(self)) or None
        except ValueError as error:
            self.close_connection = True
            return self.send_error(400, explain=str(error))
        sent = {name: value for name, value in self.headers.items() if name.lower() not in HOP | {"host"}}
        with contextlib.closing(http.client.HTTPConnection(*self.upstream, timeout=60)) as upstream:
            try:
                upstream.request(self.command, self.path, body, sent)
                response = upstream.getresponse()
            except (OSError, http.client.HTTPException) as error:
                return self.send_error(502, explain=f"no answer from the upstream: {type(error).__name__}")
            with contextlib.suppress(*GONE):
                self._answer(response)

    def _answer(self, response: http.client.HTTPResponse) -> None:
        chunked = self.request_version == "HTTP/1.1"
        self.send_response(response.status, response.reason)
        for name, value in response.headers.items():
            if name.lower() not in HOP | {"server", "date", "x-accel-buffering"}:  # the last is for the proxy alone
                self.send_header(name, value)
        self.send_header(*(("transfer-encoding", "chunked") if chunked else ("connection", "close")))
        self.end_headers()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        passed = self.honour and response.headers.get("x-accel-buffering", "").strip().lower() == "no"
        buffer = Buffer(1 if passed or not self.size else self.size)
        self.close_connection = True
        whole = False
        try:
            while data := response.read1(65536):
                self._send(buffer.feed(data), chunked)
            whole = True
        except (http.client.HTTPException, OSError):
            pass  # the upstream broke off: what came goes on, and no last chunk, so that the client sees it was not the end
        self._send(buffer.rest(), chunked)
        if whole and chunked:
            self.wfile.write(b"0\r\n\r\n")
            self.close_connection = False

    def _send(self, data: bytes, chunked: bool) -> None:
        if data:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data) if chunked else data)
