"""Chapter 2, keying the accumulator: one buffer; one buffer an index; the accumulator, right on streams that bend the rules.

What the checks run is in chapter2_streams.py, what they must catch in chapter2_wrong.py.
"""

import contextlib
from collections.abc import Iterator

from streamkit.accumulator import Accumulator
from streamkit.events import CallDelta
from streamkit.lab.answers import Buffer, Keyed
from streamkit.lab.course import chapter2_wrong as wrong
from streamkit.lab.course.chapter2_streams import BUFFER_STREAMS, KEYED_STREAMS, RULED_STREAMS, opened, part, recorded
from streamkit.lab.exercises.record import Case, Exercise, definition

GIVEN = "from streamkit.events import ArgumentSnapshot, Call, CallDelta, CallFinished\n"
ALIEN = "<text of another call>"


def buffer_cases() -> Iterator[Case]:
    """Fragments of one call, and what a buffer holds of them."""
    streams = [(group, pointer, [part(text) for text in texts]) for group, pointer, texts in BUFFER_STREAMS]
    yield Case([], {"text": "", "add returned": []}, "empty", "hand-made streams")
    for _, pointer, deltas in streams:
        yield Case(deltas, buffered(Buffer, deltas), pointer, "hand-made streams")
    for group, events in recorded():
        for index in dict.fromkeys(event.index for event in events if isinstance(event, CallDelta)):
            own = [event for event in events if isinstance(event, CallDelta) and event.index == index]
            if "interleaving" not in group:
                yield Case(own, buffered(Buffer, own), "append", group.replace("streams", "calls"))


def buffered(piece, deltas: list) -> dict:
    """What a buffer holds after these deltas: read in the middle too, and with another buffer beside it."""
    mine, other, returned = piece(), piece(), []
    for number, delta in enumerate(deltas):
        returned.append(mine.add(delta))
        other.add(part(ALIEN))
        if number == len(deltas) // 2:
            assert mine.text is not None
    return {"text": mine.text, "add returned": [value for value in returned if value is not None]}


def buffer_fault(given, expected, got) -> str | None:
    """The fault where it shows in what came out, whatever the case was made for."""
    if not isinstance(got, dict):
        return None
    text, whole = str(got["text"]), expected["text"]
    if got["add returned"]:
        return "quiet"
    if ALIEN in text:
        return "shared"
    if text == "".join(delta.text.strip() for delta in given):
        return "opaque"
    return "append" if len(text) > len(whole) or sorted(text) == sorted(whole) or text == given[-1].text else None


def keyed_cases() -> Iterator[Case]:
    """Streams in which the index alone decides."""
    for _, pointer, events in KEYED_STREAMS:
        yield Case(events, accumulated(Keyed, events), pointer, "hand-made streams")
    for group, events in recorded():
        yield Case(events, accumulated(Keyed, events), "index", group)


def accumulator_cases() -> Iterator[Case]:
    """The same, and streams that bend the rules."""
    for _, pointer, events in RULED_STREAMS:
        yield Case(events, accumulated(Accumulator, events), pointer, "hand-made streams")
    for group, events in recorded():
        yield Case(events, accumulated(Accumulator, events), "index", group)


def accumulated(piece, events: list) -> dict:
    """The calls an accumulator holds after these events, and which of them each event went to; beside it, another one works."""
    mine, other, went = piece(), piece(), []
    for event in events:
        went.append(mine.add(event))
        with contextlib.suppress(Exception):  # an index that is text: a case of its own asks for it, and shows it
            other.add(opened("another", "call_of_another_stream", "another"))
    calls = list(mine.calls)
    return {
        "calls": [(call.id, call.name, call.text) for call in calls],
        "went to": [next((n for n, call in enumerate(calls) if call is one), None) for one in went],
    }


def keyed_fault(given, expected, got) -> str | None:
    """The fault where it shows in what came out, whatever the case was made for."""
    if not isinstance(got, dict):
        return None
    if any(id == "call_of_another_stream" for id, _, _ in got["calls"]):
        return "one-a-stream"
    names, right = ([name for _, name, _ in calls] for calls in (got["calls"], expected["calls"]))
    if len(names) == len(right) and any(
        one and one != more and not more.replace(one, "") for one, more in zip(right, names, strict=True)
    ):
        return "restated"
    return "returns" if got["calls"] == expected["calls"] else None


