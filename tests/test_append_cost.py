"""What one more fragment costs: what is measured, and that the picture shows it. How much it costs is for no test."""

import pytest

from streamkit.lab import append_cost


def test_the_cost_chart_plots_what_was_measured():
    data = {"held": [10, 1000], "+= on an attribute": [1e-7, 9e-6], "list and join": [1e-7, 1e-7]}
    chart = append_cost.cost_chart(data)
    lines = {line.get_label(): line for line in chart.figure.axes[0].lines}
    assert [list(line.get_xdata()) for line in lines.values()] == [data["held"]] * 2
    assert list(lines["+= on an attribute"].get_ydata()) == pytest.approx([0.1, 9.0])
    assert (
        len({line.get_linestyle() for line in lines.values()})
        == len({line.get_marker() for line in lines.values()})
        == 2
    )
    assert "takes 90 times as long" in chart.alt


def test_the_cost_is_measured_on_buffers_that_hold_what_they_should():
    for kind in (append_cost.GrowsAString, append_cost.GrowsAList):
        buffer = append_cost.filled(kind, 40, "lamp")
        buffer.add("lamp")
        assert buffer.text == "lamp" * 11
    measured = append_cost.cost_of_a_fragment([40, 400], count=3)
    assert {len(costs) for costs in measured.values()} == {2} and min(measured["list and join"]) > 0
