"""What a replay sends, and when: a capture's reads, held back by a buffering proxy or broken off at a place."""

import re
from dataclasses import dataclass

from streamkit.lab.captures import Capture
from streamkit.lab.problem import Problem


@dataclass(frozen=True)
class Cut:
    """Where to break a stream off: after `seconds` of the capture's own time, or after `bytes` of the body."""

    seconds: float | None = None
    bytes: int | None = None

    @classmethod
    def parse(cls, text: str) -> "Cut":
        """ "1.5s" or "2000b": a bare number could be either. Raises Problem."""
        match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)(s)|(\d{1,15})b", text.strip())
        if not match:
            raise Problem(f"--cut-at: expected seconds as 1.5s or bytes as 2000b, got {text[:20]!a}")
        return cls(seconds=float(match[1])) if match[2] else cls(bytes=int(match[3]))


def schedule(
    capture: Capture, buffered: bool = False, cut: Cut | None = None
) -> tuple[list[tuple[float, bytes]], float, str]:
    """What is sent and when: the reads as (seconds, bytes), the time of the end, and the ending."""
    reads, ended_at, ending = [(at, data) for at, data in capture.reads if data], capture.ended_at, capture.ending
    if cut and cut.seconds is not None and cut.seconds < ended_at:
        reads, ended_at, ending = [read for read in reads if read[0] <= cut.seconds], cut.seconds, "disconnect"
    if cut and cut.bytes is not None:
        sent, kept = 0, []
        for at, data in reads:
            if sent + len(data) > cut.bytes:
                if piece := data[: cut.bytes - sent]:
                    kept.append((at, piece))
                reads, ended_at, ending = kept, at, "disconnect"
                break
            sent += len(data)
            kept.append((at, data))
    if buffered and reads:
        reads = [(ended_at, b"".join([data for _, data in reads]))]
    return reads, ended_at, ending
