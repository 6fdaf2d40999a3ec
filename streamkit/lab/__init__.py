"""Everything that touches files, sockets, screens or learners. The core never imports it.

For notebooks: `from streamkit.lab import Player, check, hint, load, reveal, start, use`.
"""

import importlib

_FROM = {
    "check": "streamkit.lab.exercises.verbs",
    "hint": "streamkit.lab.exercises.verbs",
    "reveal": "streamkit.lab.exercises.verbs",
    "use": "streamkit.lab.exercises.verbs",
    "start": "streamkit.lab.opening",
    "load": "streamkit.lab.captures",
    "Player": "streamkit.lab.player",
}
__all__ = [*_FROM]


def __getattr__(name):
    if name not in _FROM:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_FROM[name]), name)  # over a module of the same name
    return value
