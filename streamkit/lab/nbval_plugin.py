"""`pytest --nbval` always runs the book: under notebooks/ filled with the package's answers, under workbook/ the learner's.

Only notebooks with our mark are touched. Kept light, since pytest loads this wherever streamkit is installed.
"""

import os
from pathlib import Path
from unittest import mock

import pytest

BOOK, WORKBOOK = "notebooks", "workbook"


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    if getattr(config.option, "nbval", False) and getattr(config.option, "dist", "no") == "load":
        config.option.dist = "loadfile"  # one kernel a notebook: its cells cannot be dealt out


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path, parent):
    nodes = yield
    if file_path.suffix != ".ipynb" or not getattr(parent.config.option, "nbval", False):
        return nodes
    return [new for node in nodes for new in (_ours(node) if type(node).__name__ == "IPyNbFile" else [node])]


def _ours(node) -> list:
    """nbval's node for a file, or ours in its place: none for what lies in a workbook and is no chapter of the book."""
    from streamkit.lab import paths
    from streamkit.lab.fill import chapter

    path = Path(node.path)
    folder = next((parent for parent in path.parents if parent.name in (BOOK, WORKBOOK)), None)
    if folder is None or (folder.name == BOOK and chapter(path) is None):
        return [node]
    books = folder.parent / BOOK
    book = (books if books.is_dir() else paths.BOOK) / path.name
    if chapter(book) is None:
        return [node] if chapter(path) is None else []
    return [_filled(node, path, book, folder.name)] if path.parent == folder else []


def _filled(node, path: Path, book: Path, place: str):
    import nbformat
    from nbval.plugin import IPyNbFile

    from streamkit.lab.exercises.pieces import JUDGED
    from streamkit.lab.exercises.registry import answers
    from streamkit.lab.fill import fill, written
    from streamkit.lab.problem import Problem

    option = node.config.option
    if option.nbval_cell_timeout == 2000:  # nbval's own default: half an hour for one cell
        option.nbval_cell_timeout = 60

    class Filled(IPyNbFile):
        """nbval's file, reading the filled book in place of the one on disk. The kernel starts in the file's folder."""

        def collect(self):
            stored = nbformat.read(book, as_version=4)
            never = [
                c for c in stored.cells if c.cell_type == "code" and c.source.strip() and c.execution_count is None
            ]
            if never:  # nbval would compare nothing there, and pass
                return [
                    Failing.named(
                        self, f"{len(never)} code cells of {book.name} were never executed: run `streamkit refresh`"
                    )
                ]
            try:
                texts = answers() if place == BOOK else written(path)
            except Problem as problem:
                return [Failing.named(self, str(problem))]
            except Exception as error:  # a chapter's exercises do not load
                return [Failing.named(self, f"the exercises of the course: {type(error).__name__}: {error}")]
            with mock.patch("nbval.plugin.nbformat.read", return_value=fill(stored, texts)):
                return list(super().collect())

        def setup(self):
            with (
                mock.patch.dict(os.environ, {JUDGED: "1"}),
                mock.patch.object(option, "nbval_current_env", not option.nbval_kernel_name),
            ):
                super().setup()  # the kernel inherits the mark: checks keep nothing

        def get_sanitize_files(self):
            return [Path(__file__).with_name("nbval_sanitize.cfg"), *super().get_sanitize_files()]

    class Failing(pytest.Item):
        """One failing item: a CollectError would end the whole run."""

        @classmethod
        def named(cls, parent, sentence):
            item = cls.from_parent(parent, name="file")
            item.sentence = sentence
            return item

        def runtest(self):
            raise AssertionError(self.sentence)

        def repr_failure(self, excinfo):
            return str(excinfo.value)

        def reportinfo(self):
            return self.path, 0, f"{self.path.name}: {self.name}"

    return Filled.from_parent(node.parent, path=path)
