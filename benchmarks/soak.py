"""Soak: the replay server with many slow clients; its size stays flat, every byte arrives, nothing is left behind.

    python benchmarks/soak.py                          50 clients for two minutes
    python benchmarks/soak.py --clients 10 --seconds 5

The server runs in a process of its own. Each client asks for one capture after another at full pace and reads with small pauses;
every fourth time it leaves in the middle. Exit status 1 where the server grew by more than GROWTH MB between a sixth of the time
and the end, a client that stayed got other bytes than the capture's, or the server keeps a thread or a socket.
"""

import argparse
import hashlib
import http.client
import json
import multiprocessing
import os
import platform
import random
import sys
import threading
import time
from collections import Counter

from streamkit.lab.apis import PATHS
from streamkit.lab.captures import find_captures, read_capture
from streamkit.lab.replay import ReplayServer

GROWTH = 8  # MB
LONGEST = 20.0  # seconds: a capture that takes longer would not be read to its end


def served():
    """Captures that end by themselves, by name."""
    found = {capture.name: capture for capture in map(read_capture, find_captures())}
    return {name: c for name, c in found.items() if c.ending == "clean" and c.ended_at < LONGEST and c.api in PATHS}


def resident() -> float:
    """MB of this process now."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        import resource  # the largest so far, where the system does not tell the present one

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def sockets() -> int:
    """Open files of this process, -1 where the system does not tell."""
    try:
        return len(os.listdir("/proc/self/fd"))
    except OSError:
        return -1


def serve(wire) -> None:
    """The server's process: it answers questions about itself until it is told to stop."""
    with ReplayServer(list(served().values()), speed=1.0) as server:
        wire.send(server.port)
        while wire.recv():
            wire.send((resident(), threading.active_count(), sockets()))
    time.sleep(0.5)
    wire.send((resident(), threading.active_count(), sockets()))


def client(port: int, captures: dict, until: float, seed: int, seen: Counter, wrong: list) -> None:
    """Ask, read slowly, compare, until the time is over; a request that began is read to its end."""
    chance = random.Random(seed)
    while time.monotonic() < until:
        capture = captures[chance.choice(sorted(captures))]
        leaves = len(capture.body) * chance.random() if chance.random() < 0.25 else float("inf")
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            line.request(
                "POST",
                "/v1" + PATHS[capture.api],
                json.dumps({"model": capture.name, "stream": True}),
                {"content-type": "application/json"},
            )
            answer, read = line.getresponse(), hashlib.sha256()
            size = 0
            while size < leaves and (data := answer.read1(chance.choice((100, 1_000, 8_000)))):
                read.update(data)
                size += len(data)
                time.sleep(chance.random() * 0.05)
            if size >= leaves:
                seen["left"] += 1
            elif read.digest() == hashlib.sha256(capture.body).digest():
                seen["whole"] += 1
                seen["bytes"] += size
            else:
                wrong.append(f"{capture.name}: {size} bytes, {len(capture.body)} expected, or others")
        except (OSError, http.client.HTTPException) as error:
            wrong.append(f"{capture.name}: {type(error).__name__}: {error}")
        finally:
            line.close()


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--clients", type=int, default=50)
    options.add_argument("--seconds", type=float, default=120)
    chosen = options.parse_args()
    captures, (mine, theirs) = served(), multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,))
    process.start()
    port = mine.recv()

    def ask(more: bool = True):
        mine.send(more)
        return mine.recv()

    before, seen, wrong, began = ask(), Counter(), [], time.monotonic()
    clients = [
        threading.Thread(target=client, args=(port, captures, began + chosen.seconds, seed, seen, wrong))
        for seed in range(chosen.clients)
    ]
    for each in clients:
        each.start()
    time.sleep(chosen.seconds / 6)
    early, sizes = ask(), []
    while any(each.is_alive() for each in clients):
        time.sleep(1)
        sizes.append(ask())
    took = time.monotonic() - began
    for _ in range(50):  # a client that left is noticed at the next write to it
        after = ask()
        if after[1:] == before[1:]:
            break
        time.sleep(0.5)
    last = ask(False)
    process.join(10)
    growth, most = after[0] - early[0], max(size for size, *_ in sizes)
    print(
        f"Python {platform.python_version()}, {platform.system()}: {chosen.clients} clients, {took:.0f} s, {len(captures)} captures"
    )
    print(
        f"{seen['whole']:,} streams whole ({seen['bytes'] / 1e6:.1f} MB, each byte compared), {seen['left']:,} left in the middle, {len(wrong)} wrong"
    )
    print(
        f"resident MB: {before[0]:.1f} before, {early[0]:.1f} after {chosen.seconds / 6:.0f} s, {most:.1f} at most, {after[0]:.1f} at the end"
    )
    print(
        f"threads {before[1]} before, {max(t for _, t, _ in sizes)} at most, {after[1]} after; open files {before[2]} before, {after[2]} after"
    )
    print(f"stopped: {last[1]} thread, {last[2]} open files; exit status {process.exitcode}")
    for line in wrong[:10]:
        print("  " + line)
    good = not wrong and growth <= GROWTH and after[1:] == before[1:] and last[1] == 1 and last[2] < before[2]
    print("kept" if good else "NOT kept")
    return 0 if good and process.exitcode == 0 and seen["whole"] and seen["left"] else 1


if __name__ == "__main__":
    sys.exit(main())
