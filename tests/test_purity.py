"""The core is pure: no clock, socket, file, thread or screen, and nothing of the lab. The exceptions are named."""

import ast

import pytest

from streamkit.lab.paths import ROOT

CORE = sorted([*(ROOT / "streamkit").glob("*.py"), *(ROOT / "streamkit" / "wire").glob("*.py")])
IMPURE = {
    "asyncio",
    "builtins",
    "concurrent",
    "contextvars",
    "datetime",
    "http",
    "httpx",
    "io",
    "ipywidgets",
    "logging",
    "matplotlib",
    "multiprocessing",
    "os",
    "pandas",
    "pathlib",
    "random",
    "secrets",
    "select",
    "signal",
    "socket",
    "sqlite3",
    "ssl",
    "subprocess",
    "sys",
    "tempfile",
    "threading",
    "time",
    "tqdm",
    "urllib",
}
SCREEN_AND_FILES = {"print", "input", "open", "exec", "eval", "breakpoint"}
ALLOWED = {  # dispatch waits for tools, the ledger is a file, and `streamkit` typed in a terminal is not the core
    "dispatch": {"time"},
    "ledger": {"pathlib", "secrets"},
    "loop": {"asyncio"},
    "once": {"asyncio"},
    "runs": {"asyncio", "concurrent"},
    "store": {"os", "pathlib", "sqlite3", "threading", "time"},
    "stream": {"asyncio", "time"},
    "threads": {"asyncio", "concurrent", "contextvars", "threading"},
    "warm": {"asyncio", "concurrent"},
}


def uses(source: str) -> tuple[set[str], set[str]]:
    """(impure modules imported, parts of the lab imported or screen and file functions called) by a source."""
    modules, wrong = set(), set()
    for node in ast.walk(ast.parse(source)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module or ''}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SCREEN_AND_FILES:
            wrong.add(node.func.id)
        wrong |= {name for name in names if "lab" in name.split(".")}
        modules |= {name.split(".")[0] for name in names} & IMPURE
    return modules, wrong


@pytest.mark.parametrize("path", [path for path in CORE if path.stem != "__main__"], ids=lambda path: path.stem)
def test_a_room_of_the_core_is_pure(path):
    modules, wrong = uses(path.read_text("utf-8"))
    assert modules == ALLOWED.get(path.stem, set())
    assert wrong == set()


@pytest.mark.parametrize(
    "line",
    [
        "import time",
        "from os import path",
        "from .lab import load",
        "from streamkit.lab.paths import DATA",
        "print(1)",
        "open('x')",
    ],
)
def test_what_is_refused(line):
    assert any(uses(line))
