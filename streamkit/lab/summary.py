"""Rows of latency.py → percentiles of the gap, an interval for its median, and how many came in one read."""

from array import array
from collections.abc import Iterable

from .chart import words

RESAMPLES = 1000
CONFIDENCE = 0.95
SEED = 20261130  # any number will do: the same rows give the same interval


class Summary:
    """Figures of many calls, a row of numbers held per call: `add` rows as they come, then `table`."""

    def __init__(self, by: str | None = None):
        self.by = by
        self.calls: dict[str, int] = {}
        self._gaps: dict[str, tuple[array, array]] = {}
        self._one_read: dict[str, int] = {}
        self.derived = 0
        self.stand_in = 0

    def add(self, row: dict) -> None:
        for group in {"all", str(row.get(self.by)) if self.by else "all"}:
            self.calls[group] = self.calls.get(group, 0) + 1
            begun, stable = self._gaps.setdefault(group, (array("d"), array("d")))
            if row["gap_begun"] is not None:
                begun.append(row["gap_begun"])
            if row["gap_stable"] is not None:
                stable.append(row["gap_stable"])
                self._one_read[group] = self._one_read.get(group, 0) + bool(row["same_read"])
        self.derived += bool(row.get("derived"))
        self.stand_in += row.get("boundary") == "last fragment"

    def table(self) -> list[dict]:
        """A row a group, "all" last: calls, measured, and in milliseconds p50, p90, p99, the interval, p50 from begun."""
        groups = sorted(group for group in self.calls if group != "all") + ["all"] * ("all" in self.calls)
        return [self._row(group) for group in groups]

    def _row(self, group: str) -> dict:
        begun, stable = self._gaps[group]
        low, high = median_interval(stable)
        return {
            self.by or "": group,
            "calls": self.calls[group],
            "measured": len(stable),
            "p50": percentile(stable, 50),
            "p90": percentile(stable, 90),
            "p99": percentile(stable, 99),
            "low": low,
            "high": high,
            "begun p50": percentile(begun, 50),
            "one read": self._one_read.get(group, 0) / len(stable) if stable else None,
        }


def percentile(seconds: Iterable[float], share: float) -> float | None:
    """A percentile in milliseconds, None of nothing."""
    import numpy

    return float(numpy.percentile(seconds, share)) * 1000 if len(seconds) else None


def median_interval(seconds: Iterable[float]) -> tuple[float | None, float | None]:
    """The bootstrap interval of the median, in milliseconds: RESAMPLES resamples, CONFIDENCE, the same each time."""
    import numpy

    values, chance = numpy.asarray(seconds), numpy.random.default_rng(SEED)
    if not len(values):
        return None, None
    medians = [numpy.median(values[chance.integers(0, len(values), len(values))]) for _ in range(RESAMPLES)]
    edge = (1 - CONFIDENCE) / 2
    low, high = numpy.quantile(medians, [edge, 1 - edge])
    return float(low) * 1000, float(high) * 1000


def printed(table: list[dict]) -> str:
    """The table for a terminal: milliseconds without decimals, shares in percent, – where there is none."""
    heads = list(table[0])
    rows = [[_cell(head, row[head]) for head in heads] for row in table]
    widths = [max(len(head), *(len(row[i]) for row in rows)) for i, head in enumerate(heads)]
    lines = [heads, *rows]
    return "\n".join(
        "  ".join(cell.ljust(widths[0]) if i == 0 else cell.rjust(widths[i]) for i, cell in enumerate(line))
        for line in lines
    )


def _cell(head: str, value) -> str:
    if value is None:
        return "–"
    if head == "one read":
        return f"{value:.0%}"
    return f"{value:.0f}" if isinstance(value, float) else words(value, 60)
