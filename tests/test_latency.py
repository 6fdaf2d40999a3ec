"""The figures of a call, and what still changed after its first parse."""

import pytest

from streamkit.lab.latency import measure


def how(text, seen, required=frozenset({"a"})):
    """The kinds of change for a call whose first fragment is the first `seen` characters."""
    return measure([text[:seen], text[seen:]], [1.0, 2.0], set(required), 3.0)["how"]


@pytest.mark.parametrize(
    ("text", "seen", "kinds"),
    [
        ('{"a": "one_region"}', 10, "value extended"),
        ('{"a": "one"}', 10, ""),  # all of it, but for the quote
        ('{"a": "one"}', 11, ""),  # a closed value never becomes another
        ('{"a": 100}', 7, "value extended"),
        ('{"a": 100}', 9, ""),
        ('{"a": [1, 2]}', 8, "value extended"),
        ('{"a": true}', 8, ""),  # the first letter decides
        (r'{"a": "x\n"}', 9, "escape resolved"),
        (r'{"a": "x\\ny"}', 10, "value extended"),
        (r'{"a": "x\u00e6"}', 12, "escape resolved"),
        (r'{"a": "x\ud83d\ude00"}', 14, "escape resolved"),
        (r'{"a": "x\\\n"}', 11, "escape resolved"),
        ('{"a": "x", "b": 1}', 10, "optional field added"),
        ('{"a": "x", "a": "y"}', 10, "key repeated"),
        ('{"a": "x", "b": 1}', 7, "several"),
    ],
)
def test_how_the_arguments_changed(text, seen, kinds):
    assert how(text, seen) == kinds


def test_figures_of_one_call():
    row = measure(['{"a"', ': "x', '"', ', "b": 1}'], [1.0, 1.5, 2.0, 2.5], {"a"}, 4.0)
    assert (row["fragments"], row["characters"], row["first_fragment"]) == (4, 18, 1.0)
    assert (row["begun"], row["stable"], row["completed"]) == (1.5, 2.0, 4.0)
    assert (row["gap_begun"], row["gap_stable"], row["same_read"]) == (2.5, 2.0, False)
    assert row["changed_after_stable"] == "optional field added"


def test_a_call_that_never_completes_has_no_gap():
    row = measure(['{"a": "x"'], [1.0], {"a"}, None)
    assert (row["stable"], row["gap_stable"], row["same_read"]) == (1.0, None, None)


def test_a_call_without_fragments():
    row = measure([], [], {"a"}, 1.0)
    assert (row["fragments"], row["begun"], row["stable"], row["how"]) == (0, None, None, "")
