"""Which fragment belongs to which call, and one buffer per call (cases/FORMAT.md, rules 4 and 5)."""

from .events import ArgumentSnapshot, Call, CallDelta, CallFinished


class Accumulator:
    """The calls of one stream, in order of first appearance. Make a new one for every stream.

    The index keys the buffer and the id is kept. Fragments are opaque: they are appended, in arrival order, and never
    parsed, trimmed, repaired or de-duplicated. Adding a fragment costs the same however many came before.
    """

    def __init__(self):
        self.calls: list[Call] = []
        self.named = 0  # characters of all names
        self._at: dict = {}  # index → the call that stands there now
        self._by_id: dict[str, Call] = {}
        self._unfinished: dict[int, Call] = {}  # ordinal → call without its completion event

    def add(self, event) -> Call | None:
        """Take a CallDelta, ArgumentSnapshot or CallFinished; the call it went to, None for any other event."""
        kind = type(event)
        if kind is CallDelta:
            _, index, id, name, text, _, _ = event
            if id or name or index is None:
                call = self._route(event)
            elif (call := self._at.get(index)) is None:
                call = self._open(event)
            if text:
                call.fragments.append(event)
            return call
        if kind is ArgumentSnapshot:
            call = self._at.get(event.index) or self._open(CallDelta(event.at, event.index))
            if event.text != call.text:  # equal text keeps the times of its fragments
                call.fragments = [event] if event.text else []
            return call
        if kind is CallFinished:
            return self._close(event)
        return None

    def _route(self, event: CallDelta) -> Call:
        """The call of an event that names itself, or that has no index."""
        id, name = event.id, event.name
        if event.index is not None:
            call = self._at.get(event.index)
            if call is None or (id and name and self._is_another(call, id, name)):
                call = self._open(event)
        elif id:
            call = self._by_id.get(id) or self._open(event)
        else:
            only = len(self._unfinished) == 1
            call = next(iter(self._unfinished.values())) if only else self._open(event)
        if id and not call.id:
            self._identify(call, id)
        if name and (len(name) != call.named or name != call.name):  # equal: a restatement (cases 015, 016)
            call.names.append(name)
            call.named += len(name)
            self.named += len(name)
        return call

    @staticmethod
    def _is_another(call: Call, id: str, name: str) -> bool:
        """A new id together with a name opens a new call (003); an id that comes late to its own name does not."""
        return id != call.id and (bool(call.id) or call.name not in ("", name))

    def _identify(self, call: Call, id: str) -> None:
        if id not in self._by_id:  # the second call with an id gets a minted one (011)
            self._by_id[id] = call
            call.id = id

    def _open(self, event: CallDelta) -> Call:
        call = Call(len(self.calls), event.index, kind=event.kind, item=event.item, announced_at=event.at)
        self.calls.append(call)
        self._unfinished[call.ordinal] = call
        if event.index is not None:
            self._at[event.index] = call
        return call

    def _close(self, event: CallFinished) -> Call | None:
        call = self._at.get(event.index)
        if call is None:
            return None
        call.finished_at = event.at
        self._unfinished.pop(call.ordinal, None)
        if event.id:
            self._identify(call, event.id)
        if event.text:
            self.add(ArgumentSnapshot(event.at, event.index, event.text))
        return call
