"""The six parts that the course builds, together: somebody's own, or the package's."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ..accumulator import Accumulator
from ..events import Call
from ..finalise import finalise
from .answers import SmallLedger, call_key, history_of, render


class Parts(NamedTuple):
    """What a learner has built: classes and functions with the signatures of the chapters."""

    accumulator: Any = Accumulator
    finalise: Callable = finalise
    render: Callable = render
    call_key: Callable = call_key
    ledger: Any = SmallLedger  # the class; `ledger(path)` opens a file
    history_of: Callable = history_of


def carry_out(parts: Parts, ledger, call: Call, arguments: dict, place: tuple[str, int], run: Callable) -> tuple:
    """One call, once: claim, run, settle. The ledger's word for it, and the result.

    `place`: (conversation, turn index). `run(arguments, key)` has the effect; what it raises leaves the claim open.
    """
    key = parts.call_key(*place, call.name, arguments)
    word, result = ledger.claim(key)
    if word == "new":
        result = run(arguments, key)
        ledger.settle(key, result)
    return word, result
