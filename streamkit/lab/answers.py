"""Answers of exercises whose piece is smaller than the package's: steps on the way, taught and then outgrown.

`reveal` prints them from here. Where the piece is the package's own, the package is the answer key.
"""

import hashlib
import json
import re
import sqlite3

import rfc8785
from partial_json_parser import Allow, MalformedJSON, loads

from ..blocks import Block
from ..events import Call, CallDelta, CallMoved, TextDelta
from ..note import one_line
from ..preview import visible
from ..render import SIGNS
from ..results import clean

# Chapter 1


def cuts(text):
    """A few ways to cut an argument text in two, each at a place where some client breaks."""
    spaces, escapes, middles = [], [], []
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"|[\w.+-]+', text):  # strings, numbers, words
        start, end = token.span()
        spaces += [start + at for at, sign in enumerate(token[0]) if sign == " "]
        escapes += [start + pair.start() + 1 for pair in re.finditer(r'\\["\\]', token[0])]
        if len(token[0]) > 1:
            middles.append((start + end) // 2)
    places = spaces[:3] + escapes[:3] + middles[-3:]
    return [[text[:at], text[at:]] for at in places]


# Chapter 2


class Buffer:
    """The argument text of one call. Fragments are opaque: appended, in the order they came."""

    def __init__(self):
        self.pieces = []

    def add(self, delta):
        """Take one CallDelta; return nothing."""
        self.pieces.append(delta.text)

    @property
    def text(self):
        """All fragments joined: for the end, not for every delta."""
        return "".join(self.pieces)


class Keyed:
    """The calls of one stream, in order of first appearance. The index keys the buffer, the id is kept."""

    def __init__(self):
        self.calls = []
        self.at = {}  # index → its call

    def add(self, event):
        """Take a CallDelta; return the call it went to, None for any other event."""
        if not isinstance(event, CallDelta):
            return None
        call = self.at.get(event.index)
        if call is None:
            call = self.at[event.index] = Call(len(self.calls), event.index)
            self.calls.append(call)
        if event.id and not call.id:
            call.id = event.id
        if event.name and not call.names:
            call.names.append(event.name)
        if event.text:
            call.fragments.append(event)
        return call


# Chapter 6


def strict_parse(text):
    """The value of a JSON text. ValueError for what is no JSON, and for what no tool should be given."""

    def once(pairs):
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a key came twice")
        return dict(pairs)

    try:
        value = json.loads(text, object_pairs_hook=once)
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()  # refuses NaN, 1e400, half a pair
    except RecursionError:
        raise ValueError("nested too deep") from None
    return value


# Chapter 3


class InOrder:
    """Blocks in the order they began: text and calls, for streams without coordinates."""

    def __init__(self, calls):
        self.blocks = []
        self.calls = calls

    def add(self, event):
        """Take a TextDelta or a CallMoved."""
        if isinstance(event, TextDelta):
            if not self.blocks or self.blocks[-1].kind != "text":
                self.blocks.append(Block("text", None, event.at))
            self.blocks[-1].pieces.append(event.text)
        elif isinstance(event, CallMoved):
            call = self.calls[event.ordinal]
            block = next((block for block in self.blocks if block.call is call), None)
            if block is None:
                block = Block("call", None, event.at, call=call)
                self.blocks.append(block)
            block.outcome, block.effect, block.detail = event.outcome, event.effect, event.detail


def render(blocks):
    """What a user sees of the blocks, as text: in their order, a paragraph each, calls by sign, name and state."""
    shown = []
    for block in blocks:
        if block.kind == "text" and block.text:
            shown.append(visible(block.text).strip("\n"))
        elif block.kind == "call":
            shown.append(f"[{SIGNS[block.state]} {visible(block.call.name)}: {block.state}]")
    return "\n\n".join(shown)


# Chapter 5


def preview_lines(label, show, fields):
    """What a screen may show of a call: its label, then the listed fields that are there, in the list's order."""
    lines = [visible(label)]
    for name, how in show.items():
        if name not in fields:
            continue
        value = fields[name]
        text = value if isinstance(value, str) else json.dumps(value)
        if how == "masked":
            text = "•••"
        elif how == "counted":
            text = f"{len(text)} characters"
        elif how == "line":
            text = " ".join(text.split())
        lines.append(f"{name}: {visible(text)}")
    return lines


def stable_fields(text):
    """The fields of a forming object that can no longer change, found by reading the whole text again."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        fields = loads(text, Allow.OBJ)  # strings, numbers and lists count when they are closed
    except MalformedJSON:
        return {}
    if fields and isinstance(list(fields.values())[-1], dict):
        fields.popitem()  # the last object may still be open
    return fields


# Chapter 4


def first_parse(fragments, required):
    """After how many fragments a tolerant parser first gives an object with all required fields; None: never."""
    text = ""
    for number, fragment in enumerate(fragments, 1):
        text += fragment
        try:
            value = loads(text, Allow.ALL)
        except Exception:  # the parser's own, of several types
            continue
        if isinstance(value, dict) and required <= set(value):
            return number
    return None


# Chapter 7


def call_key(conversation, turn, tool, arguments):
    """What makes two calls the same effect: a hash over canonical JSON (RFC 8785), in which spelling does not count."""
    return hashlib.sha256(rfc8785.dumps(["v1", conversation, turn, tool, arguments])).hexdigest()


class SmallLedger:
    """Claims in one SQLite file. A call is claimed before its tool runs, and settled after."""

    def __init__(self, path):
        self.db = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
        self.db.execute("CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, result TEXT)")

    def claim(self, key):
        """("new", None): run it. ("settled", result): it ran. ("open", None): somebody runs it, or died: do not run it."""
        try:
            self.db.execute("INSERT INTO claims VALUES (?, NULL)", (key,))
            return "new", None
        except sqlite3.IntegrityError:
            (result,) = self.db.execute("SELECT result FROM claims WHERE key = ?", (key,)).fetchone()
            return ("open", None) if result is None else ("settled", json.loads(result))

    def settle(self, key, result):
        """Write down the result of a claimed call; a result that is there stays."""
        self.db.execute("UPDATE claims SET result = ? WHERE key = ? AND result IS NULL", (json.dumps(result), key))


# Chapter 8


def history_of(turn):
    """The messages that a turn which broke off leaves (Chat Completions): its prose, and a one-line interruption note."""
    notes = []
    if turn.verdict != "complete" or turn.calls:
        names = [one_line(call.name) or "a tool without a name" for call in turn.calls]
        cut = "".join(f"; the call to {name} did not run" for name in names)
        notes = [f"[interruption note: the reply was cut off ({one_line(turn.reason)}){cut}]"]
    prose = [clean(turn.text).strip()] if turn.text.strip() else []
    content = "\n\n".join(prose + notes)
    return [{"role": "assistant", "content": content}] if content else []
