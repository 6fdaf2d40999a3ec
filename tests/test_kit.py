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


@pytest.fixture
def idle(kit, monkeypatch):
    """A kit that must neither set up nor bundle nor start a program."""

    def must_not(*_, **__):
        raise AssertionError("this was to print and do nothing")

    monkeypatch.setattr(kit, "setup", must_not)
    monkeypatch.setattr(kit, "bundle", must_not)
    monkeypatch.setattr(kit.subprocess, "call", must_not)
    return kit


@pytest.mark.parametrize("word", ["help", "-h", "--help"])
def test_help_prints_what_there_is(idle, capsys, word):
    assert not idle.main([word])
    assert capsys.readouterr().out.strip() == idle.__doc__.strip()


@pytest.mark.parametrize("word", ["--help", "-h", "help", "now"])
def test_bundle_with_any_argument_says_what_it_does_and_does_nothing(idle, word):
    with pytest.raises(SystemExit, match=r"bundle takes no options, and did nothing[.] It fills wheels/"):
        idle.main(["bundle", word])


def test_an_unknown_word_is_told_all_known_ones(kit, monkeypatch):
    monkeypatch.setattr(kit, "ready", lambda: True)
    with pytest.raises(SystemExit, match=r"Known words are lab, test and bundle; see: python3 kit.py help"):
        kit.main(["no-such-word"])
