"""Plain mutation for fuzz.py: bytes, JSON texts and JSON values in, damaged ones out. All chance comes from a seeded Random."""

import copy
import json
import random
import re

from .words import DEEP, LONG, OBJECTS, ODD, TOKENS


def damaged(chance: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """`data` with one to four faults; `others` are what may be spliced in."""
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 4))):
        data = chance.choice(WAYS)(chance, data, others)
    return data


def _span(chance, data, longest=60):
    begin = chance.randrange(len(data) + 1)
    return begin, min(len(data), begin + chance.randrange(1, longest))


def _flip(chance, data, others):
    if not data:
        return data
    place = chance.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :]


def _delete(chance, data, others):
    begin, end = _span(chance, data, chance.choice((2, 2, 20, 400)))
    return data[:begin] + data[end:]


def _insert(chance, data, others):
    place = chance.randrange(len(data) + 1)
    return data[:place] + chance.choice(TOKENS) + data[place:]


def _at_a_mark(chance, data, others):
    """A token in the place of a mark of the grammar, or beside it."""
    marks = [found.start() for found in re.finditer(rb'[\[\]{}:,"\n\\]', data)]
    if not marks:
        return _insert(chance, data, others)
    place = chance.choice(marks)
    return data[:place] + chance.choice(TOKENS) + data[place + chance.randrange(2) :]


def _duplicate(chance, data, others):
    begin, end = _span(chance, data, 300)
    return data[:end] + data[begin:end] + data[end:]


def _splice(chance, data, others):
    other = chance.choice(others)
    begin, end = _span(chance, other, 300)
    place = chance.randrange(len(data) + 1)
    return data[:place] + other[begin:end] + data[place + (end - begin) * chance.randrange(2) :]


def _truncate(chance, data, others):
    return data[: chance.randrange(len(data) + 1)]


def _swap(chance, data, others):
    """Two neighbouring pieces change places."""
    a, b, c = sorted(chance.randrange(len(data) + 1) for _ in range(3))
    return data[:a] + data[b:c] + data[a:b] + data[c:]


def _swap_frames(chance, data, others):
    mark = chance.choice((b"\n\n", b"\n"))
    frames = data.split(mark)
    a, b = chance.randrange(len(frames)), chance.randrange(len(frames))
    how = chance.randrange(3)
    if how == 0:
        frames[a], frames[b] = frames[b], frames[a]
    elif how == 1:
        frames.insert(a, frames[b])
    else:
        del frames[a]
    return mark.join(frames)


def _digits(chance, data, others):
    numbers = list(re.finditer(rb"\d+", data))
    if not numbers:
        return _insert(chance, data, others)
    found = chance.choice(numbers)
    long = chance.choice((b"1" * chance.choice(LONG), b"9" * 20, b"0" * 5, b"1e400", b"1.0", b"-7", b"1" + b"0" * 308))
    return data[: found.start()] + long + data[found.end() :]


def _nest(chance, data, others):
    place, depth = chance.randrange(len(data) + 1), chance.choice(DEEP)
    opened, closed = chance.choice(((b"[", b"]"), (b'{"a":', b"}"), (b"[", b""), (b'[{"a":', b"}]")))
    return data[:place] + opened * depth + b"1" + closed * depth + data[place:]


def _blow_up(chance, data, others):
    place = chance.randrange(len(data) + 1)
    return data[:place] + chance.choice(TOKENS) * chance.choice((50, 400, 4_000)) + data[place:]


def _value_in_a_frame(chance, data, others):
    """A frame's JSON stays JSON, and something in it is another value: what reaches past the parse."""
    frames = data.split(b"\n")
    places = [place for place, frame in enumerate(frames) if b"{" in frame]
    if not places:
        return _at_a_mark(chance, data, others)
    place = chance.choice(places)
    head, brace, rest = frames[place].partition(b"{")
    try:
        value = json.loads(brace + rest)
    except (ValueError, RecursionError):
        return _at_a_mark(chance, data, others)
    frames[place] = head + json.dumps(reshaped(chance, value), ensure_ascii=chance.random() < 0.7).encode(
        "utf-8", "replace"
    )
    return b"\n".join(frames)


WAYS = [
    _flip,
    _delete,
    _insert,
    _at_a_mark,
    _at_a_mark,
    _duplicate,
    _splice,
    _truncate,
    _swap,
    _swap_frames,
    _swap_frames,
]
WAYS = WAYS * 3 + [_value_in_a_frame] * 27 + [_digits, _digits, _nest, _blow_up]


def reshaped(chance: random.Random, value):
    """A JSON value with one of its nodes replaced, dropped, doubled, renamed, or another one put in its place."""
    value = json.loads(json.dumps(value))
    nodes: list = []
    _collect(value, nodes)
    if not nodes:
        return copy.deepcopy(chance.choice(ODD))
    parent, key = chance.choice(nodes)
    way = chance.randrange(7)
    if way == 0:
        del parent[key]
    elif way == 1 and isinstance(parent, list):
        parent.insert(key, parent[key])
    elif way == 1:
        parent[str(chance.choice(ODD))] = parent.pop(key)
    elif way == 2:
        other, at = chance.choice(nodes)
        if at in other if isinstance(other, dict) else at < len(other):
            parent[key] = json.loads(json.dumps(other[at]))
    elif way == 3 and isinstance(parent[key], str):
        text, place = parent[key], chance.randrange(len(parent[key]) + 1)
        odd = chance.choice(ODD)  # only where it is text
        parent[key] = (
            text[:place]
            + (odd if isinstance(odd, str) else chance.choice('{}[]",:\\'))
            + text[place + chance.randrange(2) :]
        )
    elif way == 4 and isinstance(parent[key], str):
        parent[key] = parent[key][: chance.randrange(len(parent[key]) + 1)]
    elif way > 4 and isinstance(parent[key], dict) and chance.random() < 0.6:
        parent[key] = copy.deepcopy(chance.choice(OBJECTS))
    else:
        parent[key] = copy.deepcopy(chance.choice(ODD))
    return value


def _collect(value, nodes: list) -> None:
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        nodes.append((value, key))
        _collect(value[key], nodes)
