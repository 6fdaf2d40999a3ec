"""The stable fields against the strict parse: equal, once, in order, and as early as the text allows.

*As early as the text allows* is meant in two ways, and both are tested. By position: a plain character of a string is
given out with itself, an escape with its last letter, an escaped surrogate pair with the last letter of the second half;
a string, a container and a literal are closed by their last character, a number by the first character behind it.
By meaning: after every prefix, what has been given out is exactly what all continuations of that prefix agree on. Two
things are held back although nothing could change them: a literal until its last letter, a container until its bracket.
"""

import json
import random
from itertools import pairwise
from json.decoder import scanstring

import pytest
from conftest import ALL_CASES
from hypothesis import given, settings
from hypothesis import strategies as st

from streamkit.fields import Fields, Wrong
from streamkit.lab.captures import find_captures, read_capture
from streamkit.lab.cases import turn_of_case
from streamkit.lab.paths import CAPTURES
from streamkit.strict import DEPTH, NotStrict, strict

SPACE = " \t\n\r"
DECODER = json.JSONDecoder()
ALPHABET = 'ab\\"/{}[]:,\n\t\0\x7fé\u2028\ud7ff\ue000\uffff\U0001f600\U0010ffff'
LEAVES = (0, -0.0, 10, -7, 2**70, 0.5, 1e300, -1.5e-9, True, False, None)
SEEDS = st.integers(0, 2**64)

VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
OBJECT = st.dictionaries(st.text(max_size=4), VALUE, max_size=5)


def random_text(chance: random.Random, longest: int) -> str:
    return "".join(chance.choices(ALPHABET, k=chance.randint(0, longest)))


def random_value(chance: random.Random, levels: int):
    kind = chance.random()
    if levels and kind < 0.2:
        return [random_value(chance, levels - 1) for _ in range(chance.randint(0, 3))]
    if levels and kind < 0.4:
        return random_object(chance, levels - 1)
    return random_text(chance, 9) if kind < 0.75 else chance.choice(LEAVES)


def random_object(chance: random.Random, levels: int = 3) -> dict:
    return {random_text(chance, 3): random_value(chance, levels) for _ in range(chance.randint(0, 4))}


def write(value, chance: random.Random) -> str:
    """A JSON text of the value, one of the many there are: white space, escapes and number forms by chance."""
    if isinstance(value, str):
        return '"' + "".join(write_character(character, chance) for character in value) + '"'
    if isinstance(value, dict):
        inside = [
            f"{write(key, chance)}{gap(chance)}:{gap(chance)}{write(item, chance)}" for key, item in value.items()
        ]
        return "{" + gap(chance) + f"{gap(chance)},{gap(chance)}".join(inside) + gap(chance) + "}"
    if isinstance(value, list):
        inside = [write(item, chance) for item in value]
        return "[" + gap(chance) + f"{gap(chance)},{gap(chance)}".join(inside) + gap(chance) + "]"
    text = json.dumps(value)
    return text.replace("e", "E") if isinstance(value, float) and chance.random() < 0.3 else text


def write_character(character: str, chance: random.Random) -> str:
    way, point = chance.random(), ord(character)
    if way < 0.2 and point < 0x10000:
        escape = f"\\u{point:04x}"
        return escape if way < 0.1 else escape[:2] + escape[2:].upper()
    if way < 0.5 and point >= 0x10000:
        return json.dumps(character)[1:-1]
    return "\\/" if character == "/" and way < 0.6 else json.dumps(character, ensure_ascii=False)[1:-1]


def gap(chance: random.Random) -> str:
    return "".join(chance.choice(SPACE) for _ in range(chance.choice((0, 0, 0, 1, 1, 2))))


def expected(text: str) -> list[tuple[int, tuple]]:
    """What is to be given out of an object without repeated keys, each with the length of text it needs: another parser."""
    events, at = [], skip(text, text.index("{") + 1)
    while text[at] != "}":
        key, at = scanstring(text, at + 1)
        at = skip(text, skip(text, at) + 1)
        value, end = DECODER.raw_decode(text, at)
        if isinstance(value, str):
            at += 1
            while text[at] != '"':
                size = 1 if text[at] != "\\" else 2 if text[at + 1] != "u" else 6
                size = 12 if text[at : at + 3].lower() == "\\ud" and text[at + 3] in "89abAB" else size
                events.append((at + size, ("text", key, json.loads(f'"{text[at : at + size]}"'))))
                at += size
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        events.append((end + is_number, ("value", key, value)))
        at = skip(text, end)
        at = skip(text, at + 1) if text[at] == "," else at
    return events


