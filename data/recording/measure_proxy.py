"""What real nginx does to a streamed call: some captures replayed through it, and the arrival times behind it.

    python data/recording/measure_proxy.py            writes data/proxy.csv (three minutes; needs nginx: apt-get install nginx-light)

Each capture is replayed with its own timing by streamkit.lab.replay and read by streamkit.lab.recorder: without a proxy, through
nginx with several settings, and through streamkit.lab.proxy. Times are seconds since the request was sent, medians over the runs.
"""

import argparse
import contextlib
import csv
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

from streamkit.lab.captures import Capture, load, read_capture
from streamkit.lab.first_sight import moments
from streamkit.lab.paths import DATA
from streamkit.lab.problem import Problem
from streamkit.lab.proxy import Proxy
from streamkit.lab.recorder import record
from streamkit.lab.replay import ReplayServer

CAPTURES = ["chat-world-text", "messages-query-alone", "messages-two-searches", "responses-two-searches"]
GZIP = "gzip on; gzip_types text/event-stream; gzip_min_length 0;"
HTTP11 = 'proxy_http_version 1.1; proxy_set_header Connection "";'  # by itself nginx asks the server in HTTP/1.0
LOCATIONS = {  # the name of a way → what stands in nginx's location, and whether the response carries X-Accel-Buffering: no
    "nginx as it is": ("", False),
    "proxy_buffering off": ("proxy_buffering off;", False),
    "X-Accel-Buffering: no": ("", True),
    "X-Accel-Buffering: no, ignored": ("proxy_ignore_headers X-Accel-Buffering;", True),
    "proxy_http_version 1.1": (HTTP11, False),
    "gzip on, proxy_http_version 1.1": (HTTP11 + GZIP, False),
    "gzip on, proxy_buffering off": ("proxy_buffering off;" + GZIP, False),
    "gzip on, X-Accel-Buffering: no": (GZIP, True),
}
DIRECT, OURS = "no proxy", "streamkit.lab.proxy"
ACCEPT = {"accept-encoding": "gzip"}  # as browsers and SDKs do; without it nginx never compresses
COLUMNS = ("nginx", "way", "capture", "api", "bytes", "reads", "first_read", "announced", "finished", "ended", "runs")
CONF = """
daemon off; master_process off; pid nginx.pid; error_log error.log warn;
events {{}}
http {{
    access_log off;
    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
    server {{ listen 127.0.0.1:{port};
{locations} }}
}}
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def program() -> str:
    """Where nginx is. Raises Problem."""
    found = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/opt/homebrew/bin")
    if not found:
        raise Problem("nginx was not found; on Debian type: apt-get install nginx-light")
    return found


def version(nginx: str) -> str:
    said = subprocess.run([nginx, "-v"], capture_output=True, text=True).stderr
    return re.search(r"nginx/(\S+)", said)[1]


@contextlib.contextmanager
def running(nginx: str, upstream: int) -> Iterator[str]:
    """nginx on a free port, in a folder that is thrown away, a location for each way; its address."""
    port = free_port()
    locations = "\n".join(
        f"location /{number}/ {{ proxy_pass http://127.0.0.1:{upstream}/; {settings} }}"
        for number, (settings, _) in enumerate(LOCATIONS.values())
    )
    with tempfile.TemporaryDirectory(prefix="streamkit-nginx-") as folder:
        Path(folder, "nginx.conf").write_text(CONF.format(port=port, locations=locations), "utf-8")
        process = subprocess.Popen([nginx, "-p", folder, "-c", "nginx.conf", "-e", "error.log"], stderr=subprocess.PIPE)
        try:
            for _ in range(100):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                if process.poll() is not None:
                    raise Problem(f"nginx did not start: {process.stderr.read().decode().strip()}")
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(10)
            process.stderr.close()


def ask(url: str, capture: Capture) -> Capture:
    """The capture as it arrives at a client of `url`."""
    with tempfile.TemporaryDirectory() as folder:
        return read_capture(
            record(Path(folder, "got.jsonl"), url, capture.api, {"model": capture.name}, headers=ACCEPT)
        )


def row(got: Capture, capture: Capture) -> dict:
    """The figures of one run. Raises Problem where the body did not come through whole."""
    if got.body != capture.body or got.ending != capture.ending:
        raise Problem(
            f"{capture.name} came through as {len(got.body)} of {len(capture.body)} bytes, ending {got.ending}"
        )
    announced, finished = moments(got.api, got.reads, got.ending, got.ended_at)
    return {
        "reads": len(got.reads), "first_read": got.reads[0].at, "announced": announced, "finished": finished, "ended": got.ended_at,
    }  # fmt: skip


def measured(nginx: str, runs: int) -> Iterator[dict]:
    """A row for each way and capture."""
    spoken = [load(name) for name in CAPTURES]  # with the header that the server sent: X-Accel-Buffering: no
    silent = [replace(capture, header=capture.header | {"headers": {}}) for capture in spoken]
    with (
        ReplayServer(spoken) as telling,
        ReplayServer(silent) as plain,
        running(nginx, telling.port) as told,
        running(nginx, plain.port) as untold,
        Proxy(f"http://127.0.0.1:{plain.port}") as ours,
    ):
        places = [(DIRECT, plain.url), (OURS, f"{ours.url}/v1")]
        for number, (way, (_, header)) in enumerate(LOCATIONS.items()):
            places.append((way, f"{told if header else untold}/{number}/v1"))
        for capture in spoken:
            for way, url in places:
                got = [row(ask(url, capture), capture) for _ in range(runs)]
                middle = {key: median(run[key] for run in got) for key in got[0]}
                about = {"nginx": version(nginx), "way": way, "capture": capture.name, "api": capture.api}
                seconds = {key: f"{value:.3f}" for key, value in middle.items() if key != "reads"}
                yield about | {"bytes": len(capture.body), "reads": int(middle["reads"]), "runs": runs} | seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3, help="how often each is measured (default: 3)")
    parser.add_argument(
        "--out", type=Path, default=DATA / "proxy.csv", help="where the table goes (default: data/proxy.csv)"
    )
    args = parser.parse_args()
    try:
        rows = []
        for got in measured(program(), args.runs):
            print(
                f"{got['capture']:24}  {got['way']:32}  {got['reads']:3} reads, name at {got['announced']} s",
                flush=True,
            )
            rows.append(got)
    except Problem as error:
        print(f"measure_proxy: {error}", file=sys.stderr)
        return 2
    with args.out.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
