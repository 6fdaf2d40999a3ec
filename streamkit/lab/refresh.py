"""Run the book again, filled with the package's answers, and store what came out in the stubs' file, normalised."""

import base64
import hashlib
import io
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from unittest import mock

import nbformat
from nbformat import NotebookNode

from streamkit.lab.exercises.pieces import JUDGED
from streamkit.lab.fill import MARK, fill
from streamkit.lab.problem import Problem

WIDGET = "application/vnd.jupyter.widget-view+json"  # refers to a live model: dead on reopening, and its id is random
# What nbstripout takes out beside its own list: what differs from run to run and from machine to machine.
EXTRA = [
    *("metadata.widgets", "metadata.signature", "metadata.language_info.version", "metadata.vscode"),
    *("cell.metadata.execution", "cell.metadata.collapsed", "cell.metadata.scrolled", "cell.metadata.editable"),
]
MEASURED = "nbval-ignore-output"  # the tag of cells whose text depends on the machine
TIMEOUT = 60  # seconds a cell


def refreshed(path: Path, answers: Mapping[str, str], measure: bool = False) -> NotebookNode:
    """The notebook at `path` with the outputs of a fresh run of the filled book.

    Cells whose output depends on the machine keep what is stored until their code changes; `measure` runs them anew.
    Problem where a cell raises.
    """
    stored = nbformat.read(path, as_version=4)
    ran = execute(fill(stored, answers), path)
    for cell, run in zip(stored.cells, ran.cells, strict=True):
        if cell.cell_type != "code":
            continue
        outputs, code = [_plain(output) for output in _joined(run.outputs)], _digest(run.source)
        kept = cell.metadata.get(MARK, {}).get("code") == code and not measure and cell.execution_count is not None
        if MEASURED in cell.metadata.get("tags", []):
            cell.metadata[MARK] = {"code": code}
            outputs = cell.outputs if kept else outputs
        else:
            cell.metadata.pop(MARK, None)
        cell.outputs = cell.outputs if alike(cell.outputs, outputs) else outputs
        cell.execution_count = run.execution_count
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = run.execution_count
    return normalised(stored)


def execute(book: NotebookNode, path: Path) -> NotebookNode:
    """Run a book from top to bottom in the folder of `path`, with this Python. Problem where a cell raises."""
    from ipykernel.kernelspec import get_kernel_dict
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    class ThisPython(KernelSpecManager):
        def get_kernel_spec(self, kernel_name):
            return KernelSpec(**get_kernel_dict())

    class Manager(AsyncKernelManager):
        def _kernel_spec_manager_default(self):
            return ThisPython()

    where = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(book, kernel_manager_class=Manager, timeout=TIMEOUT, resources=where, record_timing=False)
    with mock.patch.dict(os.environ, {JUDGED: "1"}):
        try:
            return client.execute(stderr=subprocess.DEVNULL)
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            message = re.sub(r"\x1b\[[\d;]*m", "", str(error)).strip()
            raise Problem(f"{path.name} does not run from top to bottom:\n{message}") from None


def normalised(book: NotebookNode) -> NotebookNode:
    """Without what differs from run to run: widget state, times, versions. Changes the notebook it is given."""
    from nbstripout import strip_output

    book = strip_output(book, keep_output=True, keep_count=True, keep_id=True, extra_keys=EXTRA)
    book.metadata["kernelspec"] = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    book.metadata["language_info"] = {"name": "python"}
    return book


def text(book: NotebookNode) -> str:
    """A notebook as the text of its file."""
    return nbformat.writes(book).rstrip("\n") + "\n"


def alike(old: list, new: list) -> bool:
    """Would a reader see the same? Sanitised text is equal, and pictures are but for what a font or a version does."""
    return len(old) == len(new) and all(map(_alike, old, new))


def _alike(old: NotebookNode, new: NotebookNode) -> bool:
    def bare(output):
        output = {key: value for key, value in output.items() if key not in ("execution_count", "metadata")}
        data = {kind: _sanitised(value) for kind, value in output.pop("data", {}).items() if kind != "image/png"}
        return {**output, "text": _sanitised(output.get("text")), "data": data}

    def pictures(output):
        data = output.get("data", {})
        inside = re.findall(r"data:image/png;base64,([A-Za-z0-9+/=\n]+)", str(data.get("text/html", "")))
        return [data["image/png"], *inside] if "image/png" in data else inside

    ours, theirs = pictures(old), pictures(new)
    return bare(old) == bare(new) and len(ours) == len(theirs) and all(map(_same_picture, ours, theirs))


def _same_picture(old: str, new: str) -> bool:
    from matplotlib.image import imread

    if old == new:
        return True
    one, other = (imread(io.BytesIO(base64.b64decode(picture))) for picture in (old, new))
    return one.shape == other.shape and float(((one - other) ** 2).mean()) < 1e-4


def _sanitised(value):
    if not isinstance(value, str):
        return value
    rules = Path(__file__).with_name("nbval_sanitize.cfg").read_text("utf-8")
    for pattern, replacement in re.findall(r"^regex: (.*)$\n^replace: (.*)$", rules, flags=re.MULTILINE):
        value = re.sub(pattern, replacement, value)
    return value


def _joined(outputs: list) -> list:
    """Outputs with the writes to one stream joined: how they were cut is chance."""
    joined = []
    for output in outputs:
        last = joined[-1] if joined else {}
        if output.output_type == "stream" and (last.get("output_type"), last.get("name")) == ("stream", output.name):
            last["text"] += output.text
        else:
            joined.append(output)
    return joined


def _plain(output: NotebookNode) -> NotebookNode:
    if "data" in output:
        output.data.pop(WIDGET, None)
        output.metadata.pop(WIDGET, None)
    return output


def _digest(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()[:16]