def skip(text: str, at: int) -> int:
    while text[at : at + 1] and text[at] in SPACE:
        at += 1
    return at


def given_out(text: str, cuts=None) -> tuple[list[tuple[int, tuple]], Fields]:
    """All events, each with the length of text fed by then; character by character, or cut at `cuts`."""
    fields, events = Fields(), []
    edges = range(len(text) + 1) if cuts is None else sorted({0, *cuts, len(text)})
    for start, stop in pairwise(edges):
        events += [(stop, event) for event in fields.feed(text[start:stop])]
    return events, fields


def joined(events, cuts, length) -> list[tuple[int, tuple]]:
    """The events as they look when the text comes cut at `cuts`: at the end of a fragment, pieces of one string in one."""
    edges, seen = sorted({0, *cuts, length}), []
    for needs, (kind, key, value) in events:
        at = next(edge for edge in edges if edge >= needs)
        if kind == "text" and seen and seen[-1][0] == at and seen[-1][1][:2] == (kind, key):
            value = seen.pop()[1][2] + value
        seen.append((at, (kind, key, value)))
    return seen


def same(left, right) -> bool:
    return repr(left) == repr(right)  # 1, 1.0 and True are different here


@settings(max_examples=4000)
@given(SEEDS)
def test_given_out_equal_once_in_order_and_as_early_as_the_text_allows(seed):
    chance = random.Random(seed)
    compare(random_object(chance), chance)


@settings(max_examples=300)
@given(OBJECT, SEEDS)
def test_the_same_on_documents_that_shrink(document, seed):
    compare(document, random.Random(seed))


def compare(document: dict, chance: random.Random) -> None:
    """Character by character, then under random cuts."""
    text = gap(chance) + write(document, chance) + gap(chance)
    events, fields = given_out(text)
    assert same(events, expected(text))
    assert same({key: value for _, (kind, key, value) in events if kind == "value"}, json.loads(text))
    assert fields.closed and fields.wrong is None
    cuts = chance.choices(range(len(text) + 1), k=chance.randint(0, 6))
    assert same(given_out(text, cuts)[0], joined(events, cuts, len(text)))


def test_pieces_of_a_string_are_the_string():
    text = r'{"a": "\ud83d\ude00 x\n\u00e9\\", "b": "", "c": ["\""]}'
    events, _ = given_out(text)
    pieces = [(key, piece) for _, (kind, key, piece) in events if kind == "text"]
    assert "".join(piece for _, piece in pieces) == json.loads(text)["a"] == "\U0001f600 x\né\\"
    assert all(piece for _, piece in pieces) and {key for key, _ in pieces} == {"a"}


# Every prefix of the documents below becomes an object in at least two ways with an end of one of these words and a closing.
WORDS = (
    *(r'\ud83d\ude00"', r'\ud83e\udfff"', r'\u0041"', r'\u0142"', 'A"', 'n"', 't"', ',"k": 7', ',"l": 8'),
    *("true", "false", "null", "07", "1", ".5"),
)
ENDS = {word[cut:] for word in WORDS for cut in range(len(word) + 1)}
CLOSINGS = [
    more + close
    for more in ("", ",1", ',"k":7', ":1", '":1', ':"1"', '":2')
    for close in ("", "}", "]}", "}}", "]}}", "}]}", "}]}}")
]


def continuations(prefix: str) -> list[dict]:
    """The objects that a prefix can become, over many ends: only text that parses strictly, without a repeated key."""
    found = []
    for end in ENDS:
        for closing in CLOSINGS:
            try:
                found.append(strict(prefix + end + closing))
            except NotStrict:
                continue
    return found