EXERCISES = [
    Exercise(
        name="accumulator_append",
        title="One buffer: append",
        defines="Buffer",
        answer=definition("streamkit.lab.answers", "Buffer"),
        given=GIVEN,
        cases=buffer_cases,
        run=buffered,
        diagnose=buffer_fault,
        pointers={
            "append": "All fragments, in the order they came, joined with nothing between them (step 1).",
            "opaque": "A fragment is opaque: white space at its border may stand inside a string (step 1).",
            "repeat": "A fragment equal to an earlier one is no copy: the model may have written it twice (step 1).",
            "empty": 'An empty fragment says nothing. A buffer without fragments holds the text "" (step 1).',
            "parse": "Nothing is parsed here, not even a piece that would parse. That is for the end (step 1).",
            "quiet": "`add` returns nothing. To return the text so far would copy it once a fragment (step 1).",
            "shared": "Two buffers share what they hold. Make the list in `__init__`, not in the class (step 1).",
        },
        hints=(
            "Keep every `delta.text` in a list. Join the list when somebody asks for the text, and not before.",
            'In `__init__`: `self.pieces = []`. In `add`: `self.pieces.append(delta.text)`. In `text`: `"".join(self.pieces)`.',
        ),
        wrong=wrong.APPEND,
        why="Where a fragment ends means nothing, so the one thing that is right at every border is to append.",
    ),
    Exercise(
        name="accumulator_keyed",
        title="One buffer an index",
        defines="Keyed",
        answer=definition("streamkit.lab.answers", "Keyed"),
        given=GIVEN,
        cases=keyed_cases,
        run=accumulated,
        diagnose=keyed_fault,
        pointers=(
            KEYED := {
                "index": "`event.index` says whose a delta is. Look the call up in a dict; make it where there is none (step 2).",
                "name": "Two calls may have one name. The name is kept, and is no key (“Break it”).",
                "last": "Fragments of two calls may alternate. Each goes to the call of its index, not to the newest (step 2).",
                "opaque-index": "The index is an opaque key. It may begin at 1, it may be text: use it in a dict only (step 2).",
                "order": "`calls` lists the calls in order of first appearance, whatever their indexes (step 2).",
                "silent": 'None and "" say nothing: they overwrite no id and no name. An id that comes late is kept (step 2).',
                "first-id": "The first id is kept. Another one does not replace it, and opens no call by itself (step 2).",
                "other": "An event that is no CallDelta goes to no call: return None (step 2).",
                "returns": "`add` returns the call that the event went to, and None where it went to none (step 2).",
                "restated": "The name is kept once: it is not joined to what is held (step 2; later: step 3, rule 5).",
                "one-a-stream": "Two accumulators share what they hold. Make the list and the dict in `__init__` (step 2).",
            }
        ),
        hints=(
            "`__init__` makes two things: the list `calls`, and a dict from index to call.",
            "`add` leaves at once if the event is no CallDelta. It looks up `event.index`; where there is no call yet, it makes "
            "`Call(len(self.calls), event.index)` and puts it into both.",
            "Then `if event.id and not call.id: call.id = event.id`; `if event.name and not call.names: call.names.append(event.name)`; "
            "`if event.text: call.fragments.append(event)`; and return the call.",
        ),
        wrong=wrong.KEYED,
        why="The index is the only word that every fragment carries; the name and the id come once.",
    ),
    Exercise(
        name="accumulator",
        title="The accumulator",
        defines="Accumulator",
        answer=definition("streamkit.accumulator", "Accumulator"),
        given=GIVEN,
        cases=accumulator_cases,
        run=accumulated,
        diagnose=keyed_fault,
        pointers=KEYED
        | {
            "occupied": "A new id with a name, on an index that is taken, opens a new call (step 3, rule 1).",
            "same-call": "An id or a name that is the one held, or was still missing, means the same call (step 3, rule 1).",
            "first-id": "An id without a name opens no call, and the first id is kept (step 3, rule 2).",
            "no-index": "Without an index: a known id finds its call, a new id opens one, and without an id it belongs to the only "
            "open call (step 3, rule 3).",
            "orphan": "Two calls are open and nothing says whose this is. It gets a call of its own, without a name (step 3, rule 3).",
            "closed": "A call whose completion event came is no longer open (step 3, rule 3).",
            "id-twice": "A second call with an id that is taken keeps none (step 3, rule 4).",
            "restated": "A name equal to the one held is said again, not continued (step 3, rule 5).",
            "pieces": "A name that differs from the one held is its next piece: append it to `names` (step 3, rule 5).",
            "opaque": "Fragments are opaque: appended as they came (step 1).",
            "decides": "The text of a completion event replaces what is held; its id is kept if it is free (`finish`, which is given).",
            "replaces": "A snapshot replaces what is held, and opens a call where there is none (`replace`, which is given).",
        },
        hints=(
            "One rule at a time, one `check` each. Rule 1 first: after looking up the index, ask whether the event is the announcement "
            "of another call. It is, if it has an id and a name and the id is not the one held (or none is held, and the name differs).",
            "Rule 3: two more dicts help, from id to call, and from ordinal to every call without its completion event.",
            "Rule 4: an id goes to a call only if no call has it yet. Rule 5: compare `event.name` with `call.name`, which is "
            "all of `call.names` joined; where they differ, append it to `call.names`.",
        ),
        wrong=wrong.ACCUMULATOR,
        why="A fragment in the wrong buffer corrupts two calls, and what comes of it may still parse.",
    ),
]
