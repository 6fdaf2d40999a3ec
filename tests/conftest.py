"""What the tests share: the cases, the corpus where it is at hand, and re-cutting."""

import os
import random
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from streamkit.lab.cases import read_cases
from streamkit.lab.paths import CASES

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a job in the background: its children, too, would ignore Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("kit", deadline=None, derandomize=True)  # a slow machine is no fault, and a run repeats
settings.load_profile("kit")

ALL_CASES = list(read_cases(CASES))

LONGEST = (
    "test_browser",
    "test_book",
    "test_exercises",
    "test_fill",
)  # begun last, one of them would have a worker to itself


def pytest_collection_modifyitems(items: list) -> None:
    """The longest files first."""
    items.sort(key=lambda item: LONGEST.index(item.path.stem) if item.path.stem in LONGEST else len(LONGEST))


def corpus_folder() -> Path | None:
    """The folder of recorded streams that STREAMKIT_CORPUS names, None where it names none."""
    named = os.environ.get("STREAMKIT_CORPUS")
    return Path(named) if named and Path(named).is_dir() else None


@pytest.fixture(scope="session")
def corpus() -> list[dict]:
    """Every open stream of the corpus; skips where there is none."""
    folder = corpus_folder()
    if folder is None:
        pytest.skip("STREAMKIT_CORPUS names no folder of recorded streams")
    return list(read_cases(*sorted(folder.glob("*.jsonl"))))


def random_cuts(size: int, name: str, cuts: int) -> list[int]:
    """`cuts` places in a body of `size` bytes, the same for the same name."""
    chance = random.Random(name)
    return [chance.randrange(size + 1) for _ in range(cuts)]
