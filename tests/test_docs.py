"""The front page, the guide and the chapters' texts: links resolve, commands parse, files are there, figures are those of the data."""

import csv
import importlib
import json
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median

import mistune
import pytest

from streamkit.__main__ import COMMANDS, main
from streamkit.lab.fill import chapters_in
from streamkit.lab.paths import BOOK, CASES, DATA, ROOT

CHAPTERS = chapters_in(BOOK)
PAGES = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted(BOOK.glob("*.md")), *CHAPTERS]
README = PAGES[0].read_text("utf-8")
MARKDOWN = mistune.create_markdown(renderer="ast", plugins=["table"])

HOST = re.compile(r"https?://([^/\s:)\"'`]+)")
PLACEHOLDERS = {"BINDERHUB", "HUB", "HOST", "host", "127.0.0.1", "localhost"}
MACHINE = re.compile(r"(?<![\w.:/])/(home|root|work|tmp|Users|usr|opt|srv|var|mnt)/|\b[A-Z]:\\")
FILE = re.compile(r"[\w.-]+(/[\w.-]+)*/?")
SUFFIXES = (".py", ".md", ".yml", ".toml", ".json", ".jsonl", ".csv", ".ipynb", ".png", ".ndjson")
MADE = re.compile(r"(workbook|solved|wheels|\.venv)(/|$)|mine\.")  # what a reader makes
START = re.compile(r"(?:(?:python3?|py) )?kit\.py(?: |$)|(?:python3? -m |uv run )?streamkit(?: |$)")


