"""What fuzz.py feeds as a response's body, and what must hold of the turn: on the wire, on a screen, in a history."""

import json
import re

from streamkit.blocks import restored
from streamkit.failure import failure
from streamkit.finalise import Tools
from streamkit.history import WAYS, fabricated, persist, problems
from streamkit.render import ENDED, SIGNS, to_html, to_text
from streamkit.results import HISTORIES
from streamkit.turn import TurnBuilder
from streamkit.wire import reader

from .checks import cut, map_of, on_page, on_terminal, previewed, same

ENDINGS = ("clean", "error", "disconnect", "timeout", "cancel")
ENDS = frozenset(("ready", "invalid", "unparseable", "unfinished"))
EFFECTS = (
    ("ran", {"result": "done"}),
    ("ran", {"result": {"a": [1, None, "\ud83d\x1b[31m\u202e"]}}),
    ("ran", {"result": ""}),
    ("duplicate", {"result": None}),
    ("failed", {"error": "no [such] thing\nat all"}),
    *((effect, None) for effect in ("in_doubt", "not_run", "claimed", "none")),
)


class Turns:
    """Targets that take bytes, a Random and the API. `tools`: the offered tools."""

    def __init__(self, tools: dict[str, dict]):
        self.tools = Tools(list(tools.values()))
        self.maps = {name: map_of(tool) for name, tool in tools.items()}

    def _turn(self, data, chance, api):
        """The turn of these bytes; it is the same however they are cut."""
        ending = chance.choice(ENDINGS)
        events = _events(api, cut(chance, data), ending)
        if chance.random() < 0.3:
            assert same(events, _events(api, cut(chance, data, 40), ending)), "another cut gives other events"
        builder = TurnBuilder(self.tools if chance.random() < 0.7 else None)
        for event in events:
            builder.add(event)
        builder.end()
        return builder.turn

    def wire(self, data, chance, api):
        """A turn that is not complete has no ready call; a ready one holds what json.loads makes of its text."""
        turn = self._turn(data, chance, api)
        assert turn.verdict in ("complete", "interrupted", "failed") and turn.next in ("run", "end", "done"), (
            "its verdict"
        )
        whole = turn.verdict == "complete"
        assert whole or turn.next == "end", "an incomplete turn goes on"
        assert len({call.id for call in turn.calls}) == len(turn.calls) and all(call.id for call in turn.calls), "ids"
        for call in turn.calls:
            assert call.outcome in ENDS, f"a call ends as {call.outcome}"
            assert (call.outcome == "unfinished") != whole, f"a call is {call.outcome} in a {turn.verdict} turn"
            if call.outcome == "ready":
                text = call.text if call.text not in ("", "null") else "{}"
                assert type(call.arguments) is dict and same(call.arguments, json.loads(text)), "other arguments"
        if turn.next == "run":
            assert all(c.name and c.outcome in ("ready", "invalid") for c in turn.calls if c.kind == "client"), "run"
        stored = json.loads(json.dumps([block.stored() for block in turn.blocks]))
        assert same([restored(block).stored() for block in stored], stored), "a block read back is another"

    def render(self, data, chance, api):
        """Nothing that a terminal or a page would obey; every call in a stated state, and none left preparing."""
        turn = self._turn(data, chance, api)
        previews = {call.ordinal: previewed(call.text, call.name, self.maps, chance) for call in turn.calls}
        labels = {call.name: "Label" for call in turn.calls[:1]}
        on_terminal(to_text(turn.blocks, labels, previews))
        on_page(to_html(turn.blocks, labels, previews))
        for block in turn.blocks:
            if block.kind == "call":
                assert block.state in SIGNS, f"no sign for {block.state}"
                assert block.state in ENDED or (turn.next == "run" and block.outcome == "ready"), f"left {block.state}"

    def history(self, data, chance, api):
        """What is stored of the turn is taken by its provider, whatever happened to its calls."""
        turn = self._turn(data, chance, api)
        if turn.next == "run" or chance.random() < 0.1:
            for call in turn.calls:
                if call.kind == "client" and call.outcome == "ready":
                    effect, detail = chance.choice(EFFECTS)
                    call.effect, call.detail = effect, detail and detail | {"arguments": call.arguments}
        for target in HISTORIES:
            for way in WAYS:
                messages = persist(turn, target, way)
                found = problems(json.loads(json.dumps(messages)), target, turn)
                assert not found, f"{way}, {target}: {re.sub(r'[0-9]+', '0', found[0])[:80]}"
            assert isinstance(fabricated(turn, target), list)
        json.dumps(failure(turn))


def _events(api: str, reads: list[bytes], ending: str) -> list:
    wire = reader(api)
    events = [event for data in reads for event in wire.feed(data, 0.0)]
    return events + wire.close(ending, 0.0)
