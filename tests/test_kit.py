"""kit.py: what it installs from, and the one sentence where it cannot."""

import importlib.util
import sys
from types import SimpleNamespace

import pytest

from streamkit.lab.paths import ROOT


@pytest.fixture
def kit(tmp_path):
    spec = importlib.util.spec_from_file_location("kit", ROOT / "kit.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.WHEELS, module.KIND = tmp_path / "wheels", tmp_path / "wheels" / "KIND.txt"
    return module


def test_without_wheels_it_installs_over_the_network(kit):
    assert kit.bundled() == []


def test_with_wheels_of_this_kind_it_asks_no_network(kit):
    kit.WHEELS.mkdir()
    kit.KIND.write_text(f"{kit.kind()}\nmore", "utf-8")
    assert kit.bundled() == ["--no-index", "--find-links", str(kit.WHEELS)]
    assert f"{sys.version_info.major}.{sys.version_info.minor}" in kit.kind()


@pytest.mark.parametrize("made", ["win-amd64, cpython 3.12", None])
def test_wheels_of_another_kind_are_refused_in_one_sentence(kit, made):
    kit.WHEELS.mkdir()
    if made:
        kit.KIND.write_text(made + "\n", "utf-8")
    with pytest.raises(SystemExit) as stopped:
        kit.bundled()
    message = str(stopped.value)
    assert message.startswith("streamkit: the folder wheels/ is for ") and kit.kind() in message and "bundle" in message
    assert "\n" not in message and (made or "KIND.txt is missing") in message


def test_an_older_python_is_told_which_it_needs(kit, monkeypatch):
    class Old(tuple):
        major, minor = 3, 10

    monkeypatch.setattr(kit.sys, "version_info", Old((3, 10, 1)))
    assert "Python 3.11 or newer is needed" in kit.lacking()


def test_a_full_disk_is_named_before_anything_is_made(kit, monkeypatch, tmp_path):
    monkeypatch.setattr(kit, "ENV", tmp_path / "env")
    monkeypatch.setattr(kit.shutil, "disk_usage", lambda _: SimpleNamespace(free=1))
    assert "of disk are needed" in kit.lacking()
    assert not (tmp_path / "env").exists()
