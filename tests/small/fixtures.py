"""The small course as pytest sees it: in this process, and as a finished book on disk."""

import shutil
import sys

import pytest

import small
from streamkit.lab import course
from streamkit.lab.exercises import registry, run, verbs
from streamkit.lab.exercises.cells import SESSION


def forget():
    """No chapter is loaded and nothing was decided."""
    for name in [name for name in sys.modules if name.startswith("streamkit.lab.course.")]:
        del sys.modules[name]
    registry.chapter.cache_clear()
    registry.begin(0)
    run._decided.clear()


@pytest.fixture
def small_course(monkeypatch, tmp_path):
    """The registry holds the small course and nothing else; the session is empty; the working folder is no workbook."""
    for name, value in small.environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.syspath_prepend(str(small.HERE))
    monkeypatch.setattr(course, "__path__", [str(small.HERE / "course")])
    monkeypatch.setattr(verbs, "HERE", tmp_path)
    monkeypatch.setattr(verbs, "_hinted", {})
    for part in (SESSION.last, SESSION.ids):
        part.clear()
    monkeypatch.setattr(SESSION, "shell", None)
    forget()
    yield registry
    forget()


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A home whose book was refreshed once. Copy it before changing it."""
    home = tmp_path_factory.mktemp("finished")
    small.write_book(home)
    done = small.command(home, "streamkit", "refresh")
    assert done.returncode == 0, done.stdout + done.stderr
    return home


@pytest.fixture
def home(finished, tmp_path):
    """A home of one's own with the finished book in it."""
    shutil.copytree(finished / "notebooks", tmp_path / "home" / "notebooks")
    return tmp_path / "home"
