"""The strict parse: what Python's parser takes and JSON, or a tool, must not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamkit.strict import DEPTH, DIGITS, NotStrict, strict

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON, st.booleans())
def test_every_document_comes_back(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert json.dumps(strict(text)) == json.dumps(value)


@given(st.dictionaries(st.text(), JSON, min_size=1, max_size=4), st.data())
def test_no_proper_prefix_parses(value, data):
    text = json.dumps(value)
    cut = data.draw(st.integers(0, len(text) - 1))
    with pytest.raises(NotStrict):
        strict(text[:cut])


@pytest.mark.parametrize(
    ("text", "reason", "position"),
    [
        ('{"a": 1, "a": 2}', "repeated key", 9),
        ('{"a": {"b": 1, "\\u0062": 2}}', "repeated key", 15),
        ('[{"a": 1}, {"a": "a", "b": ["a", "a"]}, NaN]', "not a JSON number", 40),
        ('{"a": "NaN", "b": -Infinity}', "not a JSON number", 18),
        ('{"a": 1e400}', "number out of range", 6),
        ('{"a": "NaN", "b": -InfinityE}', "not a JSON number", 18),
        ('{"a": NaNe1}', "not a JSON number", 6),
        ("-aE" + "[" * 101, "nested too deep", 103),
        ('{"a": 1.5, "b": 1e400e}', "number out of range", 16),
        ('{"a": -1e400}', "number out of range", 6),
        ("[" + "9" * (DIGITS + 1) + "]", "number too long", 1),
        ('{"a": "ok", "b": "\\ud83d"}', "lone surrogate", 17),
        ('{"\\ude00": 1}', "lone surrogate", 1),
        ('{"a": "\ud83d"}', "lone surrogate", 6),
        ("[" * (DEPTH + 1) + "]" * (DEPTH + 1), "nested too deep", DEPTH),
        ("[" * 100_000, "nested too deep", DEPTH),
        ('{"a": 1} x', "not JSON", 9),
        ("{}{}", "not JSON", 2),
        ("", "empty", 0),
        ("\ufeff{}", "not JSON", 0),
        ("{'a': 1}", "not JSON", 1),
        ("[01]", "not JSON", 2),
    ],
)
def test_refused_with_reason_and_position(text, reason, position):
    with pytest.raises(NotStrict) as refused:
        strict(text)
    assert (refused.value.reason, refused.value.position) == (reason, position)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": {"a": 1}, "b": {"a": 2}}',
        '"[[[[{{{{"',
        '"' + "[" * 500 + '"',
        '"\\ud83d\\ude00"',
        '["a", "a"]',
        "9" * DIGITS,
    ]
    + ["[" * DEPTH + "]" * DEPTH, '{"a": "\\\\ud83d"}', '[1e308, -0.0, "NaN"]'],
)
def test_not_refused(text):
    assert json.dumps(strict(text)) == json.dumps(json.loads(text))


def test_a_string_left_open_over_many_quotes_is_read_once():
    """Deep nesting is looked for first; the look must not begin anew at each quote of a text that never closes."""
    with pytest.raises(NotStrict) as refused:
        strict("[" * 99 + '{"a": "' + '[\\"' * 300_000)
    assert refused.value.reason == "not JSON"
