"""Recording: one streamed response of a real endpoint, as it arrived."""

import os
import platform
import time
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx

from streamkit.lab.apis import endpoint, guard, offered
from streamkit.lab.capture_lines import CaptureWriter
from streamkit.lab.no_stream import refuse
from streamkit.lab.problem import Problem
from streamkit.lab.redact import KEPT_REQUEST_HEADERS, KEPT_RESPONSE_HEADERS, Secrets, kept


def surroundings() -> dict:
    """When and on what it is recorded: date, cores, load averages of 1, 5 and 15 minutes, versions. No host name."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}",
        "load": [round(load, 2) for load in os.getloadavg()] if hasattr(os, "getloadavg") else None,
        "versions": {
            "python": platform.python_version(),
            "httpx": httpx.__version__,
            "streamkit": version("streamkit"),
        },
    }


class _Clock:
    """Seconds since the request was sent, on a monotonic clock, and the time of the last network read."""

    def __init__(self):
        self.sent = self.arrived = time.monotonic()
        self.number = 0

    def now(self) -> float:
        return time.monotonic() - self.sent

    def trace(self, event: str, info: dict) -> None:
        if event.endswith("send_request_body.complete"):
            self.sent = time.monotonic()

    def watch(self, stream: Any) -> None:
        """Note the time as each network read returns: HTTP chunks that came in one read then share one time."""
        read = stream.read

        def timed(*args, **kwargs):
            data = read(*args, **kwargs)
            self.arrived, self.number = time.monotonic(), self.number + 1
            return data

        stream.read = timed


def record(
    path: Path | str,
    url: str,
    api: str,
    body: dict,
    *,
    key: str | None = None,
    headers: dict[str, str] | None = None,
    header: dict | None = None,
    timeout: float = 60.0,
    transport: httpx.BaseTransport | None = None,
    on_read: Callable[[float, bytes], Any] | None = None,
) -> Path:
    """POST `body` with streaming on and write the answer to `path` as a capture; the path is returned.

    `key` is sent as the API wants it and never written. `header` adds members to the capture's header; `timeout` is seconds of
    silence. `on_read(at, data)` is called at each read; KeyboardInterrupt (Ctrl-C, or raised by on_read) ends the capture with
    `cancel`. Raises Problem, and writes nothing, where there is no stream to record: no connection, a status other than 200,
    an answer that is no event stream.
    """
    target = endpoint(url, api)
    guard(target, key)
    body = {**body, "stream": True}
    sent = {"content-type": "application/json", "accept": "text/event-stream", "accept-encoding": "identity"}
    if api == "anthropic-messages":
        sent |= {"anthropic-version": "2023-06-01"} | ({"x-api-key": key} if key else {})
    elif key:
        sent |= {"authorization": f"Bearer {key}"}
    sent |= {name.lower(): value for name, value in (headers or {}).items()}
    own = [value for name, value in sent.items() if name not in KEPT_REQUEST_HEADERS | {"accept-encoding"}]
    secrets = Secrets(key, *own, *[value.removeprefix("Bearer ") for value in own])
    clock = _Clock()
    writer = None
    about = surroundings()
    try:
        with (
            httpx.Client(timeout=timeout, transport=transport, trust_env=transport is None) as client,
            client.stream("POST", target, json=body, headers=sent, extensions={"trace": clock.trace}) as response,
        ):
            refuse(response, secrets, target)
            writer = CaptureWriter(
                path,
                secrets.value(header or {})
                | {
                    "api": api,
                    "model": secrets.text(str(body.get("model", ""))),
                    "request": {
                        "method": "POST",
                        "url": secrets.url(target),
                        "headers": secrets.value(kept(response.request.headers, KEPT_REQUEST_HEADERS)),
                        "body": secrets.value(body),
                    },
                    "status": response.status_code,
                    "headers": secrets.value(kept(response.headers, KEPT_RESPONSE_HEADERS)),
                    "tools": secrets.value(offered(api, body)),
                    "recorded": about,
                },
            )
            ending = _copy(response, clock, writer, secrets, on_read)
            ended_at = clock.now()
        writer.end(ended_at, ending)
        return Path(path)
    except httpx.TimeoutException:
        raise Problem(f"no answer from {secrets.url(target)} within {timeout:g} s") from None
    except httpx.HTTPError as error:
        raise Problem(
            f"cannot reach {secrets.url(target)}: {secrets.text(str(error)) or type(error).__name__}"
        ) from None
    except OSError as error:
        raise Problem(f"cannot write {path}: {error.strerror}") from None
    finally:
        if writer:
            writer.close()


def _copy(response: httpx.Response, clock: _Clock, writer: CaptureWriter, secrets: Secrets, on_read) -> str:
    """Reads into the capture until the response ends; says how it ended."""
    ending, number, at, parts = "clean", 0, 0.0, []
    # the head and the first of the body may have come in one read, which is over by now
    if stream := response.extensions.get("network_stream"):
        clock.watch(stream)

    pending: deque = deque()

    def flush() -> None:
        nonlocal parts
        if parts:
            data, parts = b"".join(parts), []
            pending.extend(secrets.reads(at, data))
        while pending:  # a Ctrl-C in here leaves the rest of them for the flush at the end
            writer.read(*pending[0])
            pending.popleft()

    try:
        for chunk in response.iter_bytes():
            if clock.number != number or not stream:
                flush()
                number = clock.number
            if not parts:
                at = (clock.arrived - clock.sent) if clock.number else clock.now()
            parts.append(chunk)
            if on_read:
                on_read(at, chunk)
    except KeyboardInterrupt:
        ending = "cancel"
    except httpx.TimeoutException:
        ending = "timeout"
    except (httpx.NetworkError, httpx.ProtocolError):
        ending = "disconnect"
    except httpx.DecodingError as error:
        raise Problem(f"the answer's compression is broken: {error}") from None
    flush()
    pending.extend(secrets.rest())
    flush()
    return ending
