"""Answers that cannot be recorded: each is refused with one line that says what came."""

import contextlib
import json

import httpx

from streamkit.lab.problem import Problem
from streamkit.lab.redact import Secrets

LONGEST = 65_536  # bytes read of an answer that is no stream
HINTS = {
    401: "; is the key in the environment variable right?",
    403: "; may this key use this model?",
    404: "; is the address right?",
}


def refuse(response: httpx.Response, secrets: Secrets, target: str) -> None:
    """Raise Problem where the answer is not an event stream that can be recorded."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    where = secrets.url(target)
    if response.is_redirect:
        to = secrets.url(str(response.headers.get("location", "")))
        raise Problem(f"{where} redirects to {ascii(to)[1:-1]}; give the final address (the key is not sent on)")
    if response.status_code != 200:
        raise Problem(
            f"{where} answered {response.status_code} {response.reason_phrase}{_said(response, kind, secrets)}{HINTS.get(response.status_code, '')}"
        )
    if kind not in ("text/event-stream", ""):
        raise Problem(
            f"{where} answered {ascii(kind)[1:-1]}, expected text/event-stream{_said(response, kind, secrets)}; is it the address of a streaming API?"
        )


def _said(response: httpx.Response, kind: str, secrets: Secrets) -> str:
    """The server's own word for the error, on one line, short, in plain ASCII; nothing of an HTML page."""
    body = b""
    with contextlib.suppress(httpx.HTTPError):  # whatever came of it will do
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > LONGEST:
                break
    text = body[:LONGEST].decode("utf-8", "replace")
    if "json" in kind:
        try:
            value = json.loads(text)
            error = value.get("error", value) if isinstance(value, dict) else value
            text = str(error.get("message", error) if isinstance(error, dict) else error)
        except (ValueError, RecursionError):
            pass
    elif "html" in kind or text.lstrip().startswith("<"):
        return " (an HTML page)"
    text = " ".join(ascii(secrets.text(text))[1:-1].replace("\\n", " ").split())
    return f": {text[:160]}" if text else ""
