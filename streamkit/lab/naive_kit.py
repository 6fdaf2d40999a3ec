"""The six parts as many clients have them: chapter 8 sets their score beside the learner's."""

from typing import Any

from ..events import Turn
from ..finalise import Ready
from .answers import Keyed
from .closing import close
from .parts import Parts


def naive_finalise(text: str, name: str = "", tools: Any = None, complete: bool = True) -> Ready:
    """Closes what is cut and asks no schema."""
    value = close(text)
    return Ready(value if isinstance(value, dict) else {})


class NoLedger:
    """Lets everything run."""

    def __init__(self, path: str): ...

    def claim(self, key: str) -> tuple[str, Any]:
        return "new", None

    def settle(self, key: str, result: Any) -> None: ...


def everything(turn: Turn) -> list[dict]:
    """Stores what arrived, as a Chat Completions message."""
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.text}}
        for call in turn.calls
    ]
    return [{"role": "assistant", "content": turn.text, **({"tool_calls": calls} if calls else {})}]


NAIVE = Parts(Keyed, naive_finalise, ledger=NoLedger, history_of=everything)
