"""What the next turn made of five histories of one interrupted turn: the recorded replays, counted by rule."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from ..history import ASSISTANT, MARKED, PROSE, ROLL_BACK
from .chart import Chart, bars
from .paths import DATA

NUMBER = re.compile(r"T-\d+")
LABELS = {
    "rolled_back": ROLL_BACK,
    "prose_alone": PROSE,
    "note_in_assistant_text": ASSISTANT,
    "note_as_user_message": MARKED,
    "fabricated_call_and_result": "fabricated",
}
INVENTED, OLD, NONE = "an invented number", "the number of another ticket", "no number"


def replays(path: Path = DATA / "histories" / "replays.ndjson") -> tuple[dict[str, list], Iterator[dict]]:
    """The messages of each history's request, and the answers, each {"history", "seed", "text", …}."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    asked = {row["history"]: row["request"]["messages"] for row in rows if "request" in row}
    return asked, (row for row in rows if "request" not in row)


def verdicts() -> dict[str, dict[str, int]]:
    """History → how many of its answers gave which kind of number; a number is invented if it is in no message."""
    asked, answers = replays()
    told = {history: set(NUMBER.findall(json.dumps(messages))) for history, messages in asked.items()}
    counts = {LABELS[history]: dict.fromkeys((INVENTED, OLD, NONE), 0) for history in asked}
    for answer in answers:
        numbers = set(NUMBER.findall(answer["text"]))
        kind = NONE if not numbers else INVENTED if numbers - told[answer["history"]] else OLD
        counts[LABELS[answer["history"]]][kind] += 1
    return counts


def interval(count: int, total: int) -> tuple[float, float]:
    """The 95 % Wilson interval of a share."""
    z, share = 1.96, count / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * (share * (1 - share) / total + z * z / (4 * total * total)) ** 0.5
    return middle - half, middle + half


def replays_chart() -> Chart:
    """Data: {kind of number: {history: answers of 100}}."""
    counts = verdicts()
    return bars(
        {kind: {history: kinds[kind] for history, kinds in counts.items()} for kind in (INVENTED, OLD, NONE)},
        "answers, of 100",
    )
