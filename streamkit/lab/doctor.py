"""What of the kit works on this machine, what does not, and what to type: one finding a thing.

What may be broken is imported where it is looked at, so that a broken installation can still be reported.
"""

import importlib.util
import io
import os
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from .paths import BOOK, CAPTURES, ROOT, WORKBOOK
from .problem import Problem

WORKS, OPTIONAL, MISSING = "works", "not there", "MISSING"
SIGNS = {WORKS: "✓", OPTIONAL: "○", MISSING: "✗"}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
USER = "a user of your own"
FRONT_END = Path("share/jupyter/labextensions/@jupyter-widgets/jupyterlab-manager")


class Finding(NamedTuple):
    """`what` was looked at, the verdict (works, not there, MISSING), what was seen, and what to do about it."""

    what: str
    verdict: str
    seen: str
    todo: str = ""


def findings() -> Iterator[Finding]:
    """All findings, what the course needs first. A check that breaks is a finding too."""
    for what, needed, look in CHECKS:
        try:
            found, seen, todo = look()
        except Exception as error:  # whatever a broken installation raises
            found, seen, todo = False, f"{type(error).__name__}: {error}"[:200], pip("-e .")
        yield Finding(what, WORKS if found else MISSING if needed else OPTIONAL, seen, "" if found else todo)


def report(found: list[Finding]) -> str:
    """The findings as lines for people, and a sentence at the end."""
    width = max(len(one.what) for one in found)
    lines = []
    for sign, what, verdict, seen, todo in ((SIGNS[one.verdict], *one) for one in found):
        lines.append(f"{sign} {verdict:9}  {what:{width}}  {seen}")
        lines += [f"{'':{width + 15}}→ {todo}"] if todo else []
    missing = [one.what for one in found if one.verdict == MISSING]
    optional = any(one.verdict == OPTIONAL for one in found)
    root = any(one.what == USER and one.verdict == OPTIONAL for one in found)
    can = f"The course can be run here{' by root, with --allow-root' if root else ''}."
    last = f"The course needs what is missing: {', '.join(missing)}." if missing else can
    return "\n".join([*lines, "", last + (" What is marked ○ is optional." if optional else "")])


def kit() -> str:
    """What stands before a command in kit.py's environment; nothing in any other."""
    ours = Path(sys.prefix).resolve() == Path(os.environ.get("STREAMKIT_VENV") or ROOT / ".venv").resolve()
    return f"{'py' if os.name == 'nt' else 'python3'} kit.py " if ours else ""


def pip(what: str) -> str:
    """The line to type that installs `what` into this environment."""
    return f"{kit()}pip install {what}"


def python() -> tuple[bool, str, str]:
    version = ".".join(map(str, sys.version_info[:3]))
    return sys.version_info >= (3, 11), f"{version}, {sys.platform}", "install Python 3.11 or newer"


def packages() -> tuple[bool, str, str]:
    """The packages that the metadata asks for, and whether their versions are in range."""
    from packaging.requirements import Requirement

    seen, wrong = [], []
    for line in metadata.requires("streamkit") or ():
        wanted = Requirement(line)
        if wanted.marker and not wanted.marker.evaluate({"extra": ""}):
            continue
        try:
            version = metadata.version(wanted.name)
        except metadata.PackageNotFoundError:
            wrong.append(f"no {wanted.name}")
            continue
        seen.append(f"{wanted.name} {version}")
        if not wanted.specifier.contains(version, prereleases=True):
            wrong.append(f"{wanted.name} {version}, and {wanted.specifier} is needed")
    return not wrong, "; ".join(wrong) or ", ".join(seen), pip("-e .")


def kernel() -> tuple[bool, str, str]:
    from jupyter_client.kernelspec import KernelSpecManager

    names = sorted(KernelSpecManager().find_kernel_specs())
    return "python3" in names, ", ".join(names) or "none", pip("ipykernel")


def widgets() -> tuple[bool, str, str]:
    """The widgets of the kernel and their half in JupyterLab's page."""
    import ipywidgets

    ipywidgets.IntSlider().close()
    page = (Path(sys.prefix) / FRONT_END).is_dir()
    seen = f"ipywidgets {ipywidgets.__version__}" + ("" if page else ", without its half for JupyterLab")
    return page, seen, pip("--force-reinstall jupyterlab_widgets")


