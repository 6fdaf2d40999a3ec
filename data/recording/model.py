"""The local model server as a process of its own, and one recording against it."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

import httpx
from serve import ALIAS

from streamkit.lab.apis import endpoint
from streamkit.lab.captures import read_capture
from streamkit.lab.recorder import record

FRAGMENT = {  # what marks one fragment in the bytes of each API
    "arguments": {"openai-chat": b'"arguments":', "anthropic-messages": b'"input_json_delta"', "openai-responses": b'"response.function_call_arguments.delta"'},
    "text": {"openai-chat": b'"content":"', "anthropic-messages": b'"text_delta"', "openai-responses": b'"response.output_text.delta"'},
}  # fmt: skip
ABOUT = {
    "server": f"xllamacpp {version('xllamacpp')} (llama.cpp), on the same machine as the recorder",
    "weights": "SmolLM2-135M-Instruct, Q4_1, Apache-2.0",
    "licence": "MIT",
}


class Server:
    """`serve.py` in a process of its own, which can really be killed or stopped."""

    def __init__(self, port: int):
        self.url = f"http://127.0.0.1:{port}/v1"
        with socket.socket() as taken:
            if taken.connect_ex(("127.0.0.1", port)) == 0:  # the server shares ports: the answers would be another's
                sys.exit(f"port {port} is in use; end the server that listens there")
        self._process = subprocess.Popen(
            [sys.executable, "-B", str(Path(__file__).with_name("serve.py")), str(port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _prefer(self._process.pid)
        for _ in range(150):
            time.sleep(0.2)
            try:
                if httpx.get(f"http://127.0.0.1:{port}/health", trust_env=False).status_code == 200:
                    return
            except httpx.HTTPError:
                if self._process.poll() is not None:
                    break
        self.kill()
        sys.exit(f"the model server did not start on port {port}; run serve.py {port} to see why")

    def warm(self, api: str, body: dict) -> None:
        """Let the server read the prompt, so that the first token of the recording comes soon."""
        limit = "max_output_tokens" if api == "openai-responses" else "max_tokens"
        httpx.post(endpoint(self.url, api), json={"model": ALIAS, **body, limit: 1}, timeout=60, trust_env=False)

    def kill(self) -> None:
        """SIGKILL: the sockets are closed by the system, in the middle of whatever was being sent."""
        self._process.kill()
        self._process.wait()

    def stall(self) -> None:
        """SIGSTOP: the sockets stay open and nothing more comes."""
        os.kill(self._process.pid, signal.SIGSTOP)


def _prefer(process: int) -> None:
    """Let nothing else on the machine hold the server or ourselves up, where that is allowed (Linux, as root)."""
    for who in (0, process):
        with contextlib.suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, who, -15)
    with contextlib.suppress(OSError):  # niceness counts only within a session's group, whose own is set here
        Path(f"/proc/{process}/autogroup").write_text("-15")


class Fault:
    """Called at each read: does what is to be done after so many fragments, once."""

    def __init__(self, api: str, where: str, after: int, act):
        self._mark, self._left, self._act = FRAGMENT[where][api], after, act

    def __call__(self, at: float, data: bytes) -> None:
        before, self._left = self._left, self._left - data.count(self._mark)
        if before > 0 >= self._left:
            self._act()


def cancel() -> None:
    """What Ctrl-C does."""
    raise KeyboardInterrupt


def capture(path: Path, server: Server, api: str, body: dict, header: dict, *, timeout: float = 120.0, on_read=None):
    """Record one response and read it back. The file appears when it is whole."""
    with tempfile.TemporaryDirectory() as folder:
        part = record(
            Path(folder) / path.name,
            server.url,
            api,
            {"model": ALIAS, **body},
            header={**ABOUT, **header},
            timeout=timeout,
            on_read=on_read,
        )
        shutil.move(part, path)
    return read_capture(path)


PAUSE = 1.0  # seconds between two reads once the answer has begun; a token takes 0.01 to 0.03, and some twenty come before a call is announced


def quietly(make, tries: int = 2):
    """Call `make` (one recording) again where something else on the machine held it up for PAUSE; the last one counts anyway."""
    for left in range(tries, 0, -1):
        captured = make()
        times = [read.at for read in captured.reads[:-1]]  # before the last read the server parses the whole answer
        longest = max((later - earlier for earlier, later in pairwise(times)), default=0.0)
        if longest < PAUSE or left == 1:
            return captured
        print(f"  {captured.name}: a pause of {longest:.2f} s, the machine was busy; once more", flush=True)
