"""What fuzz.py feeds as frames, argument texts, stored messages, capture files and tables, and what must hold."""

import contextlib
import json
import math
import tempfile
from collections import Counter
from pathlib import Path

from streamkit.finalise import finalise
from streamkit.history import problems
from streamkit.lab.captures import read_capture, write_capture
from streamkit.lab.commands.show import UNSAFE, shown
from streamkit.lab.problem import Problem
from streamkit.lab.tables import rows_of_table
from streamkit.results import HISTORIES
from streamkit.strict import NotStrict, strict
from streamkit.wire.ndjson import NDJSONDecoder
from streamkit.wire.sse import SSEDecoder

from .checks import cut, on_page, on_terminal, plainly, previewed, same, settled
from .mutate import reshaped
from .turns import ENDS, Turns
from .words import UNREAL

REASONS = {"empty", "not JSON", "nested too deep", "repeated key", "lone surrogate"}
REASONS |= {"not a JSON number", "number out of range", "number too long"}


class Targets(Turns):
    """All targets by name: those of turns.py, and these, which take bytes and a Random."""

    def __init__(self, tools: dict[str, dict]):
        super().__init__(tools)
        self.folder = tempfile.TemporaryDirectory(prefix="fuzz-")
        self.path = Path(self.folder.name, "a.jsonl")

    def frames(self, data, chance):
        """The decoders: any cut gives the same frames, and those of SSE are the ones of the standard."""
        kind, found = chance.choice((SSEDecoder, NDJSONDecoder)), []
        for most in (1, 20):
            decoder = kind()
            events = [event for piece in cut(chance, data, most) for event in decoder.feed(piece)]
            found.append((events, decoder.rest()))
        assert found[0] == found[1], "another cut gives other frames"
        if kind is SSEDecoder:
            assert [(event.event, event.data) for event in found[0][0]] == plainly(data), "not what the standard says"

    def fields(self, data, chance):
        """Settled values are those of the strict parse; any cut gives the same; what is refused is not strict."""
        text = _text(data, chance)
        seen = settled(cut(chance, text))
        assert same(seen, settled(cut(chance, text))), "another cut gives other fields"
        values, streamed, withdrawn, wrong, closed = seen
        try:
            parsed = strict(text)
        except NotStrict as error:
            assert not closed or wrong or withdrawn or error.reason == "repeated key", "taken, and strict refuses it"
            return
        if isinstance(parsed, dict):
            assert not wrong and closed and not withdrawn, "refused, and strict takes it"
            assert same(values, parsed), "other values"
            assert all(streamed.get(key, "") == value for key, value in parsed.items() if isinstance(value, str)), (
                "pieces"
            )
        else:
            assert wrong, "no object, and not refused"

    def previews(self, data, chance):
        """A preview draws nothing that a screen would obey."""
        text = data.decode("utf-8", "replace")
        preview = previewed(text, chance.choice([*self.maps, "no such tool", text[:70]]), self.maps, chance)
        on_terminal(preview.to_text())
        on_page(preview.to_html())

    def strict(self, data, chance):
        """Strict takes nothing that json.loads refuses, and says why and where it refuses; finalise takes no more."""
        text = _text(data, chance)
        try:
            value = strict(text)
            assert same(value, json.loads(text)), "another value"
            json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
        except NotStrict as error:
            assert error.reason in REASONS and 0 <= error.position <= len(text), f"{error.reason} at {error.position}"
            value = error
        name = chance.choice([*self.maps, "no such tool", ""])
        final = finalise(text, name, chance.choice((None, self.tools)), chance.random() < 0.9)
        assert final.outcome in ENDS
        if text not in ("", "null"):
            assert final.outcome != "ready" or (type(value) is dict and same(final.arguments, value)), "other arguments"
            assert not isinstance(value, NotStrict) or final.outcome in ("unparseable", "unfinished"), "no reason"

    def problems(self, data, chance):
        """It raises nothing, whatever the messages are, and says what is wrong in text."""
        try:
            messages = json.loads(data)
        except (ValueError, RecursionError):
            text = data.decode("utf-8", "replace")
            messages = [text, {"role": "user", "content": text}]
        for _ in range(chance.randrange(4)):
            with contextlib.suppress(RecursionError, ValueError):
                messages = reshaped(chance, messages)
        if chance.random() < 0.2 and isinstance(messages, list):
            messages.append(chance.choice(UNREAL))
        found = problems(messages, chance.choice(HISTORIES))
        assert isinstance(found, list) and all(isinstance(one, str) for one in found), "no list of texts"

    def captures(self, data, chance):
        """A capture file is read or refused in one line; one that is read can be shown, and written again as the same."""
        self.path.write_bytes(data)
        try:
            capture = read_capture(self.path)
            lines = shown(capture)  # where a schema of its tools may turn out to be none
        except Problem as problem:
            assert not UNSAFE.search(str(problem)) and len(str(problem)) < 600, "a refusal that draws"
            return
        assert not any(UNSAFE.search(line) for line in lines), "show draws"
        write_capture(self.path, capture.header, capture.reads, capture.ended_at, capture.ending)
        again = read_capture(self.path)
        assert (again.body, again.ending) == (capture.body, capture.ending), "written, it is another"

    def tables(self, data, chance):
        """A table is measured or refused in one line, and no figure is NaN."""
        path = self.path.with_suffix(".csv")
        path.write_bytes(data)
        try:
            rows = list(rows_of_table(path, {}, Counter(), lambda size: None))
        except Problem as problem:
            assert not UNSAFE.search(str(problem)) and len(str(problem)) < 600, "a refusal that draws"
            return
        assert all(row["gap_stable"] is None or math.isfinite(row["gap_stable"]) for row in rows), "a gap of NaN"


def _text(data: bytes, chance) -> str:
    """Text of the bytes; halves of surrogate pairs come through now and then, as they do from a JSON escape."""
    try:
        return data.decode("utf-8", chance.choice(("surrogatepass", "replace")))
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")
