"""The process in which one library reads the cases, so that its import, its hang or its crash harms no other."""

import contextlib
import importlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from queue import Empty, Queue

from . import PEERS
from .observed import Observed, answers, in_a_line
from .server import CaseServer

IMPORT, LONGEST = 180.0, 30.0  # seconds: for a library to be imported, and for a case to end
QUIET = {"NO_PROXY": "127.0.0.1", "LITELLM_LOCAL_MODEL_COST_MAP": "True", "OTEL_SDK_DISABLED": "true", "NO_COLOR": "1"}


class Unmeasured(Exception):
    """The library's process was not ready in time, or its adapter never asked the server: no word about the library."""


def adapter(library: str):
    """The module of this folder that speaks to a library."""
    return importlib.import_module(f".{PEERS[library].module}", __package__)


def observe(library: str, case: dict) -> Observed:
    """One case through one library, in this process. Whatever the library raises is what was seen."""
    seen = Observed()
    with CaseServer(case) as server:
        try:
            adapter(library).observe(case, server.url, seen)
        except (Exception, SystemExit) as error:
            seen.error = in_a_line(error)
        asked = list(server.requests)
    if not asked:
        raise Unmeasured(f"{library}, {case['name']}: the server was not asked ({seen.error}); mend the adapter")
    seen.answered = any(answers(json.loads(body)) for body in asked[1:])
    return seen


def serve_parent(library: str) -> None:
    """The child: a line "ready" once the library is imported, then for each case that comes in what was seen, a line each."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints is no answer
    adapter(library)
    print("ready", file=out, flush=True)
    for line in sys.stdin:
        try:
            said = observe(library, json.loads(line)).as_dict()
        except Unmeasured as error:
            said = {"unmeasured": str(error)}
        print(json.dumps(said), file=out, flush=True)


class Child:
    """The process in which one library is imported; started again after a case that it does not survive.

    `command` is what is started instead of this module, for a test. PEERS_LOUD=1 shows what a library prints.
    """

    def __init__(self, library: str, command: list[str] | None = None):
        self.library, self.process = library, None
        self.command = command or [sys.executable, "-m", __name__, library]

    def ask(self, case: dict) -> dict | str:
        """What was seen, or in words why nothing was. Raises Unmeasured."""
        if self.process is None:
            self._start()
        try:
            self.process.stdin.write(json.dumps(case) + "\n")
            self.process.stdin.flush()
            answer = self._line(LONGEST)
        except BrokenPipeError:
            answer = ""
        if answer:
            seen = json.loads(answer)
            if "unmeasured" in seen:
                raise Unmeasured(seen["unmeasured"])
            return seen
        if answer is None:
            self.close()
            return f"no end within {LONGEST:g} s"
        status = self.process.wait()
        self.close()
        return f"its process ended with status {status}"

    def _start(self) -> None:
        self.lines = Queue()
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if "PEERS_LOUD" in os.environ else subprocess.DEVNULL,
            encoding="utf-8",
            cwd=Path(__file__).resolve().parents[1],
            env=os.environ | QUIET,
        )
        threading.Thread(target=self._listen, args=(self.process.stdout, self.lines), daemon=True).start()
        if self._line(IMPORT) != "ready\n":
            self.close()
            raise Unmeasured(f"{self.library} does not start; PEERS_LOUD=1 shows why")

    @staticmethod
    def _listen(pipe, lines: Queue) -> None:
        for line in pipe:
            lines.put(line)
        lines.put("")

    def _line(self, seconds: float) -> str | None:
        try:
            return self.lines.get(timeout=seconds)
        except Empty:
            return None

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
            self.process = None


if __name__ == "__main__":
    serve_parent(sys.argv[1])
