"""Plausible wrong answers to chapter 2's exercises, as people write them, each with the pointer that must catch it."""

from streamkit.lab.exercises.record import Wrong

APPEND = (
    Wrong("strips fragments", "opaque", swap=(("append(delta.text)", "append(delta.text.strip())"),)),
    Wrong("joins with a space", "append", swap=(('"".join', '" ".join'),)),
    Wrong("puts the newest first", "append", swap=(("append(delta.text)", "insert(0, delta.text)"),)),
    Wrong("keeps the newest only", "append", swap=(("self.pieces.append(delta.text)", "self.pieces = [delta.text]"),)),
    Wrong(
        "drops a fragment that was there before",
        "repeat",
        swap=(("self.pieces.append", "if delta.text not in self.pieces: self.pieces.append"),),
    ),
    Wrong(
        "returns the text so far",
        "quiet",
        swap=(("append(delta.text)", "append(delta.text)\n        return self.text"),),
    ),
    Wrong(
        "one list for all buffers",
        "shared",
        swap=(("    def __init__(self):\n        self.pieces = []", "    pieces = []"),),
    ),
)

LOOK_UP = "call = self.at.get(event.index)"
KEYED = (
    Wrong(
        "keyed by tool name",
        "name",
        swap=(
            (LOOK_UP, "self.last = event.name or getattr(self, 'last', '')\n        call = self.at.get(self.last)"),
            ("self.at[event.index] = Call", "self.at[self.last] = Call"),
        ),
    ),
    Wrong(
        "appends to the call opened last",
        "last",
        swap=((LOOK_UP, "call = self.calls[-1] if self.calls and not event.name else None"),),
    ),
    Wrong(
        "takes the index for a place in a list",
        "opaque-index",
        swap=((LOOK_UP, "call = self.calls[event.index] if len(self.calls) > event.index else None"),),
    ),
    Wrong(
        "sorts the calls by index",
        "order",
        swap=(
            (
                "self.calls.append(call)",
                "self.calls.append(call)\n            self.calls.sort(key=lambda one: str(one.index))",
            ),
        ),
    ),
    Wrong("the newest id wins", "first-id", swap=(("if event.id and not call.id:", "if event.id:"),)),
    Wrong("an empty id overwrites", "silent", swap=(("if event.id and not call.id:", "if event.id is not None:"),)),
    Wrong(
        "one dict for all streams",
        "one-a-stream",
        swap=(
            (
                "    def __init__(self):\n        self.calls = []\n        self.at = {}  # index → its call",
                "    calls = []\n    at = {}",
            ),
        ),
    ),
    Wrong("returns nothing", "returns", swap=(("        return call\n", ""),)),
)

NAMES = "if name and (len(name) != call.named or name != call.name):"
ACCUMULATOR = (
    Wrong(
        "an occupied index never opens a second call",
        "occupied",
        swap=(("if call is None or (id and name and self._is_another(call, id, name)):", "if call is None:"),),
    ),
    Wrong("a name always opens a call", "same-call", swap=(("self._is_another(call, id, name)", "True"),)),
    Wrong(
        "a new id alone opens a call",
        "first-id",
        swap=(("(id and name and self._is_another(call, id, name))", "(id and call.id and id != call.id)"),),
    ),
    Wrong(
        "an orphan goes to the newest call",
        "orphan",
        swap=(("only = len(self._unfinished) == 1", "only = bool(self._unfinished)"), ("next(iter(", "next(reversed(")),
    ),
    Wrong("a finished call stays open", "closed", swap=(("        self._unfinished.pop(call.ordinal, None)\n", ""),)),
    Wrong("an id is given out twice", "id-twice", swap=(("if id not in self._by_id:", "if True:"),)),
    Wrong("names are always joined", "restated", swap=((NAMES, "if name:"),)),
    Wrong("the first name wins", "pieces", swap=((NAMES, "if name and not call.names:"),)),
    Wrong(
        "a missing index counts as 0",
        "orphan",
        swap=(
            (
                "        kind = type(event)\n",
                "        kind = type(event)\n"
                "        if kind is CallDelta:\n            event = event._replace(index=event.index or 0)\n",
            ),
        ),
    ),
    Wrong(
        "strips fragments",
        "opaque",
        swap=(("call.fragments.append(event)", "call.fragments.append(event._replace(text=text.strip()))"),),
    ),
)
