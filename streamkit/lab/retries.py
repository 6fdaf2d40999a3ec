"""What a retry pays: exchanges cut at every moment, and turns that were sampled again."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..events import TurnFinished
from ..key import idempotency_key
from .captures import Capture
from .chart import COLOURS, LINES, Chart, axes, bars, styled
from .derive import derived
from .paths import DATA

PUBLISHED = {"before the effect": 0.89, "after it: pays twice": 0.11}
STEPS = 200


def effect_at(first: Capture, boundary: str = "turn") -> float | None:
    """When the tool runs, in seconds since the first request: at the turn's finish, or at the first call's completion.

    For "call" the closing events are derived where they can be; Chat Completions has none, and waits for the turn.
    """
    if boundary == "call":
        first = derived(first) or first
        calls = first.turn().calls
        moments = [call.finished_at for call in calls if call.finished_at is not None]
        if moments:
            return min(moments)
    return next((event.at for event in first.events() if isinstance(event, TurnFinished)), None)


def shares(exchanges: Iterable[list[Capture]], boundary: str = "turn") -> dict[str, float]:
    """Of cuts at random moments of whole exchanges: the share before the effect, and the share after it.

    A cut after the effect and before the end of the last response makes the whole exchange be sent again. The tool takes no time.
    """
    before = total = 0.0
    for parts in exchanges:
        at = effect_at(parts[0], boundary)
        whole = sum(part.ended_at for part in parts)
        before, total = before + (at or whole), total + whole
    return {"before the effect": before / total, "after it: pays twice": 1 - before / total}


def shares_chart(exchanges: Iterable[list[Capture]]) -> Chart:
    """Data: {boundary or "published": {share name: share}}."""
    parts = list(exchanges)
    groups = {f"{boundary} completion": shares(parts, boundary) for boundary in ("turn", "call")}
    return bars(
        groups | {"published, of one provider": PUBLISHED},
        "share of cuts",
        "Where a cut falls in an exchange",
        "{:.0%}",
    )


def paid_twice_chart(exchanges: Iterable[list[Capture]]) -> Chart:
    """Over the time of an exchange (0 to 1), the share of exchanges in which a cut there pays twice.

    Data: {boundary: {"x": moments, "y": shares}}.
    """
    parts, data = list(exchanges), {}
    moments = [step / STEPS for step in range(STEPS + 1)]
    for boundary in ("turn", "call"):
        effects = [effect_at(part[0], boundary) / sum(one.ended_at for one in part) for part in parts]
        data[f"{boundary} completion"] = {
            "x": moments,
            "y": [sum(e < x for e in effects) / len(effects) for x in moments],
        }
    with styled():
        figure, ax = axes()
        for n, (name, line) in enumerate(data.items()):
            ax.step(
                line["x"], line["y"], where="post", label=f"dispatch at {name}", color=COLOURS[n], linestyle=LINES[n]
            )
        ax.set(
            xlabel="moment of the cut, as a share of the exchange's time",
            ylabel="share of exchanges that pay twice",
            xlim=(0, 1),
            ylim=(0, 1.03),
        )
        ax.legend(fontsize=9, loc="upper left")
    middle = {
        name: next(x for x, y in zip(line["x"], line["y"], strict=True) if y >= 0.5) for name, line in data.items()
    }
    alt = f"Share of {len(parts)} exchanges in which a naive retry pays twice, by the moment of the cut. " + "; ".join(
        f"{name}: half of them from {x:.0%} of the time on" for name, x in middle.items()
    )
    return Chart(figure, data, alt + ".")


def resamples(path: Path = DATA / "resamples" / "resamples.ndjson") -> Iterator[dict]:
    """The recorded resamples: each {"turn", "temperature", "calls": [{"name", "arguments"} …]}."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if "request" not in row:
                yield row


def keys_by_temperature(rows: Iterable[dict]) -> dict[str, dict[str, float]]:
    """For each turn and temperature: the share of retries whose call has the key of the most frequent one."""
    found: dict[tuple[str, float], list[str]] = {}
    for row in rows:
        key = "no call"
        if row["calls"]:
            first = row["calls"][0]
            try:
                key = idempotency_key("c", 0, first["name"], json.loads(first["arguments"]))
            except ValueError:
                key = "unreadable"
        found.setdefault((row["turn"], row["temperature"]), []).append(key)
    told: dict[str, dict[str, float]] = {}
    for (turn, temperature), keys in found.items():
        told.setdefault(turn, {})[f"temperature {temperature:g}"] = max(map(keys.count, keys)) / len(keys)
    return told
