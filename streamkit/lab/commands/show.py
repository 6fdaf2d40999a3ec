"""streamkit show: the turn of a capture, for people."""

import json
import re
import shutil
import sys
import textwrap

from streamkit.events import Call, TextDelta, ThinkingDelta
from streamkit.lab.captures import Capture, find_captures, read_capture
from streamkit.lab.problem import Problem

UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
MASK = "(hidden)"


def arguments(parser) -> None:
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="CAPTURE",
        help="a capture's file or name; several or a folder: a line each (default: data/captures)",
    )
    parser.add_argument("--events", action="store_true", help="each event of the stream with its time, too")
    parser.add_argument("--unmask", action="store_true", help="show fields that the tool's schema marks writeOnly")


def run(args) -> int:
    """Print one capture whole, or a line for each of several."""
    paths = find_captures(*args.paths)
    if len(paths) > 1:
        width = max(len(path.name) for path in paths)
        status = 0
        for path in paths:
            try:
                print(_line(read_capture(path), width))
            except Problem as problem:  # one broken file hides no other
                print(f"streamkit show: {problem}", file=sys.stderr)
                status = 2
        return status
    capture = read_capture(paths[0])
    for line in shown(capture, unmask=args.unmask):
        print(line)
    if args.events:
        print("\nEvents")
        hidden = not args.unmask and any(_secret_fields(tool.get("parameters")) for tool in capture.tools)
        for event in capture.events():
            print(f"{event.at:9.3f} s  {_event(event, hidden)}")
    return 0


def _event(event, hidden: bool) -> str:
    """An event on one line; with `hidden` fields about, argument text is only counted."""
    fields = {name: value for name, value in event._asdict().items() if name != "at" and value not in (None, "")}
    if hidden and not isinstance(event, TextDelta | ThinkingDelta) and "text" in fields:
        fields["text"] = f"({len(event.text)} characters, not shown)"
    return safe(f"{type(event).__name__}({', '.join(f'{name}={value!r}' for name, value in fields.items())})")


def safe(text: str) -> str:
    """Text from a model as one line for a terminal: control, bidirectional and invisible characters escaped."""
    return UNSAFE.sub(lambda found: _escape(found[0]), text)


def _escape(char: str) -> str:
    return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(char) or (
        f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}"
    )


def shown(capture: Capture, unmask: bool = False) -> list[str]:
    """The lines that show a capture: what it is, its blocks in order, how it ended. Times are seconds since the request was sent."""
    header, turn = capture.header, capture.turn()
    hidden = {} if unmask else {tool["name"]: _secret_fields(tool.get("parameters")) for tool in capture.tools}
    lines = [f"{safe(capture.name)}: {capture.api}, {safe(str(header.get('model', 'model unknown')))}"]
    for name in ("derived", "note"):
        if header.get(name):
            lines.append(f"{name}: {safe(str(header[name]))}")
    for block in turn.blocks:
        lines.append("")
        if block.kind == "call":
            lines += _call(block.call, hidden.get(block.call.name, set()))
        elif block.kind in ("text", "thinking"):
            lines += [f"{block.kind}, {block.at:.3f} s", *_wrapped(block.text)]
        else:
            lines += [f"{block.kind}, kept as it came, {block.at:.3f} s"]
    lines.append("")
    lines.append(f"turn: {turn.verdict} ({safe(turn.reason)}); next: {turn.next}")
    lines.append(
        f"connection: {capture.ending} after {capture.ended_at:.3f} s; {len(capture.reads)} reads, {len(capture.body)} bytes"
    )
    return lines


def _call(call: Call, hidden: set[str]) -> list[str]:
    size = f"{len(call.text)} characters in {len(call.fragments)} fragments"
    lines = [
        f"call {call.ordinal + 1}: {safe(call.name) or '(unnamed)'}  {call.outcome}  id {safe(call.id or '')}{' (minted)' if call.minted else ''}"
    ]
    times = [("announced", call.announced_at)]
    if call.fragments:
        times += [("first fragment", call.fragments[0].at), ("last", call.fragments[-1].at)]
    told = ", ".join(f"{name} {at:.3f} s" for name, at in times if at is not None)
    done = f"completed {call.finished_at:.3f} s" if call.finished_at is not None else "no completion event"
    lines.append(f"    {told}, {done}; {size}")
    lines += _wrapped(_masked(call.text, hidden))
    if isinstance(call.detail, dict):
        for complaint in call.detail.get("complaints", []):
            lines.append(f"    refused: {safe(str(complaint))}")
        if "position" in call.detail:
            lines.append(
                f"    does not parse: {safe(str(call.detail['reason']))} at character {call.detail['position']}"
            )
    return lines


def _masked(text: str, hidden: set[str]) -> str:
    """The argument text; where the tool has fields that must not be shown, the parsed arguments without their values."""
    if not hidden:
        return text
    try:
        value = json.loads(text)
    except ValueError:
        return f"({len(text)} characters, not shown: {', '.join(sorted(hidden))} may be among them)"
    return json.dumps(_without(value, hidden), ensure_ascii=False)


def _without(value, hidden: set[str]):
    if isinstance(value, dict):
        return {key: MASK if key in hidden else _without(item, hidden) for key, item in value.items()}
    return [_without(item, hidden) for item in value] if isinstance(value, list) else value


def _secret_fields(schema) -> set[str]:
    """The names of the fields that a JSON Schema marks writeOnly, or as a password, at any depth."""
    found = set()
    if isinstance(schema, dict):
        for name, field in (schema.get("properties") or {}).items():
            if isinstance(field, dict) and (field.get("writeOnly") is True or field.get("format") == "password"):
                found.add(name)
            found |= _secret_fields(field)
        found |= _secret_fields(schema.get("items"))
    return found


def _wrapped(text: str) -> list[str]:
    width = max(40, min(shutil.get_terminal_size((100, 24)).columns, 120)) - 4
    pieces = [
        line for part in text.split("\n") for line in textwrap.wrap(safe(part), width, drop_whitespace=False) or [""]
    ]
    while pieces and not pieces[-1]:
        pieces.pop()
    return ["    " + piece for piece in pieces]


def _line(capture: Capture, width: int) -> str:
    turn = capture.turn()
    calls = (
        ", ".join(f"{safe(call.name)} {call.outcome}" for call in turn.calls)
        or f"no calls, {len(turn.text)} characters"
    )
    return f"{safe(capture.path.name):{width}}  {capture.ended_at:7.2f} s  {capture.ending:10}  {turn.verdict} ({safe(turn.reason)}): {calls}"