@pytest.mark.parametrize(
    "text",
    [
        r'{"a": "x\ud83d\ude00\n\u00e9/\/", "b": "y"}',
        r'{"a":"","\u0062":"\\"}',
        '{"a": 10, "b": -0.5e+10}',
        '{ "a" : true , "b":false,"c":null}',
        r'{"a": {"x": ["1", {}], "y": 2}, "b": [], "": {"\"": "]"}}',
        "{}",
    ],
)
def test_given_out_is_what_all_continuations_agree_on(text):
    fields, closed, forming = Fields(), {}, {}
    for length in range(1, len(text) + 1):
        for kind, key, value in fields.feed(text[length - 1]):
            if kind == "value":
                closed[key] = value
                forming.pop(key, None)
            else:
                forming[key] = forming.get(key, "") + value
        futures = continuations(text[:length])
        assert len(futures) > 1 or fields.closed, text[:length]
        agreed = {
            key: value for key, value in futures[0].items() if all(key in f and same(f[key], value) for f in futures)
        }
        held_back = {key for key, value in agreed.items() if key not in closed}
        assert {key: value for key, value in closed.items() if not (key in agreed and same(agreed[key], value))} == {}
        for key in held_back:  # nothing can change it and it is not given out: the first letters of a literal
            literal = json.dumps(agreed[key])
            assert literal in ("true", "false", "null") and not text[:length].endswith(literal)
        for key in {key for future in futures for key in future} - set(closed) - held_back:
            values = [future.get(key) for future in futures]
            if all(isinstance(value, str) for value in values):
                assert common_head(values) == forming.get(key, "")
            else:
                assert key not in forming


def common_head(texts: list[str]) -> str:
    low, high = min(texts), max(texts)
    return low[: next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high)))]


@settings(max_examples=2000)
@given(SEEDS)
def test_no_good_text_is_called_wrong_and_no_bad_text_closes(seed):
    chance = random.Random(seed)
    text = write(random_object(chance), chance)
    at, put = chance.randrange(len(text)), chance.choice('"\\{}[],:0-.e tnu\n\0d\ud83d')
    text = {
        "drop": text[:at] + text[at + 1 :],
        "double": text[:at] + text[at] + text[at:],
        "swap": text[:at] + text[at : at + 2][::-1] + text[at + 2 :],
        "put": text[:at] + put + text[at:],
    }[chance.choice(("drop", "double", "swap", "put"))]
    judge(text)
    whole, cut = given_out(text, [])[0], given_out(text)[0]
    assert same(joined([(len(text), event) for _, event in cut], [], len(text)), whole)


def judge(text: str) -> None:
    """Character by character: equal to the strict parse where there is one; else said to be wrong, or never closed."""
    events, fields = given_out(text)
    kinds = [event[0] for _, event in events]
    try:
        value = strict(text)
    except NotStrict as error:
        value, repeated = None, error.reason == "repeated key"
    else:
        repeated = False
    if not isinstance(value, dict):
        assert fields.wrong or not fields.closed or (repeated and "withdrawn" in kinds)
        assert kinds.count("wrong") == (fields.wrong is not None) and "wrong" not in kinds[:-1]
        return
    assert fields.closed and not fields.wrong
    assert same(events, expected(text))
    assert same({key: value for _, (kind, key, value) in events if kind == "value"}, value)


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("[1]", 0, "expected an object"),
        ("null", 0, "expected an object"),
        ('  "a"', 2, "expected an object"),
        ("\ufeff{}", 0, "expected an object"),
        ("{,}", 1, "expected a key or }"),
        ("{'a': 1}", 1, "expected a key or }"),
        ('{"a" 1}', 5, "expected a colon"),
        ('{"a": }', 6, "expected a value"),
        ('{"a": NaN}', 6, "expected a value"),
        ('{"a": +1}', 6, "expected a value"),
        ('{"a": nul}', 9, "expected null"),
        ('{"a": "b" "c": 1}', 10, "expected a comma or }"),
        ('{"a": truer}', 10, "expected a comma or }"),
        ('{"a": 1,}', 8, "expected a key"),
        ('{"a": 12ab}', 8, "expected the end of a number"),
        ('{"a": 01}', 7, "not JSON"),
        ('{"a": -}', 6, "not JSON"),
        ('{"a": 1.}', 7, "not JSON"),
        ('{"a": 1e999}', 6, "number out of range"),
        ('{"a": "b\nc"}', 8, "unescaped character"),
        ('{"a": "\ud83d"}', 7, "unescaped character"),
        (r'{"a": "b\x"}', 8, "bad escape"),
        (r'{"a": "\u12g4"}', 7, "bad escape"),
        (r'{"a": "\ud83d\n"}', 7, "bad escape"),
        (r'{"a": "\ud83d\ud83d"}', 7, "bad escape"),
        (r'{"a": "\ude00"}', 7, "bad escape"),
        (r'{"\ud83d": 1}', 2, "bad escape"),
        ('{"a": [1, {"b": 2]]}', 17, "not JSON"),
        ('{"a": [1 2]}', 9, "not JSON"),
        ('{"a": [NaN]}', 7, "not a JSON number"),
        (r'{"a": ["\ud83d"]}', 8, "bad escape"),
        ('{"a": {"b": "\t"}}', 13, "unescaped character"),
        ('{"a": 1} x', 9, "expected the end"),
        ('{"a": 1}{}', 8, "expected the end"),
    ],
)
def test_wrong_text_is_reported_with_its_position(text, position, reason):
    for cuts in ([], None, [position], [position + 1]):
        events, fields = given_out(text, cuts)
        assert fields.wrong == Wrong(position, reason)
        assert events[-1][1] == ("wrong", None, fields.wrong)
        assert [kind for _, (kind, _, _) in events].count("wrong") == 1
        assert fields.feed('{"b": 1}') == [] and fields.wrong == Wrong(position, reason)


