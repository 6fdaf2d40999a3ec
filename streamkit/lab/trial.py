"""What a client makes of a stream, or of one argument text cut into fragments."""

from collections.abc import Iterable
from typing import Any

from ..accumulator import Accumulator
from ..events import CallDelta, CallFinished, TurnFinished
from ..finalise import Ready, finalise
from ..strict import NotStrict, strict
from ..turn import verdict_on

FELL_OVER = (NotStrict, AttributeError)  # AttributeError: a fragment that parses to something other than an object


class AppendsAndParsesOnce:
    """The right client: append, and at the turn's good end parse once, then run."""

    def __init__(self, required: Iterable[str] = ()):
        self.ran: list[tuple[str, Any]] = []
        self.accumulator = Accumulator()

    def add(self, event) -> None:
        self.accumulator.add(event)
        if isinstance(event, TurnFinished):
            complete = verdict_on(event.reason) == "complete"
            for call in self.accumulator.calls:
                final = finalise(call.text, call.name, complete=complete)
                if isinstance(final, Ready):
                    self.ran.append((call.name, final.arguments))


def route(fragments: Iterable[str], client, name: str = "tool"):
    """The event router: announcement, fragments, completion event and finish go to `client`, which is returned."""
    client.add(CallDelta(0.0, 0, id="call_1", name=name))
    for fragment in fragments:
        client.add(CallDelta(0.0, 0, text=fragment))
    client.add(CallFinished(0.0, 0))
    client.add(TurnFinished(0.0, "tool_calls"))
    return client


def ran(events: Iterable, client) -> list:
    """What `client` ran over a whole stream of events; a last item ("raised", None) where it fell over."""
    try:
        for event in events:
            client.add(event)
    except FELL_OVER:
        return [*client.ran, ("raised", None)]
    return client.ran


def breaks(kind, fragments: Iterable[str], text: str, required: Iterable[str] = ()) -> bool:
    """Whether a client of this kind runs anything but the one call with the arguments of `text`, so cut."""
    try:
        return route(fragments, kind(required)).ran != [("tool", strict(text or "{}"))]
    except FELL_OVER:
        return True
