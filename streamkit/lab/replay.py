"""Replay: captures served over loopback HTTP with their own timing, so that a real client can be pointed at them."""

import contextlib
import json
import select
import socket
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from streamkit.lab.apis import PATHS
from streamkit.lab.captures import Capture
from streamkit.lab.loopback import QUEUE, is_ours, length_of
from streamkit.lab.problem import Problem
from streamkit.lab.schedule import Cut, schedule

APIS = {path: api for api, path in PATHS.items()}
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: close with RST instead of FIN


class ReplayServer:
    """Serves captures on 127.0.0.1: a context manager with `.url`, the base address for a client (…/v1).

    Which capture answers: the one whose name is the request's `model`, else the next of the API in order, round and round.
    `speed` 2 is twice as fast, 0 without any waiting; `buffered` is a proxy that holds everything back until the end; `cut`
    breaks each stream off with a reset. Endings are reproduced: `disconnect` is a reset, `timeout` is silence, and so is
    `cancel`, since there it was the client that went. `on_request(text)` is told one line a request.
    Raises Problem where the port is in use.
    """

    def __init__(
        self,
        captures: list[Capture],
        *,
        port: int = 0,
        speed: float = 1.0,
        buffered: bool = False,
        cut: Cut | None = None,
        on_request=None,
    ):
        if not speed >= 0:
            raise Problem(f"--speed: expected a number of 0 or more, got {speed}")
        self.captures = captures
        self.speed, self.buffered, self.cut = speed, buffered, cut
        self.on_request = on_request or (lambda text: None)
        self.closing = threading.Event()
        self._next: dict[str, int] = {}
        self._lock = threading.Lock()
        try:
            self._server = _Server(("127.0.0.1", port), _Handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise Problem(f"cannot listen on 127.0.0.1:{port}: {reason}; choose another with --port") from None
        self._server.replay = self
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"

    def choose(self, api: str, model: str) -> Capture:
        """The capture for a request. Raises LookupError with a line for the client."""
        named = next((capture for capture in self.captures if capture.name == model), None)
        if named and named.api != api:
            raise LookupError(f"the capture {named.name} speaks {named.api}, this path {api}")
        mine = [capture for capture in self.captures if capture.api == api]
        if not named and not mine:
            raise LookupError(f"none of the captures served here speaks {api}")
        with self._lock:
            place = self._next.get(api, 0)
            if not named:
                self._next[api] = place + 1
        return named or mine[place % len(mine)]

    def __enter__(self) -> "ReplayServer":
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = QUEUE
    allow_reuse_address = False  # two servers on one port would share the requests
    replay: ReplayServer

    def handle_error(self, request, client_address) -> None:
        """A client that goes away is no fault of the server."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def log_message(self, *_) -> None:
        """Requests are told to `on_request`."""

    def do_GET(self) -> None:
        if self._host_is_ours():
            if self.path.partition("?")[0].removeprefix("/v1") == "/models":
                models = [
                    {"id": capture.name, "object": "model", "owned_by": capture.api}
                    for capture in self.server.replay.captures
                ]
                self._json(200, {"object": "list", "data": models})
            else:
                self._error(404, f"POST to one of {', '.join('/v1' + path for path in APIS)}, or GET /v1/models")

    def do_POST(self) -> None:
        replay = self.server.replay
        if not self._host_is_ours():
            return
        api = APIS.get(self.path.partition("?")[0].removeprefix("/v1"))
        try:
            body = json.loads(self.rfile.read(length_of(self)))
            model = body.get("model") if isinstance(body, dict) else None
        except (ValueError, RecursionError):
            self.close_connection = True
            return self._error(400, "expected a JSON body with its content-length")
        if api is None:
            return self._error(404, f"no such path; known: {', '.join('/v1' + path for path in APIS)}")
        try:
            capture = replay.choose(api, str(model))
        except LookupError as error:
            return self._error(404, str(error))
        reads, ended_at, ending = schedule(capture, replay.buffered, replay.cut)
        replay.on_request(f"{self.path.partition('?')[0]!a} -> {capture.name} ({ended_at:.1f} s, {ending})")
        with contextlib.suppress(OSError):
            self._stream(capture, reads, ended_at, ending)

    def _stream(self, capture: Capture, reads, ended_at: float, ending: str) -> None:
        began = time.monotonic()
        self.close_connection = True
        if reads:
            self._wait(began, reads[0][0])
        self.send_response_only(capture.header.get("status") or 200)
        kept = {"content-type": "text/event-stream"} | (capture.header.get("headers") or {})
        chunked = self.request_version != "HTTP/1.0"  # such a client knows no chunks, and a proxy such as nginx is one
        for name, value in (kept | {"transfer-encoding": "chunked", "connection": "close"}).items():
            if not chunked and name.lower() == "transfer-encoding":
                continue
            if "\r" not in value and "\n" not in value:
                self.send_header(name, value)
        self.end_headers()
        for at, data in reads:
            if not self._wait(began, at):
                return
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data) if chunked else data)
        if self._wait(began, ended_at) and ending == "clean":
            self.wfile.write(b"0\r\n\r\n" if chunked else b"")
        elif ending == "disconnect":
            time.sleep(0.05)  # what was sent is read before the reset
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            self.connection.close()
        else:
            while not self.server.replay.closing.is_set() and not select.select([self.connection], [], [], 0.1)[0]:
                pass  # silence, until the client has had enough

    def _wait(self, began: float, at: float) -> bool:
        """Until it is `at` seconds after the request; False where the server closes."""
        speed = self.server.replay.speed
        left = began + at / speed - time.monotonic() if speed else 0
        return not self.server.replay.closing.wait(max(left, 0))

    def _host_is_ours(self) -> bool:
        if is_ours(self):
            return True
        self.close_connection = True
        self._error(403, "this server answers to 127.0.0.1 and localhost only")
        return False

    def _error(self, status: int, message: str) -> None:
        self._json(status, {"error": {"type": "invalid_request_error", "message": message}})

    def _json(self, status: int, value: dict) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(data)
