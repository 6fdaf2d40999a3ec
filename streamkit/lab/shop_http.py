"""The shop's HTTP, both sides of it: a handler that trusts no request, and the client that a tool calls."""

import json
import re
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from typing import Any

import httpx

from streamkit.claims import NotDone
from streamkit.key import Unkeyable
from streamkit.store import StoreError
from streamkit.strict import NotStrict, strict

LONGEST = 1_000_000  # bytes of a request's body
KEY = re.compile(r"[A-Za-z0-9._:-]{1,255}")


class Refused(Exception):
    """A request that did nothing: HTTP status, and a reason in one line."""


class ShopClient:
    """What a tool calls. `timeout`: seconds to wait for an answer.

    Each method raises NotDone where the shop certainly did nothing (no connection, or a 4xx); after any other error of httpx
    (a time-out, a connection that broke) the effect may be there.
    """

    def __init__(self, url: str, timeout: float = 5.0):
        self._http = httpx.Client(base_url=url, timeout=timeout, trust_env=False)  # no proxy in between
        self.close = self._http.close

    def create(self, kind: str, body: dict, key: str | None = None) -> dict:
        """One effect: `kind` is "orders", "refunds" or "tickets"; `key` goes as `Idempotency-Key`. The answer has its id."""
        return self._send("POST", f"/{kind}", json=body, headers={"Idempotency-Key": key} if key else {})

    def ask(self, key: str) -> dict:
        """What happened under a key: {"state": "done", "answer": …}, or "void", "unknown", "not_kept"."""
        return self._send("GET", f"/keys/{key}")

    def void(self, key: str) -> dict:
        """As `ask`; and what was "unknown" is "void" from now on: a request with that key is refused."""
        return self._send("POST", f"/keys/{key}/void", json={})

    def counts(self) -> dict[str, int]:
        """How many effects of each kind there are."""
        return self._send("GET", "/effects")

    def _send(self, method: str, place: str, **more: Any) -> Any:
        try:
            response = self._http.request(method, place, **more)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise NotDone(f"expected a shop at {self._http.base_url}, but nobody answers there") from error
        if response.is_client_error:
            raise NotDone(f"{method} {place}: the shop refused it with {response.status_code}: {response.text[:300]}")
        return response.raise_for_status().json()


class Handler(BaseHTTPRequestHandler):
    """One request to a `shop` (a streamkit.lab.shop.Shop): checked, done, answered in JSON."""

    shop: Any
    timeout = 30  # seconds a silent client may keep a thread

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def _get(self, place: list[str]) -> tuple:
        if place == ["effects"]:
            return 200, self.shop.counts()
        if len(place) == 2 and place[0] == "keys":
            return 200, self.shop.ask(_checked(place[1]))
        return 200, self.shop.effects(place[0] if len(place) == 1 else "")

    def _post(self, place: list[str]) -> tuple | None:
        body = self._body()
        if len(place) == 3 and place[0] == "keys" and place[2] == "void":
            return 200, self.shop.ask(_checked(place[1]), void=True)
        key = self.headers.get("Idempotency-Key")
        key = None if key is None else _checked(key.strip().strip('"'))
        answer, replayed = self.shop.create(place[0] if len(place) == 1 else "", body, key)
        self.shop.stopping.wait(self.shop.delay)
        if self.shop.lose > 0:
            self.shop.lose -= 1
            return None
        return (200, answer, ("Idempotent-Replayed", "true")) if replayed else (201, answer)

    def _body(self) -> dict:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or len(length) > 9 or int(length) > LONGEST:
            raise Refused(413, f"expected a Content-Length of at most {LONGEST} bytes, got {length[:20] or 'none'}")
        text = self.rfile.read(int(length))
        if self.headers.get_content_type() != "application/json":  # which a web page cannot send here unasked
            raise Refused(415, f"expected application/json, got {self.headers.get_content_type()}")
        try:
            body = strict(text.decode("utf-8"))
        except (NotStrict, UnicodeDecodeError) as error:
            raise Refused(400, f"expected a JSON object, got {error}") from None
        if not isinstance(body, dict):
            raise Refused(400, f"expected a JSON object, got {type(body).__name__}")
        return body

    def _answer(self, work) -> None:
        try:
            if self.headers.get("Host") not in (f"127.0.0.1:{self.shop.port}", f"localhost:{self.shop.port}"):
                raise Refused(421, "expected a request to 127.0.0.1: this shop serves its own machine alone")
            said = work(self.path.strip("/").split("/"))
        except Refused as refused:
            said = refused.args[0], {"error": refused.args[1]}
        except Unkeyable as error:
            said = 400, {"error": str(error)}
        except StoreError as error:
            said = 503, {"error": str(error)}
        if said is None:  # the answer is lost: the connection is closed without a word
            return
        status, answer, *headers = said
        data = json.dumps(answer).encode()
        self.send_response(status)
        for name, value in [("Content-Type", "application/json"), ("Content-Length", str(len(data))), *headers]:
            self.send_header(name, value)
        with suppress(ConnectionError):  # the client did not wait
            self.end_headers()
            self.wfile.write(data)

    def log_message(self, *_) -> None:
        """Silence: a notebook shows what it asks for."""


def _checked(key: str) -> str:
    if not KEY.fullmatch(key):
        raise Refused(400, "expected a key of 1 to 255 letters, digits and . _ : -")
    return key
