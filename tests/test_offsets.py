"""First parse by one scan against the two slow ways: partial-json-parser on every prefix, and the scanner of fields."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from partial_json_parser import Allow
from partial_json_parser import loads as tolerant

from streamkit.fields import Fields
from streamkit.lab.offsets import Field, fields_of, first_parse, offsets

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(-1e9, 1e9).map(lambda x: round(x, 3))
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.text(max_size=4), VALUES, min_size=1, max_size=5)
LAYOUT = st.sampled_from([{}, {"indent": 1}, {"separators": (",", ":")}, {"ensure_ascii": False}])


def keys_so_far(prefix: str) -> set[str]:
    """The keys that a tolerant parser gives for a prefix, whatever it raises meanwhile."""
    try:
        value = tolerant(prefix, Allow.ALL)
    except Exception:  # five kinds, some of them the library's own slips
        return set()
    return set(value) if isinstance(value, dict) else set()


@given(OBJECTS, LAYOUT)
def test_begun_is_when_a_tolerant_parser_first_has_all_keys(value, layout):
    text = json.dumps(value, **layout)
    begun, _ = offsets(text, set(value))
    first = next(end for end in range(len(text) + 1) if keys_so_far(text[:end]) == set(value))
    assert begun == first


@given(OBJECTS, LAYOUT)
def test_closed_is_when_the_scanner_gives_the_field_out(value, layout):
    text, scanner, given_out = json.dumps(value, **layout), Fields(), {}
    for end, character in enumerate(text, 1):
        for kind, key, _ in scanner.feed(character):
            if kind == "value":
                given_out[key] = end
    assert {field.key: field.closed for field in fields_of(text)} == given_out


@given(OBJECTS, LAYOUT, st.data())
def test_a_cut_text_has_the_fields_that_had_come(value, layout, data):
    text = json.dumps(value, **layout)
    cut = data.draw(st.integers(0, len(text)))
    whole = [f for f in fields_of(text) if f.begun <= cut]
    got = [f for f in fields_of(text[:cut]) if f.begun <= cut]
    assert [f.key for f in got] == [f.key for f in whole]
    assert [f.closed for f in got] == [f.closed if f.closed is not None and f.closed <= cut else None for f in whole]


@pytest.mark.parametrize("number", ["0.5", "-0.0", "1e9", "1E+9", "12.5e-7", "100"])
def test_a_number_that_is_cut_is_open_at_each_of_its_characters(number):
    text = f'{{"a": 1, "b": {number}}}'
    for cut in range(text.index(number), len(text)):
        assert fields_of(text[:cut])[1:][:1] in ([], [Field("b", 14, 15 + (number[0] == "-"), None)]), text[:cut]
    assert fields_of(text)[1].closed == len(text)


@given(OBJECTS, LAYOUT, st.lists(st.integers(1, 9), min_size=1))
def test_the_moment_is_that_of_the_fragment_which_brought_the_character(value, layout, sizes):
    text, fragments, start = json.dumps(value, **layout), [], 0
    while start < len(text):
        size = sizes[len(fragments) % len(sizes)]
        fragments.append(text[start : start + size])
        start += size
    begun, stable = first_parse(fragments, [float(n) for n in range(len(fragments))], set(value))
    upto = ["".join(fragments[: n + 1]) for n in range(len(fragments))]
    need = offsets(text, set(value))
    assert begun == next(n for n, prefix in enumerate(upto) if len(prefix) >= need[0])
    assert stable == next(n for n, prefix in enumerate(upto) if len(prefix) >= need[1])


@pytest.mark.parametrize(
    ("text", "required", "expected"),
    [
        ('{"a": 1, "b": "x"}', {"a"}, (7, 8)),
        ('{"a": "x", "b": 1}', {"a"}, (7, 9)),
        ('{"a": -1}', {"a"}, (8, 9)),
        ('{"a": true}', {"a"}, (7, 10)),
        ('{"a": 1', {"a"}, (7, None)),
        ('{"a": 1}', {"b"}, (None, None)),
        (" {}", set(), (2, 2)),
        ("[1]", {"a"}, (None, None)),
        ("", set(), (None, None)),
        ('{"a": 1, "a": 2}', {"a"}, (7, 8)),
    ],
)
def test_offsets(text, required, expected):
    assert offsets(text, required) == expected
