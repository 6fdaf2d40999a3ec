"""A look-up service on loopback that takes its time: a cost to prepare a query, and a small one to answer it.

For measuring what warming saves, with a real connection and a real wait.
"""

import http.client
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from streamkit.lab.loopback import QUEUE, is_ours, length_of


class Lookup:
    """`with Lookup(prepare=0.3) as service:` — `service.prepare(query)` gives a prepared query, `service.ask(prepared)` its answer.

    `prepare`: seconds to prepare (an index to load, a plan to make); the answer comes at once. Bound to 127.0.0.1.
    """

    def __init__(self, prepare: float = 0.3):
        self.cost = prepare
        self._server = _Server(("127.0.0.1", 0), _handler(prepare))
        self.port = self._server.server_address[1]

    def __enter__(self) -> "Lookup":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self._server.shutdown()
        self._server.server_close()

    def prepare(self, query: str) -> str:
        """Open a connection and prepare a query: no effect and no answer, only time."""
        return self._get("prepare", query)

    def ask(self, query: str, prepared: str | None = None) -> str:
        """The answer; without a prepared query that cost comes first."""
        return self._get("ask", prepared if prepared is not None else self.prepare(query))

    def _get(self, what: str, text: str) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("POST", f"/{what}", json.dumps(text))
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = QUEUE


def _handler(cost: float) -> type:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            if not is_ours(self):
                return self.send_error(403)
            try:
                text = json.loads(self.rfile.read(length_of(self)))
            except (ValueError, RecursionError):
                return self.send_error(400)
            if self.path == "/prepare":
                time.sleep(cost)
            body = json.dumps(text if self.path == "/prepare" else f"answer to {text}").encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_) -> None:
            pass

    return Handler
