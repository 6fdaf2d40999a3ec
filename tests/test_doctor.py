"""The doctor's verdicts: right here, and right where something is missing."""

import subprocess
import sys

import pytest

from streamkit.__main__ import main
from streamkit.lab import doctor
from streamkit.lab.commands import lab
from streamkit.lab.doctor import MISSING, OPTIONAL, SIGNS, WORKS, Finding, findings, report
from streamkit.lab.paths import ROOT


def good():
    return True, "seen", "do"


def bad():
    return False, "not seen", "do"


def breaks():
    raise RuntimeError("a half installed package")


def test_the_course_can_be_run_where_its_tests_run(capsys):
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "The course can be run here" in out and MISSING not in out


@pytest.mark.parametrize(
    "look, needed, verdict",
    [
        (good, True, WORKS),
        (good, False, WORKS),
        (bad, True, MISSING),
        (bad, False, OPTIONAL),
        (breaks, True, MISSING),
        (breaks, False, OPTIONAL),
    ],
)
def test_verdict_exit_status_and_what_to_type(look, needed, verdict, monkeypatch, capsys):
    monkeypatch.setattr(doctor, "CHECKS", (("a thing", needed, look),))
    assert main(["doctor"]) == (verdict == MISSING)
    out = capsys.readouterr().out
    assert f"{SIGNS[verdict]} {verdict}" in out
    assert ("→" in out) == (verdict != WORKS), "what to type, exactly where something is to be done"


def test_one_broken_check_hides_no_other(monkeypatch):
    monkeypatch.setattr(doctor, "CHECKS", (("first", True, breaks), ("second", True, good)))
    first, second = findings()
    assert "a half installed package" in first.seen and second.verdict == WORKS


def test_every_check_of_an_extra_sees_what_is_missing():
    found, seen, todo = doctor.extra("record", "json no_such_module", "such")()
    assert not found and seen == "without no_such_module" and todo.endswith('pip install -e ".[record]"')
    assert doctor.extra("unheard-of", "no_such_module", "such")()[2].endswith("pip install such")


def test_a_version_out_of_range_is_named(monkeypatch):
    monkeypatch.setattr(
        doctor.metadata, "requires", lambda name: ["httpx>=999", "no-such-package", "jcs; extra == 'x'"]
    )
    found, seen, _ = doctor.packages()
    assert not found and "httpx" in seen and ">=999 is needed" in seen and "no no-such-package" in seen
    assert "jcs" not in seen, "what only an extra asks for is no one's lack"


def test_no_loopback_no_course(monkeypatch):
    def refused(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(doctor.socket, "create_server", refused)
    assert doctor.port()[:2] == (False, "no server on 127.0.0.1: Permission denied")


@pytest.mark.parametrize("number, root", [(0, True), (1000, False)])
def test_root_is_told_what_to_type(monkeypatch, capsys, number, root):
    """JupyterLab refuses root, and in a container everyone is root."""
    monkeypatch.setattr(doctor.os, "geteuid", lambda: number, raising=False)
    monkeypatch.setattr(doctor, "CHECKS", tuple(check for check in doctor.CHECKS if check[0] == doctor.USER))
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert ("→ streamkit lab --allow-root" in out or "→ python3 kit.py lab --allow-root" in out) == root
    assert ("can be run here by root, with --allow-root." in out) == root


def test_in_the_kits_environment_the_line_begins_with_the_kit(monkeypatch):
    monkeypatch.setenv("STREAMKIT_VENV", sys.prefix)
    assert doctor.user()[2].endswith("kit.py lab --allow-root") and "kit.py pip install x" in doctor.pip("x")
    monkeypatch.setenv("STREAMKIT_VENV", sys.prefix + "-another")
    assert doctor.user()[2] == "streamkit lab --allow-root" and doctor.pip("x") == "pip install x"


def test_lab_hands_options_on(monkeypatch):
    """What root is told to type must arrive at JupyterLab."""
    from jupyterlab.labapp import LabApp

    given = []
    monkeypatch.setattr(lab, "prepare", lambda renew: None)
    monkeypatch.setattr(lab, "first_open", lambda: ROOT / "01_a.ipynb")
    monkeypatch.setattr(LabApp, "launch_instance", given.extend)
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "")  # the command sets it
    assert main(["lab", "--allow-root", "--port=9000"]) == 0
    assert given[-2:] == ["--allow-root", "--port=9000"] and len(given) > 2


def test_it_can_speak_where_a_package_is_not_there():
    """A kernel without jsonschema cannot run the course, and the doctor is there to say so."""
    code = (
        "import sys; sys.modules['jsonschema'] = None; from streamkit.__main__ import main; sys.exit(main(['doctor']))"
    )
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", code], cwd=ROOT, capture_output=True, encoding="utf-8", timeout=60
    )
    assert done.returncode == 1, done.stderr
    assert f"{SIGNS[MISSING]} {MISSING}" in done.stdout and not done.stderr


def test_the_report_ends_with_a_sentence():
    assert report([Finding("a", WORKS, "seen")]).endswith("The course can be run here.")
    assert "needs what is missing: b." in report([Finding("a", WORKS, ""), Finding("b", MISSING, "", "type this")])