@pytest.mark.parametrize(
    "text", ['{"a": 12a', '{"a": 12]', '{"a": 1"', r'{"a": "\ude00', r'{"a": "\ud83d\ud8', '{"a": [1}', "x"]
)
def test_wrong_text_is_reported_at_the_first_character_that_makes_it_so_and_gives_nothing_out(text):
    assert [kind for kind, _, _ in Fields().feed(text)] == ["wrong"]
    assert Fields().feed(text[:-1]) == []


@pytest.mark.parametrize("again", ['"a"', r'"\u0061"', r'"\u0061"', '"a" '])
def test_a_repeated_key_withdraws_the_field_for_good(again):
    text = f'{{"a": "first", "b": 1, {again}: "second", "c": 2, {again}: [3], "d": 4}}'
    events = [event for _, event in given_out(text)[0] if event[0] != "text" or event[2] == "secon"]
    assert events == [
        ("value", "a", "first"),
        ("value", "b", 1),
        ("withdrawn", "a", None),
        ("value", "c", 2),
        ("value", "d", 4),
    ]


def test_a_key_repeated_inside_a_value_withdraws_the_field():
    text = r'{"a": [{"x": 1, "\u0078": 2}], "b": 3, "a": 4}'
    assert [event for _, event in given_out(text)[0]] == [("withdrawn", "a", None), ("value", "b", 3)]


def test_a_withdrawn_field_that_is_wrong_is_still_wrong():
    assert given_out('{"a": 1, "a": [1 2]}')[1].wrong == Wrong(17, "not JSON")  # Pythons differ over the place in [1,]


def test_keys_may_be_empty_and_escaped():
    assert [event for _, event in given_out(r'{"": 1, "\u0061\ud83d\ude00": 2}')[0]] == [
        ("value", "", 1),
        ("value", "a\U0001f600", 2),
    ]


def test_a_container_may_nest_as_deep_as_the_strict_parse_allows_and_no_deeper():
    deepest = '{"a":' + "[" * (DEPTH - 1) + "]" * (DEPTH - 1) + "}"
    judge(deepest)
    assert given_out(deepest)[1].closed
    for many in (DEPTH, 100_000):
        text = '{"b": 1, "a":' + "[" * many
        assert given_out(text, [])[1].wrong == Wrong(13 + DEPTH - 1, "nested too deep")
        with pytest.raises(NotStrict):
            strict(text + "]" * many + "}")


def test_nothing_comes_of_a_value_that_is_not_closed():
    for forming in ("1", "-1.5e3", "tru", "[1, 2", '{"b": "c"', r'"\u00e', '"\\', r'"\ud83d', r'"\ud83d\ude0'):
        assert given_out('{"a": ' + forming)[0] == []


def test_every_prefix_of_the_cases():
    texts = [call.text for case in ALL_CASES for call in turn_of_case(case).calls]
    assert len(texts) > 60
    for text in texts:
        judge(text)


def test_every_prefix_of_the_captures():
    paths = find_captures(CAPTURES)
    if not paths:
        pytest.skip("data/captures holds no capture")
    for path in paths:
        judge_calls(read_capture(path).turn().calls)


def test_every_prefix_of_the_recorded_streams(corpus):
    judged = sum(judge_calls(turn_of_case(case).calls) for case in corpus)
    assert judged > 500


def judge_calls(calls) -> int:
    """Every prefix of every call, and the fragments as they came."""
    for call in calls:
        judge(call.text)
        edges = [0]
        for fragment in call.fragments:
            edges.append(edges[-1] + len(fragment.text))
        events = given_out(call.text)[0]
        assert same(given_out(call.text, edges)[0], joined(events, edges, len(call.text)))
    return len(calls)
