"""What a recording must never keep: the key that was used, and whatever else is named like a secret."""

import re
from collections import deque
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

REMOVED = "[removed]"
KEPT_REQUEST_HEADERS = {"accept", "content-type", "anthropic-version", "anthropic-beta", "openai-beta", "user-agent"}
KEPT_RESPONSE_HEADERS = {
    "content-type",
    "content-encoding",
    "transfer-encoding",
    "server",
    "date",
    "x-accel-buffering",
    "via",
}
KEPT_QUERY = {"api-version", "beta", "alt", "stream"}
SECRET_NAME = re.compile(
    r"(?i)^(x-)?(authorization(_token)?|auth|bearer|token|secret|headers)$"
    r"|(^|[-_])(api[-_]?key|(access|secret|private|signing)[-_]?key|(access|refresh|auth|bearer|session|id)[-_]?token"
    r"|client[-_]?secret|passw(or)?d|passphrase|credentials?|cookies?)$"
)


class Secrets:
    """Strips the given secret texts (shorter than 6 characters: none) from texts, JSON values and a stream of reads."""

    def __init__(self, *secrets: str | None):
        self._texts = sorted({s for s in secrets if s and len(s) >= 6}, key=len, reverse=True)
        self._bytes = [text.encode() for text in self._texts]
        self._longest = max(map(len, self._bytes), default=0)
        self._held: deque[tuple[float, bytes]] = deque()

    def text(self, text: str) -> str:
        """The text with each secret replaced by a mark."""
        for secret in self._texts:
            text = text.replace(secret, REMOVED)
        return text

    def value(self, value: Any) -> Any:
        """A JSON value with secrets, and the values of members that are named like one, replaced by a mark."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {
                self.text(key): REMOVED if SECRET_NAME.search(key) and not _schema(item) else self.value(item)
                for key, item in value.items()
            }
        return value

    def url(self, url: str) -> str:
        """The address without user, password and fragment, and with only harmless query values."""
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
        query = [
            (key, value if key in KEPT_QUERY else REMOVED)
            for key, value in parse_qsl(parts.query, keep_blank_values=True)
        ]
        return self.text(urlunsplit((parts.scheme, host, parts.path, urlencode(query, safe="[]"), "")))

    def reads(self, at: float, data: bytes) -> list[tuple[float, bytes]]:
        """One more read in; out come the reads in which no secret can begin any more, masked with as many `*`.

        Reads are held back until as many bytes as the longest secret has have followed, so a secret split over reads is found.
        """
        self._held.append((at, data))
        self._mask()
        out = []
        while self._held and sum(len(data) for _, data in self._held) - len(self._held[0][1]) >= self._longest - 1:
            out.append(self._held.popleft())
        return out

    def rest(self) -> list[tuple[float, bytes]]:
        """The reads still held back, at the end."""
        out = list(self._held)
        self._held.clear()
        return out

    def _mask(self) -> None:
        joined = whole = b"".join(data for _, data in self._held)
        for secret in self._bytes:
            joined = joined.replace(secret, b"*" * len(secret))
        if joined != whole:
            start = 0
            for place, (at, data) in enumerate(self._held):
                self._held[place] = (at, joined[start : start + len(data)])
                start += len(data)


def _schema(value: Any) -> bool:
    """A field of a tool's JSON Schema may well be called `token`; its schema is no secret."""
    return isinstance(value, dict) and bool({"type", "description", "enum", "anyOf", "$ref"} & value.keys())


def kept(headers: Any, names: set[str]) -> dict[str, str]:
    """Of HTTP headers, the ones that are worth keeping and carry no secret."""
    return {name.lower(): value for name, value in headers.items() if name.lower() in names}