def charts() -> tuple[bool, str, str]:
    import matplotlib

    from .chart import axes, styled

    drawn = io.BytesIO()
    with styled():
        axes(1, 1)[0].savefig(drawn, format="png")
    good = drawn.getvalue().startswith(b"\x89PNG")
    return good, f"matplotlib {matplotlib.__version__} draws", pip("--force-reinstall matplotlib")


def port() -> tuple[bool, str, str]:
    """A server on this machine, as the course starts them: bound to 127.0.0.1 and reached there."""
    todo = "let programs of this machine talk to each other on 127.0.0.1 (look at a firewall or a sandbox)"
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(server.getsockname(), timeout=2).close()
            return True, "a server on 127.0.0.1 can be reached", ""
    except OSError as error:
        return False, f"no server on 127.0.0.1: {error.strerror or error}", todo


def files() -> tuple[bool, str, str]:
    """The book and its captures."""
    from .captures import find_captures
    from .fill import chapters_in

    todo = "run this in a clone of streamkit, or name the clone in STREAMKIT_HOME"
    try:
        captures = len(find_captures(CAPTURES))
    except Problem as problem:
        return False, str(problem), todo
    chapters = len(chapters_in(BOOK)) if BOOK.is_dir() else 0
    return bool(captures and chapters), f"{chapters} chapters, {captures} captures", todo


def writable() -> tuple[bool, str, str]:
    """Whether `workbook/` can be made and kept."""
    there = WORKBOOK.is_dir()
    good = os.access(WORKBOOK if there else ROOT, os.W_OK)
    seen = "yours is there" if there else "made when the course is first opened"
    return good, seen if good else "its folder cannot be written", "copy streamkit to a folder that is yours"


def user() -> tuple[bool, str, str]:
    """Whether JupyterLab starts without being told that root may start it."""
    root = getattr(os, "geteuid", lambda: None)() == 0
    seen = "root, as in a container: JupyterLab starts only where that is allowed" if root else "not root"
    return not root, seen, f"{kit() or 'streamkit '}lab --allow-root"


def extra(name: str, modules: str, packages: str) -> Callable[[], tuple[bool, str, str]]:
    """A check for an extra of the package: its modules can be found."""

    def look() -> tuple[bool, str, str]:
        lacking = [module for module in modules.split() if importlib.util.find_spec(module) is None]
        known = name in (metadata.metadata("streamkit").get_all("Provides-Extra") or ())
        seen = f"without {', '.join(lacking)}" if lacking else modules.replace(" ", ", ")
        return not lacking, seen, pip(f'-e ".[{name}]"' if known else packages)

    return look


def browser() -> tuple[bool, str, str]:
    named = os.environ.get("CHROMIUM")
    found = next((path for name in (named, *BROWSERS) if name and (path := shutil.which(name))), None)
    seen = f"{Path(found).name} for the tests of the pages" if found else "no Chromium; the tests that need it skip"
    return found is not None, seen, "install Chromium (on Debian: apt install chromium), or name one in CHROMIUM"


def corpus() -> tuple[bool, str, str]:
    named = os.environ.get("STREAMKIT_CORPUS")
    good = bool(named) and Path(named).is_dir()
    seen = "STREAMKIT_CORPUS names a folder" if good else "STREAMKIT_CORPUS names no folder; its tests skip"
    return good, seen, "only for who has a folder of recorded streams: set STREAMKIT_CORPUS to it"


CHECKS = (  # what, whether the course needs it, how to look
    ("Python", True, python),
    ("packages", True, packages),
    ("kernel", True, kernel),
    ("widgets", True, widgets),
    ("charts", True, charts),
    ("loopback port", True, port),
    ("book and captures", True, files),
    ("workbook", True, writable),
    (USER, False, user),
    ("extra test", False, extra("test", "pytest nbval hypothesis playwright", "pytest nbval hypothesis playwright")),
    ("browser", False, browser),
    ("extra record (a local model)", False, extra("record", "xllamacpp", "xllamacpp")),
    ("extra scale (many files)", False, extra("scale", "dask distributed", '"dask[distributed]"')),
    ("corpus", False, corpus),
)
