"""The failure record: what is kept of a turn that did not end well, to log it and to retry it.

For people and programs, not for the model: it holds the fragments of cut calls, which no history has.
"""

from .claims import Attempt
from .events import Call, Turn
from .note import is_whole


def failure(turn: Turn, attempt: Attempt | None = None) -> dict | None:
    """The record as plain JSON, None for a turn that ended well. Times are seconds since the request was sent.

    "fragments" are [at, text] in order of arrival. "attempt" is the number of the attempt that failed: a retry begins the
    same conversation and turn again, and gets the next.
    """
    if is_whole(turn):
        return None
    identity = {name: getattr(attempt, name, None) for name in ("conversation", "turn", "attempt")}
    calls = [_call(call) for call in turn.calls]
    return identity | {"verdict": turn.verdict, "reason": turn.reason, "text": turn.text, "calls": calls}


def _call(call: Call) -> dict:
    names = ("ordinal", "id", "minted", "name", "kind", "outcome", "effect", "announced_at", "finished_at", "detail")
    fragments = [[fragment.at, fragment.text] for fragment in call.fragments]
    return {name: getattr(call, name) for name in names} | {"fragments": fragments}
