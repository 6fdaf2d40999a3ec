"""The lines of a capture file: one response as it arrived, newline-delimited JSON after the shape of asciicast v2.

Line 1 is a header object. Each further line is one network read, `[at, "data", text]`, or `[at, "data64", base64]` where the
bytes of that read are not UTF-8 by themselves. The last line is `[at, "end", how]`. `at` is seconds since the request was sent.
"""

import base64
import binascii
import gzip
import io
import json
import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from streamkit.lab.problem import Problem
from streamkit.wire import APIS

FORMAT, VERSION = "streamkit-capture", 1
LINE = 64 * 2**20  # bytes a line may have: a small compressed file could hold one that fills the memory
CASES = "a conformance case is read by `streamkit cases`"
NO_CAPTURE = f"this is no capture: one begins with a header object and has one JSON value a line; {CASES}"
ENDINGS = ("clean", "disconnect", "timeout", "cancel")


class Read(NamedTuple):
    """One network read: `at` seconds since the request was sent, `data` bytes as they came."""

    at: float
    data: bytes


class End(NamedTuple):
    """How the response ended, `at` seconds since the request was sent: one of ENDINGS."""

    at: float
    ending: str


def stream_capture(path: Path | str) -> Iterator[dict | Read | End]:
    """Read a capture line by line: first the header, then each Read, last the End. Raises Problem with file, line and reason."""
    path = Path(path)
    line, last, over = 0, 0.0, False
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for line, raw in enumerate(iter(lambda: file.readline(LINE + 1), b""), 1):
                if len(raw) > LINE:
                    raise ValueError(f"longer than {LINE} bytes")
                if over:
                    raise ValueError('nothing may follow the "end" line')
                value = json.loads(raw.decode("utf-8"))
                if line == 1:
                    yield _header(value)
                    continue
                entry = _entry(value, last)
                last, over = entry.at, isinstance(entry, End)
                yield entry
    except OSError as error:  # gzip.BadGzipFile is one
        reason = error.strerror or "not a gzip file"
        raise Problem(f"{path}: cannot be read as a capture: {reason}") from None
    except (EOFError, zlib.error):
        raise Problem(f"{path}: the compressed file is cut or damaged after line {line}") from None
    except json.JSONDecodeError as error:
        reason = f"not JSON at column {error.colno}: {_shown(raw)}"
        raise Problem(f"{path}, line {line}: {reason if line > 1 else f'{NO_CAPTURE}; got {_shown(raw)}'}") from None
    except UnicodeDecodeError as error:
        raise Problem(f"{path}, line {line}: not UTF-8 at byte {error.start}; keep such bytes as data64") from None
    except RecursionError:
        raise Problem(f"{path}, line {line}: nested too deeply") from None
    except ValueError as error:
        reason = (
            "a number of thousands of digits" if "int_max_str_digits" in str(error) else error
        )  # Python's own limit
        raise Problem(f"{path}, line {line}: {reason}") from None
    if not line:
        raise Problem(f"{path}: empty; a capture begins with a header object")
    if not over:
        hint = f'if the recording broke off there, add the line [{last}, "end", "disconnect"]'
        raise Problem(f'{path}, line {line}: the file stops without an "end" line; {hint}')


def _header(value: Any) -> dict:
    if not isinstance(value, dict):
        raise ValueError(
            f"expected the header, a JSON object with format, version and api; {CASES}; got {_shown(value)}"
        )
    if value.get("format") != FORMAT:
        raise ValueError(f"expected a header with format {FORMAT!r}, got {_shown(value.get('format'))}; {CASES}")
    if value.get("version") != VERSION:
        raise ValueError(f"expected version {VERSION}, got {_shown(value.get('version'))}")
    if value.get("api") not in APIS:
        raise ValueError(f"unknown api {_shown(value.get('api'))}; known: {', '.join(APIS)}")
    tools = value.get("tools") or []
    if not isinstance(tools, list) or not all(
        isinstance(tool, dict) and isinstance(tool.get("name"), str) for tool in tools
    ):
        raise ValueError(f"tools must be a list of objects with a name, got {_shown(tools)}")
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        raise ValueError("a number in the header that JSON does not have: NaN, or past double range") from None
    return value


def _entry(value: Any, last: float) -> Read | End:
    if not isinstance(value, list) or len(value) != 3:
        raise ValueError(f'expected [seconds, "data" or "data64" or "end", text], got {_shown(value)}')
    at, kind, text = value
    if isinstance(at, bool) or not isinstance(at, int | float) or not math.isfinite(at) or at < 0:
        raise ValueError(f"expected a time in seconds, got {_shown(at)}")
    if at < last:
        raise ValueError(f"times must not go back: {at} after {last}")
    if not isinstance(text, str):
        raise ValueError(f"expected text in third place, got {_shown(text)}")
    if kind == "data":
        try:
            return Read(at, text.encode())
        except UnicodeEncodeError:
            raise ValueError("half a surrogate pair in the data; keep such bytes as data64") from None
    if kind == "data64":
        try:
            return Read(at, base64.b64decode(text, validate=True))
        except binascii.Error:
            raise ValueError(f"not base64: {_shown(text)}") from None
    if kind != "end":
        raise ValueError(f'expected "data", "data64" or "end", got {_shown(kind)}')
    if text not in ENDINGS:
        raise ValueError(f"unknown ending {_shown(text)}; known: {', '.join(ENDINGS)}")
    return End(at, text)


def _shown(value: Any) -> str:
    """A value for an error message: one line of plain ASCII, so that a hostile file cannot draw on the terminal."""
    text = ascii(value if not isinstance(value, bytes) else value.decode("utf-8", "replace").rstrip("\r\n"))
    return text if len(text) <= 60 else text[:57] + "…"


class CaptureWriter:
    """Writes a capture line by line as it happens, so that a killed recorder leaves what had arrived (all but the end line)."""

    def __init__(self, path: Path | str, header: dict):
        path = Path(path)
        raw = path.open("wb")
        # no name and no time in the gzip frame: the same capture is the same file
        self._file = io.BufferedWriter(gzip.GzipFile("", "wb", 9, raw, mtime=0)) if path.suffix == ".gz" else raw
        self._raw = raw
        self._line(_header({"format": FORMAT, "version": VERSION, **header}))

    def read(self, at: float, data: bytes) -> None:
        """One network read, `at` seconds since the request was sent."""
        try:
            self._line([round(at, 6), "data", data.decode("utf-8")])
        except UnicodeDecodeError:
            self._line([round(at, 6), "data64", base64.b64encode(data).decode()])

    def end(self, at: float, ending: str) -> None:
        """The last line, and the file is closed. `ending` is one of ENDINGS."""
        self._line([round(at, 6), "end", _entry([at, "end", ending], 0).ending])
        self.close()

    def close(self) -> None:
        """Close without an end line: what came is kept, and the reader says what is missing."""
        self._file.close()
        self._raw.close()

    def _line(self, value: Any) -> None:
        self._file.write(json.dumps(value, allow_nan=False, separators=(",", ":")).encode() + b"\n")
        if self._file is self._raw:
            self._file.flush()
