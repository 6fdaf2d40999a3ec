"""Newline-delimited JSON, from bytes, incrementally: one record a line, and a read is not a record (case 097)."""

from .sse import LIMIT, ServerSentEvent, TooLong


class NDJSONDecoder:
    """Bytes in, whole lines out, in the shape of the SSE decoder. Any cut of the bytes gives the same lines."""

    def __init__(self):
        self._line: list[bytes] = []
        self._held = 0

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """Every line that `chunk` completes, empty ones left out. Raises TooLong."""
        *whole, rest = chunk.split(b"\n")
        if whole:
            whole[0] = b"".join([*self._line, whole[0]])
            self._line, self._held = [], 0
        if rest:
            self._line.append(rest)
            self._held += len(rest)
        if max(self._held, max(map(len, whole), default=0)) > LIMIT:
            raise TooLong(f"a line of more than {LIMIT} bytes")
        return [self._record(line) for line in whole if line.strip()]

    def rest(self) -> ServerSentEvent | None:
        """The line that the stream left without its newline. Call it once, at the end."""
        line = b"".join(self._line)
        return self._record(line) if line.strip() else None

    @staticmethod
    def _record(line: bytes) -> ServerSentEvent:
        text = line.decode("utf-8", "replace")
        return ServerSentEvent("message", text, "", "\ufffd" not in text or text.encode() == line)
