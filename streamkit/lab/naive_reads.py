"""Readers with one fault each, named after it: they take network reads for something they are not. For teaching.

Each stands in the place of a streamkit.wire reader, with the same `feed` and `close`, and hands the right bytes on to the right one.
"""

import json

from ..wire import reader


class DecodesEachRead:
    """Decodes every network read for itself. A read may end inside a UTF-8 character."""

    def __init__(self, api: str):
        self.reader = reader(api)

    def feed(self, data: bytes, at: float) -> list:
        return self.reader.feed(data.decode("utf-8", "replace").encode(), at)

    def close(self, ending: str, at: float) -> list:
        return self.reader.close(ending, at)


class TakesReadsForLines(DecodesEachRead):
    """Splits every network read into lines and skips those that do not parse. A read may end inside a line."""

    def feed(self, data, at):
        events = []
        for line in data.decode("utf-8", "replace").splitlines():
            if line.startswith("data: ") and self._parses(line[6:]):
                events += self.reader.feed(f"{line}\n\n".encode(), at)
        return events

    @staticmethod
    def _parses(text: str) -> bool:
        try:
            json.loads(text)
        except ValueError:
            return text == "[DONE]"
        return True


READ_CLIENTS = (DecodesEachRead, TakesReadsForLines)
