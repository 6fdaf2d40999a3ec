"""One rule: equal effects share a key, and no others do."""

import hashlib
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamkit.key import EXACT, Unkeyable, canonical, idempotency_key
from streamkit.lab.paths import CASES
from streamkit.strict import strict

numbers = st.integers() | st.integers(-(2**80), 2**80) | st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(exclude_categories=["Cs"])) | numbers.map(str)
scalars = st.none() | st.booleans() | numbers | texts
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=12)
objects = st.dictionaries(texts, values, max_size=6)


def key(arguments, conversation="c", turn=0, tool="t", occurrence=0):
    return idempotency_key(conversation, turn, tool, arguments, occurrence)


def same(a, b):
    """Whether two JSON values are equal, by JSON's types: numbers by value, true is not 1."""
    kinds = [(bool,), (int, float), (str,), (list,), (dict,), (type(None),)]
    kind = next(k for k in kinds if isinstance(a, k))
    if not isinstance(b, kind) or (isinstance(b, bool) and kind != (bool,)):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    return a == b


def shuffled(value, draw):
    """The same value with the keys of every object in another order."""
    if isinstance(value, dict):
        return {name: shuffled(value[name], draw) for name in draw(st.permutations(list(value)))}
    return [shuffled(item, draw) for item in value] if isinstance(value, list) else value


@given(objects, st.data())
def test_order_and_spacing_do_not_matter(arguments, data):
    other = shuffled(arguments, data.draw)
    text = json.dumps(other, indent=data.draw(st.sampled_from([None, 1])), ensure_ascii=data.draw(st.booleans()))
    assert key(arguments) == key(other) == key(strict(text))


@given(values, values)
def test_keys_are_equal_exactly_where_values_are(a, b):
    assert (key(a) == key(b)) == same(a, b)


@given(objects, scalars, scalars)
def test_one_value_changed_deep_inside_changes_the_key(arguments, old, new):
    a, b = ({"outer": [arguments, {"inner": value}]} for value in (old, new))
    assert (key(a) == key(b)) == same(old, new)


@given(st.integers(min_value=EXACT), st.sampled_from([1, -1]))
def test_digits_never_collide_with_text(size, sign):
    number = size * sign
    spellings = [number, str(number), [number], [str(number)], {"n": number}, {"n": str(number)}, {str(number): "n"}]
    spellings += [[number, str(number)], [str(number), number], number + sign]
    assert len({key(value) for value in spellings}) == len(spellings)


@pytest.mark.parametrize(
    "a, b",
    [
        (1.0, 1),
        (-0.0, 0),
        (1e20, 10**20),
        (float(EXACT), EXACT),
        (-1e300, -int(1e300)),
        (strict("1E2"), strict("100.0")),
        ("\u00e9", strict('"\\u00e9"')),
        ((1, 2), [1, 2]),
    ],
)
def test_one_value_in_two_spellings_is_one_key(a, b):
    assert key({"x": a}) == key({"x": b})


@pytest.mark.parametrize(
    "a, b",
    [
        (1, True),
        (0, False),
        (0, None),
        (1, "1"),
        ("\u00e9", "e\u0301"),  # é, composed and not: Unicode is not normalised
        ("\u212b", "\u00c5"),
        (EXACT, EXACT + 1),  # one and the same double
        (2**63, str(2**63)),
        ([], {}),
        ("", None),
        ({"a/b": 2**60}, {"a": {"b": 2**60}}),
    ],
)
def test_two_values_that_look_alike_are_two_keys(a, b):
    assert key({"x": a}) != key({"x": b})


def test_every_part_of_the_identity_counts():
    base = {"conversation": "c", "turn": 1, "tool": "t", "occurrence": 1}
    changes = [{"conversation": "d"}, {"turn": 2}, {"tool": "u"}, {"occurrence": 0}, {"conversation": "t", "tool": "c"}]
    keys = {key({}, **base | change) for change in [{}, *changes]}
    assert len(keys) == len(changes) + 1


def test_the_document_is_the_one_that_is_promised():
    """Written out by hand: if this fails, every key in every ledger out there has changed."""
    document = '["v1","shop-7",3,"refund",{"amount":12.5,"id":"9007199254740993","path/~":["100000000000000000000"]},'
    document += '["/id","/path~1~0/0"],0]'
    arguments = {"path/~": [1e20], "id": 2**53 + 1, "amount": 12.50}
    assert idempotency_key("shop-7", 3, "refund", arguments) == hashlib.sha256(document.encode()).hexdigest()


def test_the_canonical_text_of_the_conformance_case():
    case = json.loads((CASES / "099-retry-reordered-arguments.json").read_text(encoding="utf-8"))
    expected = case["expected"]["retry_ledger"]["canonical"]
    assert canonical(strict(case["expected"]["calls"][0]["raw"])) == expected
    assert canonical(case["retry"]["expected"]["calls"][0]["arguments"]) == expected


def deep(levels):
    value = 0
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "bad",
    [math.nan, math.inf, "\ud800", {"\udfff": 1}, {1: 2}, object(), b"bytes", 10**5000, deep(5000)],
    ids=lambda bad: type(bad).__name__,
)
def test_what_has_no_canonical_form_has_no_key(bad):
    for arguments in (bad, {"x": [bad]}):
        with pytest.raises(Unkeyable, match="expected"):
            key(arguments)


@pytest.mark.parametrize(
    "wrong",
    [
        {"conversation": ""},
        {"conversation": None},
        {"tool": ""},
        {"tool": 3},
        {"turn": -1},
        {"turn": "0"},
        {"turn": True},
    ]
    + [{"turn": 0.0}, {"occurrence": None}, {"occurrence": 2**53}, {"conversation": "\ud800"}],
    ids=str,
)
def test_an_identity_that_could_be_two_is_refused(wrong):
    with pytest.raises(Unkeyable, match="expected"):
        key({}, **wrong)
