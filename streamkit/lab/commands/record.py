"""streamkit record: one streamed response of your provider's, with its arrival times."""

import json
import os
import re
import sys
from pathlib import Path

from tqdm import tqdm

from streamkit.lab.apis import KEYS, PATHS, asked
from streamkit.lab.captures import SUFFIXES, read_capture
from streamkit.lab.problem import Problem
from streamkit.lab.recorder import record


def arguments(parser) -> None:
    parser.add_argument(
        "url", metavar="URL", help="a base such as https://host/v1, or the full address of one of the three APIs"
    )
    parser.add_argument(
        "-o", "--out", type=Path, required=True, metavar="FILE", help="the capture to write, .jsonl or .jsonl.gz"
    )
    parser.add_argument("--api", choices=sorted(PATHS), help="default: told from the end of the URL")
    parser.add_argument(
        "--request", type=Path, metavar="FILE", help="the request body as JSON, as the API documents it"
    )
    parser.add_argument("--model", help="instead of, or over, the body's model")
    parser.add_argument("--prompt", help="instead of --request: one user message")
    parser.add_argument("--tools", type=Path, metavar="FILE", help="with --prompt: tools as in data/tools.json")
    parser.add_argument("--max-tokens", type=int, default=1024, help="with --prompt: the limit (default %(default)s)")
    parser.add_argument(
        "--key-env",
        metavar="NAME",
        help="environment variable with the key (default: OPENAI_API_KEY or ANTHROPIC_API_KEY)",
    )
    parser.add_argument(
        "--header", action="append", default=[], metavar="'NAME: VALUE'", help="a further header; its value is not kept"
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=60.0,
        metavar="S",
        help="seconds of silence before giving up (default %(default)s)",
    )
    parser.add_argument("--note", default="", help="a line for the capture's header")
    parser.add_argument("--licence", default="", help="the licence of the recording, for the capture's header")
    parser.add_argument("--force", action="store_true", help="write over a file that is there")


def run(args) -> int:
    """Record; 0 for any valid capture, 130 where it was ended with Ctrl-C."""
    api = args.api or next(
        (api for api, path in PATHS.items() if args.url.split("?")[0].rstrip("/").endswith(path)), None
    )
    if api is None:
        raise Problem(f"the URL does not say which API it speaks; add --api, one of {', '.join(sorted(PATHS))}")
    if not args.out.name.endswith(SUFFIXES):
        raise Problem(f"--out: expected a name ending in {' or '.join(SUFFIXES)}, got {args.out.name!a}")
    if args.out.exists() and not args.force:
        raise Problem(f"{args.out} is there already; --force writes over it")
    if not args.out.parent.is_dir():
        raise Problem(f"{args.out.parent}: no such folder")
    if not args.timeout > 0:
        raise Problem(f"--timeout: expected seconds above 0, got {args.timeout}")
    if args.key_env and not os.environ.get(args.key_env):
        raise Problem(f"--key-env: the environment variable {args.key_env} is not set")
    key = os.environ.get(args.key_env or KEYS[api])
    told = {name: text for name, text in (("note", args.note), ("licence", args.licence)) if text}
    with tqdm(unit="B", unit_scale=True, desc=args.out.name, file=sys.stderr, disable=not sys.stderr.isatty()) as bar:
        path = record(
            args.out, args.url, api, _body(args, api), key=key, headers=dict(map(_header, args.header)), header=told,
            timeout=args.timeout, on_read=lambda at, data: bar.update(len(data)),
        )  # fmt: skip
    return _report(path)


def _report(path: Path) -> int:
    capture = read_capture(path)
    turn = capture.turn()
    calls = ", ".join(f"{call.name!a} {call.outcome}" for call in turn.calls) or "no calls"
    print(
        f"{path}: {len(capture.reads)} reads, {len(capture.body)} bytes, {capture.ended_at:.2f} s, {capture.ending}; {turn.verdict} ({ascii(turn.reason)[1:-1]}), {calls}"
    )
    return 130 if capture.ending == "cancel" else 0


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name.strip()):
        raise Problem("--header: expected 'NAME: VALUE'")  # the text is not shown: it may hold a key
    return name.strip(), value.strip()


def _json(path: Path, option: str):
    try:
        return json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise Problem(f"{option}: cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise Problem(f"{option}: {path} is not JSON: {error}") from None


def _body(args, api: str) -> dict:
    if bool(args.request) == bool(args.prompt):
        raise Problem("give either --request FILE or --prompt TEXT (with --model)")
    if args.request:
        body = _json(args.request, "--request")
        if not isinstance(body, dict):
            raise Problem(f"--request: {args.request}: expected a JSON object, the body of the request")
        return body | ({"model": args.model} if args.model else {})
    if not args.model:
        raise Problem("--prompt needs --model, the name of the provider's model")
    tools = _json(args.tools, "--tools") if args.tools else []
    if not isinstance(tools, list) or not all(
        isinstance(tool, dict) and {"name", "parameters"} <= tool.keys() for tool in tools
    ):
        raise Problem(f"--tools: {args.tools}: expected a list of objects with name, description and parameters")
    return asked(api, args.model, args.prompt, tools, args.max_tokens)
