"""One exercise, as the author of a chapter writes it. How to write one: `streamkit/lab/course/__init__.py`."""

import ast
import importlib
import importlib.util
import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple


class Case(NamedTuple):
    """One input of a check: what the piece is given, what must come out, and the pointer to show when it does not."""

    given: Any
    expected: Any
    pointer: str  # a key of Exercise.pointers
    group: str = "inputs"  # plural noun, counted in the ✓ line: "212 recorded streams"


@dataclass(frozen=True)
class Wrong:
    """A plausible wrong answer and the pointer that must catch it: `text`, or the right answer with `swap` applied."""

    what: str
    pointer: str
    swap: tuple[tuple[str, str], ...] = ()
    text: str = ""


@dataclass(frozen=True)
class Definition:
    """Definitions of one module, as the text that `reveal` shows. The first name is the piece."""

    module: str
    names: tuple[str, ...]

    def text(self) -> str:
        """The source of every name, in the order of the module. LookupError when the module does not define one."""
        source = Path(importlib.util.find_spec(self.module).origin).read_text("utf-8")  # without importing it
        lines, wanted, parts = source.splitlines(), set(self.names), []
        for node in ast.parse(source).body:
            if bound := wanted & set(_binds(node)):
                wanted -= bound
                first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
                parts.append(
                    (isinstance(node, ast.Assign | ast.AnnAssign), "\n".join(lines[first - 1 : node.end_lineno]))
                )
        if wanted:
            raise LookupError(f"{self.module} defines no {', '.join(sorted(wanted))}")
        text = parts[0][1]
        for (assigned, _), (again, part) in itertools.pairwise(parts):
            text += ("\n" if assigned and again else "\n\n\n") + part
        return text + "\n"

    def object(self) -> Any:
        """The piece itself, imported from its module."""
        return getattr(importlib.import_module(self.module), self.names[0])


def _binds(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def definition(module: str, *names: str) -> Definition:
    """The answer of an exercise: `definition("streamkit.accumulator", "Accumulator")`, helpers after the piece."""
    return Definition(module, names)


def apply(piece: Callable, given: Any) -> Any:
    """The default of Exercise.run: the piece is a function of one argument."""
    return piece(given)


@dataclass(frozen=True, kw_only=True, eq=False)
class Exercise:
    """What one exercise cell must do. Everything the verbs print and everything the tests prove comes from here."""

    name: str  # as in `# exercise: NAME`
    title: str  # a few words for the progress table
    defines: str  # the name the cell must define
    answer: Definition
    cases: Callable[[], Iterable[Case]]  # small ones first; deterministic; all of them within half a second
    pointers: Mapping[str, str]  # key -> which idea, which section
    hints: tuple[str, ...]  # at least two, each saying more than the one before
    wrong: tuple[Wrong, ...]  # at least three
    why: str  # one sentence: why it matters
    given: str = ""  # code that runs before the cell's text: the imports that the notebook makes
    needs: tuple[str, ...] = ()  # exercises whose definitions the cell builds on
    run: Callable[[Any, Any], Any] = apply  # run(piece, given) -> what came out, comparable with ==
    show: Callable[[Any], Iterable[str]] | None = None  # given -> the lines that show it; by default one item a line
    diagnose: Callable[[Any, Any, Any], str | None] | None = None  # (given, expected, got) -> a better pointer, or None
    tell: Callable[[Any, Any], tuple[str, str]] | None = None  # (expected, got) -> both in words, only what differs

    def text(self) -> str:
        """The very text that `reveal` prints: a whole exercise cell."""
        return f"# exercise: {self.name}\n{self.answer.text()}"

    def wrong_text(self, wrong: Wrong) -> str:
        """A wrong answer as a whole exercise cell. LookupError when a swap does not apply to the answer."""
        text = wrong.text or self.text()
        for old, new in wrong.swap:
            if old not in text:
                raise LookupError(f"{self.name}, {wrong.what}: the answer holds no {old!r}")
            text = text.replace(old, new)
        return text if text.startswith("# exercise:") else f"# exercise: {self.name}\n{text}"
