"""A course of two small chapters, to prove the machinery on before and beside the real one."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FIRST = """try:
    from streamkit.lab import check, hint, reveal, start, use
except ImportError:
    raise SystemExit("This kernel has no streamkit. Open the course with: python3 kit.py lab") from None
start(%d)"""
JOIN = "# exercise: join-fragments\ndef join(fragments):\n    ..."
KEYED = (
    "# exercise: keyed\nclass Keyed:\n    def __init__(self):\n        ...\n\n"
    "    def add(self, index, text):\n        ...\n\n    def texts(self):\n        ..."
)
COUNT = "# exercise: count\ndef count(fragments):\n    ..."
PLOT = "import matplotlib.pyplot as plt\n\nplt.figure(figsize=(2, 1))\nplt.plot([1, 2, 3])\nplt.show()"


def environment(home: Path) -> dict[str, str]:
    """The environment in which a process sees the small course, at home in a folder of the test's."""
    path = os.pathsep.join([str(HERE), str(ROOT)])
    return dict(os.environ, STREAMKIT_COURSE=str(HERE / "course"), STREAMKIT_HOME=str(home), PYTHONPATH=path)


def write_book(home: Path) -> Path:
    """The two chapters as an author leaves them, never run."""
    folder = home / "notebooks"
    folder.mkdir(parents=True)
    exercise, ignored = ["exercise", "nbval-ignore-output"], ["nbval-ignore-output"]
    chapters = {
        "01_join.ipynb": [
            ("# 1 · Join\n\nWhat you will be able to do: join. **20 minutes**", None),
            (FIRST % 1, ignored),
            ("## Build it", None),
            (JOIN, exercise),
            ('check("join-fragments")', []),
            ('join = use("join-fragments")\nprint(join(["a", "b"]))', []),
            (KEYED, exercise),
            ('check("keyed")', []),
            ("## Recap\n\nA line.\n\n## Discuss\n\nWhy? How?\n\n## Next\n\nA line.", None),
        ],
        "02_count.ipynb": [
            ("# 2 · Count\n\nWhat you will be able to do: count. **20 minutes**", None),
            (FIRST % 2, ignored),
            ("import json", []),
            ("## Build it", None),
            (COUNT, exercise),
            ('check("count")', []),
            ('Keyed = use("keyed")\npiece = Keyed()\npiece.add(0, "x")\nprint(piece.texts(), use("count")("ab"))', []),
            ("A line that goes up.", None),
            (PLOT, []),
            ("## Recap\n\nA line.\n\n## Discuss\n\nWhy? How?\n\n## Next\n\nA line.", None),
        ],
    }
    for number, (name, cells) in enumerate(chapters.items(), 1):
        kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
        book = new_notebook(metadata={"kernelspec": kernel, "streamkit": {"chapter": number, "minutes": 20}})
        for position, (source, tags) in enumerate(cells):
            if tags is None:
                cell = new_markdown_cell(source)
            else:
                cell = new_code_cell(source, metadata={"tags": tags} if tags else {})
            cell.id = f"cell-{number}-{position}"
            book.cells.append(cell)
        nbformat.write(book, folder / name)
    return folder


def command(home: Path, *words: str) -> subprocess.CompletedProcess:
    """Run a module of this Python on the small course, at home in a folder."""
    return subprocess.run(
        [sys.executable, "-m", *words], cwd=home, env=environment(home), capture_output=True, text=True
    )
