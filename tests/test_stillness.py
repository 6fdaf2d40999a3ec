"""How long a screen stands still: figures of made streams, and of the recorded exchanges."""

from streamkit.lab.captures import exchanges, find_captures, read_capture
from streamkit.lab.paths import CAPTURES
from streamkit.lab.stillness import BLOCKS, TEXT, changes, longest, stillness_chart

EXCHANGES = exchanges(read_capture(path) for path in find_captures(CAPTURES))


def test_blocks_change_whenever_text_does_and_when_a_call_moves():
    for parts in EXCHANGES:
        seen = changes(parts)
        assert set(seen[TEXT]) <= set(seen[BLOCKS])
        assert longest(seen[BLOCKS]) <= longest(seen[TEXT])
        assert seen[BLOCKS] == sorted(seen[BLOCKS])


def test_longest():
    assert longest([0.0, 1.0, 4.0, 4.5]) == 3.0 and longest([0.0]) == 0.0


def test_the_chart_plots_every_api():
    data = stillness_chart(EXCHANGES).data
    assert set(data) == {TEXT, BLOCKS} and len(data[TEXT]) == 3
    assert all(data[BLOCKS][api] <= data[TEXT][api] for api in data[TEXT])
