"""Captures: recorded responses with the arrival time of every network read, found and read from data/captures or elsewhere."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from streamkit.events import Turn
from streamkit.finalise import BadTool
from streamkit.lab.capture_lines import CaptureWriter, Read, stream_capture
from streamkit.lab.paths import CAPTURES, DATA, inside
from streamkit.lab.problem import Problem
from streamkit.turn import turn_of
from streamkit.wire import reader

SUFFIXES = (".jsonl", ".jsonl.gz")


@dataclass(slots=True)
class Capture:
    """One recorded response: the header as written, `reads` as (seconds, bytes), and how it ended."""

    path: Path
    header: dict
    reads: list[Read]
    ended_at: float
    ending: str

    @property
    def name(self) -> str:
        """The file's name without folder and suffix."""
        return stem(self.path)

    @property
    def api(self) -> str:
        """Which API the body speaks: one of streamkit.wire.APIS."""
        return self.header["api"]

    @property
    def tools(self) -> list[dict]:
        """The tools that were offered, each {"name", "description", "parameters": JSON Schema}."""
        return self.header.get("tools") or []

    @property
    def body(self) -> bytes:
        """The exact body, all reads joined."""
        return b"".join([read.data for read in self.reads])

    def events(self) -> list:
        """The wire events of the response, each with the time of the read that completed it."""
        wire = reader(self.api)
        events = [event for at, data in self.reads for event in wire.feed(data, at)]
        return events + wire.close(self.ending, self.ended_at)

    def turn(self) -> Turn:
        """The streamkit.events.Turn that the response makes, its calls judged by the tools that were offered. Raises Problem."""
        try:
            return turn_of(self.events(), tools=self.tools or None)
        except BadTool as error:
            raise Problem(f"{self.path}, line 1: {error}") from None


def stem(path: Path) -> str:
    """The name of a capture's file without folder and suffix."""
    return path.name.removesuffix(".gz").removesuffix(".jsonl")


def read_capture(path: Path | str) -> Capture:
    """The whole capture. Raises Problem (file, line, reason) where it is malformed."""
    lines = stream_capture(path)
    header, *reads = lines
    end = reads.pop()
    return Capture(Path(path), header, reads, end.at, end.ending)


def write_capture(path: Path | str, header: dict, reads: list, ended_at: float, ending: str) -> Path:
    """Write a whole capture at once; `reads` are (seconds, bytes)."""
    writer = CaptureWriter(path, header)
    for at, data in reads:
        writer.read(at, data)
    writer.end(ended_at, ending)
    return Path(path)


def find_captures(*paths: Path | str) -> list[Path]:
    """The captures in these files and folders (folders sorted and with all below them, links to other folders left alone); data/captures
    where none is named.

    A word that is no path but the stem of a capture in data/captures means that capture. Raises Problem for what is not there.
    """
    found: list[Path] = []
    for given in paths or (CAPTURES,):
        path = Path(given)
        if path.is_dir():
            files = inside(path, sorted(p for suffix in SUFFIXES for p in path.rglob("*" + suffix) if p.is_file()))
            if not files:
                raise Problem(f"{path}: no captures in this folder (expected files ending in {' or '.join(SUFFIXES)})")
            found += files
        elif path.exists():
            found.append(path)
        elif not set(str(given)) & set("/\\."):
            found.append(_named(path.name))
        else:
            raise Problem(f"{path}: no such file or folder")
    return list(dict.fromkeys(found))


def _named(name: str) -> Path:
    known = {stem(path): path for suffix in SUFFIXES for path in sorted(DATA.rglob("*" + suffix)) if path.is_file()}
    known |= {stem(path): path for suffix in SUFFIXES for path in sorted(CAPTURES.rglob("*" + suffix))}
    if name not in known:
        near = get_close_matches(name, known, 3)
        hint = f"did you mean {' or '.join(near)}?" if near else f"`streamkit show {CAPTURES}` lists what there is"
        raise Problem(f"no capture named {name!r} in {CAPTURES}; {hint}")
    return known[name]


def load(name: str) -> Capture:
    """The capture of data/captures with this stem, e.g. load("chat-two-searches"). Raises Problem with near names."""
    return read_capture(_named(name))


def exchanges(captures: Iterable[Capture]) -> list[list[Capture]]:
    """The exchanges among `captures`: the responses to one question, in order (header fields `exchange` and `part`)."""
    found: dict[str, list[Capture]] = {}
    for capture in captures:
        if "exchange" in capture.header:
            found.setdefault(capture.header["exchange"], []).append(capture)
    return [sorted(parts, key=lambda capture: capture.header["part"]) for _, parts in sorted(found.items())]
