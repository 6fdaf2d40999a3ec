"""What fuzz.py starts from: bodies of the captures, the cases and a corpus, argument texts, capture files, histories, tables."""

import json
import os
import random
from pathlib import Path

from streamkit.history import persist
from streamkit.lab.captures import find_captures, read_capture
from streamkit.lab.cases import read_cases, reads_of, turn_of_case
from streamkit.lab.paths import CASES
from streamkit.results import HISTORIES
from streamkit.wire import APIS

ROOM = 2_000  # bytes of a seed: what is longer loses frames from its middle, so that a million inputs take minutes
TOOLS = [  # what our own tools do not have: a multiple of a fraction, a schema that refers to itself
    {
        "name": "pay",
        "parameters": {"properties": {"amount": {"type": "number", "multipleOf": 0.01}, "a": {"multipleOf": 0.1}}},
    },
    {"name": "tree", "parameters": {"type": "object", "additionalProperties": {"$ref": "#"}}},
]
TEXTS = [
    '{"a":"\\ud83d\\ude00é","b":[1,{"c":-1.5e3}],"d":null,"e":true}',
    '{"":""}',
    "{}",
    "null",
    '{"a":9007199254740993}',
    '{"amount":12.5}',
    '{"a":{"a":{}}}',
]


class Seeds:
    """`bodies`: for each API; `texts`: argument texts; `files`: capture files; `histories`: JSON texts; `tools`."""

    def __init__(self):
        self.bodies: dict[str, list[bytes]] = {api: [] for api in APIS}
        texts, self.tools = dict.fromkeys(TEXTS), {tool["name"]: tool for tool in TOOLS}
        captures = [read_capture(path) for path in find_captures()]
        corpus = os.environ.get("STREAMKIT_CORPUS")
        folders = [CASES, *sorted(Path(corpus).glob("*.jsonl"))] if corpus else [CASES]
        cases = list(read_cases(*folders))
        for capture in captures:
            self.bodies[capture.api].append(capture.body)
            texts |= dict.fromkeys(call.text for call in capture.turn().calls)
            self.tools |= {tool["name"]: tool for tool in capture.tools}
        for case in cases:
            self.bodies[case["api"]].append(b"".join(data for _, data in reads_of(case)))
            texts |= dict.fromkeys(call.text for call in turn_of_case(case).calls)
            self.tools |= {tool["name"]: tool for tool in case.get("tools") or ()}
        self.found = f"{len(captures)} captures, {len(cases)} cases{' and recorded streams' if corpus else ''}"
        self.texts = [text[:ROOM].encode("utf-8", "surrogatepass") for text in texts]
        self.files = [capture.path.read_bytes() for capture in captures if len(capture.body) < 4_000]
        self.tables = [TABLE]
        turns = [capture.turn() for capture in captures] + [turn_of_case(case) for case in cases]
        self.histories = [json.dumps(persist(turn, api)).encode() for turn in turns for api in HISTORIES]

    def body(self, chance: random.Random, api: str) -> bytes:
        """A body of this API: its head, a stretch of its middle, its end."""
        body = chance.choice(self.bodies[api])
        if len(body) <= ROOM or chance.random() < 0.002:
            return body
        mark = b"\n" if api == "ollama" else b"\n\n"
        frames = body.split(mark)
        most = max(2, ROOM * len(frames) // len(body))
        head, tail = most // 4 + 1, most // 4 + 2
        place = chance.randrange(head, max(head + 1, len(frames) - tail))
        return mark.join(frames[:head] + frames[place : place + most // 2] + frames[-tail:])


TABLE = b'''call,tool,at,fragment,completed
1,create_order,0.1,"{""sku"":",
1,create_order,0.2,"""A-1""}",0.3
2,create_order,0.25,{},
'''
