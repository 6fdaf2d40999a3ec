"""Server-sent events, from bytes, incrementally (WHATWG HTML, section 9.2.6 "Interpreting an event stream").

The work stays in bytes: line ends are ASCII, so lines can be cut before the text is decoded, and a character that is
split between two reads needs no care of its own.
"""

from typing import NamedTuple

MESSAGE = "message"  # an event's type where the stream names none
BOM = b"\xef\xbb\xbf"
LIMIT = 32 * 2**20  # bytes the data lines of one event may have, or any line: else a peer could fill the memory
LEAST = 7  # bytes that a data line has beside its data
TOO_LONG = f"an event of more than {LIMIT} bytes; a stream of tool calls sends far smaller ones"


class TooLong(ValueError):
    """One event or line is longer than LIMIT. Events that ended before it in the same chunk are lost with it."""


class ServerSentEvent(NamedTuple):
    """One dispatched event. `intact` is False where its bytes were no UTF-8 and U+FFFD stands in for them."""

    event: str  # "message" where the stream names none
    data: str
    id: str = ""
    intact: bool = True


class SSEDecoder:
    """Bytes in, whole events out. Any cut of the bytes gives the same events.

    An event that the stream leaves without its blank line is never dispatched; `rest()` hands it over at the end.
    """

    def __init__(self):
        self.retry: int | None = None  # milliseconds, the last reconnection time the server asked for
        self._head = b""  # the first bytes, while they may still be a byte-order mark
        self._begun = False
        self._after_cr = False  # a line feed would belong to the carriage return before it
        self._line: list[bytes] = []  # pieces of the line that has not ended
        self._held = 0  # bytes of these pieces
        self._since = 0  # bytes since the last event, an upper bound for what its data has
        self._look_at = LIMIT  # of these, when to count what they hold
        self._id = ""
        self._event = MESSAGE
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """Every event that `chunk` completes. Raises TooLong."""
        if not self._begun:
            chunk = self._begin(chunk)
        if not chunk:
            return []
        if self._after_cr:
            self._after_cr = False
            if chunk[0] == 10:
                chunk = chunk[1:]
        if b"\r" in chunk:
            self._after_cr = chunk[-1] == 13
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self._since += len(chunk)
        lines = chunk.split(b"\n")
        if self._line:
            self._line.append(lines[0])
            self._held += len(lines[0])
            if self._held > LIMIT:
                raise TooLong(TOO_LONG)
            if len(lines) > 1:
                lines[0] = b"".join(self._line)
                self._line = []
        elif lines[-1] and len(lines) == 1:
            self._line, self._held = [chunk], len(chunk)
        if len(lines) > 1:
            if lines[-1]:
                self._line, self._held = [lines[-1]], len(lines[-1])
            del lines[-1]
            events = self._read(lines)
        else:
            events = []
        if events:
            self._since, self._look_at = len(chunk), LIMIT
        elif self._since > self._look_at:
            self._look()
        return events

    def _look(self) -> None:
        """Now and then, where there may be too much: is there? (An event that ends is looked at in `_read`.)"""
        self._look_at = self._since + LIMIT // 8
        if sum(map(len, self._data)) + LEAST * len(self._data) > LIMIT:
            raise TooLong(TOO_LONG)

    def rest(self) -> ServerSentEvent | None:
        """The event that the stream left unterminated, where it has data. Call it once, at the end. Raises TooLong."""
        if not self._begun:
            self._begun, self._line = True, [self._head]
        return next(iter(self._read([b"".join(self._line), b""])), None)

    def _begin(self, chunk: bytes) -> bytes:
        head = self._head + chunk
        if len(head) < len(BOM) and BOM.startswith(head):
            self._head = head
            return b""
        self._begun = True
        return head.removeprefix(BOM)

    def _read(self, lines: list[bytes]) -> list[ServerSentEvent]:
        events, data, may_be_too_long = [], self._data, self._since > LIMIT
        for line in lines:
            start = line[:6]
            if start == b"data: ":
                data.append(line[6:])
            elif not line:
                if data:
                    whole = data[0] if len(data) == 1 else b"\n".join(data)
                    if may_be_too_long and len(whole) + (LEAST - 1) * len(data) >= LIMIT:
                        raise TooLong(TOO_LONG)
                    data.clear()
                    try:
                        events.append(ServerSentEvent(self._event, whole.decode(), self._id))
                    except UnicodeDecodeError:
                        events.append(ServerSentEvent(self._event, whole.decode("utf-8", "replace"), self._id, False))
                self._event = MESSAGE
            elif start == b"event:":
                self._event = line[6:].removeprefix(b" ").decode("utf-8", "replace") or MESSAGE
            else:
                self._field(line)
        return events

    def _field(self, line: bytes) -> None:
        """The rarer lines: comments (an empty name), ids, retry, fields without a colon or a space, unknown fields."""
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._event = value.decode("utf-8", "replace") or MESSAGE
        elif name == b"id" and b"\0" not in value:
            self._id = value.decode("utf-8", "replace")
        elif name == b"retry" and value.isdigit():
            self.retry = int(value[:18])
