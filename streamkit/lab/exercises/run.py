"""A cell's text in, a verdict out."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from streamkit.lab.exercises.cells import plain
from streamkit.lab.exercises.record import Exercise
from streamkit.lab.exercises.registry import find
from streamkit.lab.exercises.show import CELL

# Seconds, for a machine so busy that the worker cannot even start; the worker keeps its own, shorter limit.
PATIENCE = 60.0
# A browser kernel has no processes: there a piece runs in the kernel itself, and an endless loop is not cut.
PROCESSES = sys.platform != "emscripten"
HOME = Path(importlib.util.find_spec("streamkit").origin).parents[1]


_decided: dict[tuple, dict] = {}


def verdict(exercise: Exercise, text: str, before: tuple[str, ...] = (), again: bool = True) -> dict:
    """What a process of its own makes of a cell's text.

    `before` holds the texts of the pieces it builds on. The answer is plain data with a "state": pass, fail (a
    counterexample), error (the text does not run by itself), cut (not finished in time), gone (the process ended),
    broken (the check itself failed). A decision is remembered; what a busy machine may decide otherwise the next time
    is decided `again`.
    """
    key = (exercise.name, text, before)
    if key not in _decided or (again and _decided[key]["state"] not in ("pass", "fail")):
        _decided[key] = _judge(exercise, text, before)
    return _decided[key]


def _judge(exercise: Exercise, text: str, before: tuple[str, ...]) -> dict:
    # An exercise's cases may write files: they go to a folder that is thrown away.
    with tempfile.TemporaryDirectory(prefix="streamkit-", ignore_cleanup_errors=True) as scratch:
        request = {"chapter": find(exercise.name)[0], "name": exercise.name}
        request |= {"text": plain(text), "before": [plain(part) for part in before]}
        if not PROCESSES:
            from streamkit.lab.exercises import worker

            return worker.judged(request, lambda trial: None)
        return _ask(request, scratch)


def _ask(request: dict, scratch: str) -> dict:
    path = os.pathsep.join(filter(None, [str(HOME), os.environ.get("PYTHONPATH")]))
    process = subprocess.Popen(
        [sys.executable, "-P", "-X", "utf8", "-m", "streamkit.lab.exercises.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=scratch,
        env=dict(os.environ, PYTHONPATH=path),
        start_new_session=os.name != "nt",  # the stop button is for the kernel; it ends the worker below
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    try:
        said, complained = process.communicate(json.dumps(request).encode(), PATIENCE)
    except subprocess.TimeoutExpired:
        return {"state": "cut", "waits": True}
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
    return _heard(said.decode("utf-8", "replace"), complained.decode("utf-8", "replace"), process.returncode)


def _heard(said: str, complained: str, status: int) -> dict:
    if "(most recent call first)" in said:  # faulthandler's word: the interpreter was stuck inside one call
        at = re.search(rf'File "{CELL}", line (\d+) in (\S+)', said)
        where = {"line": int(at[1]), "function": at[2]} if at else {}
        return {"state": "cut", "waits": False, **where}
    try:
        return json.loads(said)
    except ValueError:
        if complained:  # our own code failed before the learner's ran
            return {"state": "broken", "sentence": complained.strip().splitlines()[-1]}
        return {"state": "gone", "status": status}
