"""streamkit replay: serve captures to a real client."""

import sys
import threading

from streamkit.lab.apis import PATHS
from streamkit.lab.captures import find_captures, read_capture
from streamkit.lab.commands.show import safe
from streamkit.lab.problem import Problem
from streamkit.lab.replay import ReplayServer
from streamkit.lab.schedule import Cut


def arguments(parser) -> None:
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="captures, folders of them, or their names (default: data/captures)"
    )
    parser.add_argument(
        "--port", type=int, default=8787, help="port on 127.0.0.1 (default %(default)s; 0 takes a free one)"
    )
    parser.add_argument(
        "--speed", type=float, default=1.0, metavar="X", help="2 is twice as fast, 0 does not wait at all (default 1)"
    )
    parser.add_argument(
        "--buffered", action="store_true", help="hold everything back until the end, as some proxies do"
    )
    parser.add_argument("--cut-at", metavar="1.5s|2000b", help="reset the connection after so many seconds or bytes")


def run(args) -> int:
    """Serve until Ctrl-C."""
    cut = Cut.parse(args.cut_at) if args.cut_at else None
    captures = [read_capture(path) for path in find_captures(*args.paths)]
    unserved = {capture.api for capture in captures} - set(PATHS)
    captures = [capture for capture in captures if capture.api not in unserved]
    if not captures:
        raise Problem(f"nothing to serve: {', '.join(sorted(unserved))} cannot be replayed, only {', '.join(PATHS)}")
    if unserved:
        print(
            f"left out, since only {', '.join(PATHS)} are served: {', '.join(sorted(unserved))}",
            file=sys.stderr,
        )
    server = ReplayServer(
        captures,
        port=args.port,
        speed=args.speed,
        buffered=args.buffered,
        cut=cut,
        on_request=lambda text: print(safe(text), flush=True),
    )
    with server:
        print(
            f"{len(captures)} capture{'s' * (len(captures) > 1)} at {server.url} (Ctrl-C stops). The request's model names a capture, else the next one answers.",
            flush=True,
        )
        for api, path in PATHS.items():
            if mine := [capture.name for capture in captures if capture.api == api]:
                print(f"  POST {server.url}{path}  {len(mine)} of them, such as {mine[0]!a}", flush=True)
        threading.Event().wait()
    return 0
