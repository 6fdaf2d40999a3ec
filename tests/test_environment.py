"""environment.yml and pyproject.toml say the same thing. Conda's channels are not needed to check that."""

import re
import shutil
import subprocess
import sys
import tomllib
from importlib.util import find_spec

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from streamkit.lab.paths import ROOT

PIP_NAME = {"matplotlib-base": "matplotlib"}  # conda's name → PyPI's


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.fixture(scope="module")
def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.fixture(scope="module")
def environment() -> dict:
    return yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))


def conda_requirements(environment) -> dict[str, SpecifierSet]:
    """Name → range of the conda packages; conda's single `=` means a prefix."""
    found = {}
    for line in environment["dependencies"]:
        if isinstance(line, str):
            requirement = Requirement(re.sub(r"(?<![=<>!~])=(?!=)(\S+)", r"==\1.*", line))
            found[PIP_NAME.get(normal(requirement.name), normal(requirement.name))] = requirement.specifier
    return found


def pip_lines(environment) -> list[str]:
    return next(line["pip"] for line in environment["dependencies"] if isinstance(line, dict))


def test_same_packages_and_ranges(project, environment):
    wanted = [Requirement(line) for line in project["dependencies"] + project["optional-dependencies"]["test"]]
    wanted = {normal(r.name): r.specifier for r in wanted}
    *others, last = pip_lines(environment)
    assert last == "-e .", "the kit itself is installed last"
    offered = conda_requirements(environment) | {normal(Requirement(p).name): Requirement(p).specifier for p in others}
    assert {name: offered[name] for name in offered if name not in ("python", "pip")} == wanted


def test_channel_and_python(project, environment):
    assert environment["channels"] == ["conda-forge"]
    version = str(conda_requirements(environment)["python"]).strip("=*.")
    assert SpecifierSet(project["requires-python"]).contains(version)


@pytest.mark.skipif(not find_spec("repo2docker"), reason="jupyter-repo2docker is not installed (.ci/run installs it)")
def test_a_container_is_built_from_environment_yml_with_the_project_in_it(tmp_path):
    """What Binder does, but for the building: the file is found, and the project is there when `-e .` is installed."""
    for name in ("environment.yml", "pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, tmp_path)
    command = [sys.executable, "-m", "repo2docker", "--no-build", "--debug", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-2000:]
    assert "Building conda environment for python=3.12" in said
    assert 0 < said.find(" src/ ") < said.find('--file "environment.yml"'), (
        "the project is copied before its environment is made"
    )
    assert not (ROOT / "binder").exists() and not (ROOT / ".binder").exists(), (
        "such a folder would hide environment.yml"
    )
