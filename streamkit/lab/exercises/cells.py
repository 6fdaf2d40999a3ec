"""Which cell holds which exercise, and how its last run went.

An exercise is known by its cell's `# exercise: NAME` line, not by the cell's id: JupyterLab renews ids on split, merge
and copy.
"""

import ast
import re
from dataclasses import dataclass, field
from typing import NamedTuple

# Comments, magics and blank lines may stand above the marker.
MARKER = re.compile(r"(?:[ \t]*(?:[#%!][^\n]*)?\n)*?[ \t]*#[ \t]*exercise:[ \t]*(\S+)")


def name_of(source: str) -> str | None:
    """The exercise a cell's text belongs to, or None."""
    found = MARKER.match(source)
    return found[1] if found else None


def plain(source: str) -> str:
    """A cell's text without notebook magics, each replaced by an empty line so that line numbers stay."""
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return re.sub(r"(?m)^[ \t]*[%!].*$", "", source)
    return source


def stub_line(source: str) -> int | None:
    """The line of the first `...` that stands where the learner's code belongs, or None. Nothing where it is no Python."""
    try:
        tree = ast.parse(plain(source))
    except (SyntaxError, ValueError):
        return None
    dots = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            dots += body[:1] if len(body) == 1 else []
        elif isinstance(node, ast.Module):
            dots += node.body
        elif isinstance(node, ast.Assign):
            dots.append(node)
    lines = [
        node.lineno
        for node in dots
        if isinstance(getattr(node, "value", None), ast.Constant) and node.value.value is ...
    ]
    return min(lines, default=None)


class Run(NamedTuple):
    """One run of an exercise cell. `ok` is None while it runs."""

    text: str
    cell: str | None  # the front end's id of the cell, where it tells one
    ok: bool | None


@dataclass
class Session:
    """What was run since `start()` in this kernel."""

    last: dict[str, Run] = field(default_factory=dict)
    ids: dict[str, set] = field(default_factory=dict)
    shell: object = None

    def before(self, info) -> None:
        """`pre_run_cell`: `raw_cell` is the text as written; `In` stays empty under nbval."""
        if (name := name_of(info.raw_cell or "")) is not None:
            cell = getattr(info, "cell_id", None)
            self.last[name] = Run(info.raw_cell, cell, None)
            self.ids.setdefault(name, set()).add(cell)

    def after(self, result) -> None:
        """`post_run_cell`: a cell that failed is a fact about its exercise."""
        text = getattr(result.info, "raw_cell", None) or ""
        if (name := name_of(text)) in self.last and self.last[name].text == text:
            self.last[name] = self.last[name]._replace(ok=result.success)

    def twice(self, name: str) -> bool:
        """Were two cells of this name run?"""
        return len(self.ids.get(name, set()) - {None}) > 1

    def listen(self, shell) -> None:
        """Follow the cells of an IPython shell, once."""
        if shell is not None and self.shell is not shell:
            shell.events.register("pre_run_cell", self.before)
            shell.events.register("post_run_cell", self.after)
            self.shell = shell


SESSION = Session()