def texts(page: Path) -> list[str]:
    """The Markdown of a page, or of each Markdown cell of a notebook."""
    if page.suffix == ".md":
        return [page.read_text("utf-8")]
    cells = json.loads(page.read_text("utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]


def tokens(text: str, *kinds: str) -> Iterator[dict]:
    """All tokens of these kinds, however deep."""
    todo = list(MARKDOWN(text))
    while todo:
        token = todo.pop(0)
        if token["type"] in kinds:
            yield token
        todo = token.get("children", []) + todo


def said(token: dict) -> str:
    """The plain text under a token."""
    return token.get("raw", "") + "".join(map(said, token.get("children", [])))


def anchors(page: Path) -> set[str]:
    """The headings of a page, as links name them."""
    heads = [said(token).strip() for text in texts(page) for token in tokens(text, "heading")]
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def broken_links(text: str, folder: Path) -> list[str]:
    """Relative links and pictures that lead nowhere, and pictures that say nothing to who cannot see them."""
    found = []
    for token in tokens(text, "link", "image"):
        url = token["attrs"]["url"]
        path, _, anchor = url.partition("#")
        target = (folder / path).resolve() if path else None
        if ":" in path or (target and not target.exists()) or (target and anchor and anchor not in anchors(target)):
            found.append(url)
        if token["type"] == "image" and len(said(token)) < 40:
            found.append(f"{url}: no alternative text")
    return found


def code(text: str) -> Iterator[str]:
    """Each code span, and each line of each block of code."""
    for token in tokens(text, "codespan", "block_code"):
        yield from (line.strip() for line in token["raw"].splitlines())


def bad_command(line: str) -> str | None:
    """Why a line that names the command line of the kit could not be typed; None where it could, or names none."""
    found = START.match(line)
    if not found:
        return None
    words = shlex.split(line[found.end() :].split(" | ")[0])
    words = [word for word in words if word != "…"]
    if "kit.py" in found[0] and words:
        if words[0] not in ("streamkit", "pip"):
            return None if f'"{words[0]}"' in (ROOT / "kit.py").read_text("utf-8") else f"kit.py knows no {words[0]}"
        words = words[1:] if words[0] == "streamkit" else []
    if not words or (words[0] in COMMANDS and len(words) == 1):  # a command, named and not typed
        return None
    try:
        return None if main(words) == 0 else "exit status is not 0"
    except SystemExit as stopped:
        return f"exit status {stopped.code}" if stopped.code else None


def missing_files(line: str) -> list[str]:
    """Words of a line of code that look like a file of the kit and are none."""
    words = [word for word in line.split() if FILE.fullmatch(word) and not MADE.match(word)]
    named = [word for word in words if "/" in word or word.endswith(SUFFIXES)]
    return [word for word in named if not any((place / word).exists() for place in (ROOT, BOOK, DATA, CASES))]


@pytest.fixture(autouse=True)
def nothing_runs(monkeypatch):
    """The real parsers, and no command behind them."""
    for name in COMMANDS:
        monkeypatch.setattr(importlib.import_module(f"streamkit.lab.commands.{name}"), "run", lambda args: 0)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page):
    for text in texts(page):
        assert broken_links(text, page.parent) == []
        assert set(HOST.findall(text)) <= PLACEHOLDERS, "the project names no host"
        assert MACHINE.search(text) is None
        for line in code(text):
            assert (line, bad_command(line)) == (line, None)
            assert (line, missing_files(line)) == (line, [])


@pytest.mark.parametrize(
    "line",
    ["streamkit gap data", "streamkit gaps data --bye", "python3 kit.py streamkit shew x", "python3 kit.py tests"],
)
def test_a_wrong_command_is_found(line, capsys):
    assert bad_command(line)


def test_a_wrong_link_file_host_or_path_is_found():
    links = "[a](nowhere.md) [b](README.md#no-such-part) ![](docs/gap.png) [c](README.md#other-ways-in)"
    assert broken_links(links, ROOT) == ["nowhere.md", "README.md#no-such-part", "docs/gap.png: no alternative text"]
    assert missing_files("streamkit gaps data/no-such data/latency") == ["data/no-such"]
    assert list(code("a `b c` d\n\n    e\n    f\n")) == ["b c", "e", "f"]
    assert HOST.findall("see https://registry.example/x") == ["registry.example"]
    folder = "/".join(("", "home", "me"))
    assert MACHINE.search(f"in {folder}/x") and MACHINE.search("C:\\Users") and not MACHINE.search("data/home/x")


def about_of(path: Path) -> dict:
    """{"chapter": N, "minutes": M}"""
    return json.loads(path.read_text("utf-8"))["metadata"]["streamkit"]


def test_the_readme_lists_each_chapter_with_its_minutes():
    for path in CHAPTERS:
        about = about_of(path)
        assert re.search(rf"\| \[{about['chapter']} [^]]+\]\(notebooks/{path.name}\) \| {about['minutes']} \|", README)


def test_the_readme_and_each_chapter_agree_on_what_it_needs():
    for path in CHAPTERS:
        row = next(line for line in README.splitlines() if f"(notebooks/{path.name})" in line)
        said = re.search(r"You need (.*?)[.\n]", texts(path)[0])
        assert said and re.findall(r"\d", said[1]) == re.findall(r"\d", row.split("|")[-2]), row


def test_the_guides_schedules_add_up_and_a_day_gives_each_chapter_its_minutes():
    guide = (BOOK / "TEACHING.md").read_text("utf-8")
    minutes = {about["chapter"]: about["minutes"] for about in map(about_of, CHAPTERS)}
    for part in ("## Half a day", "## A day"):
        rows = re.findall(
            r"^\| (\d+):(\d\d) \| (\d+) \| (.*) \|$", guide.partition(part)[2].partition("\n## ")[0], re.M
        )
        for (hour, minute, long, _), then in pairwise(rows):
            assert 60 * int(hour) + int(minute) + int(long) == 60 * int(then[0]) + int(then[1]), (part, then)
    given = {int(found[1]): int(row[2]) for row in rows if (found := re.match(r"chapter (\d)", row[3]))}
    assert given == minutes


def test_the_readmes_figures_are_those_of_the_data():
    with (DATA / "latency.csv").open(encoding="utf-8") as file:
        gaps = [float(row["gap_stable"]) for row in csv.DictReader(file) if row["gap_stable"]]
    assert f"{len(gaps)} recorded calls" in README and f"{1000 * median(gaps):.0f} ms (median)" in README
    assert f"`{len(list(CASES.glob('*.json')))} of" in README
    stored = (BOOK / "06_finalising.ipynb").read_text("utf-8")
    counts = {
        word: int(count)
        for count, word in re.findall(r"(\d+) prefixes: (refused|another call|the model's own)", stored)
    }
    for number in (sum(counts.values()), counts["another call"], counts["the model's own"]):
        assert re.search(rf"\b{number:,}\b", README), number


def test_the_guide_speaks_of_each_exercise():
    guide = (BOOK / "TEACHING.md").read_text("utf-8")
    for path in CHAPTERS:
        stubs = re.findall(r"# exercise: ([\w-]+)\\n", path.read_text("utf-8"))
        assert stubs and all(f"*In `{name}`:*" in guide for name in stubs)


def test_the_glossary_is_in_order():
    terms = re.findall(r"^\*\*(.+?)\.?\*\*", (BOOK / "GLOSSARY.md").read_text("utf-8"), re.M)
    assert len(terms) > 30 and terms == sorted(terms, key=lambda term: re.sub(r"\W+", " ", term).lower())
