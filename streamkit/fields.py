"""The stable fields of a forming JSON object: what of an unfinished argument text can no longer change.

For eyes only. A partially received call is not a call: no tool may see what comes from here (finalise.py decides that).
"""

import json
import re
from typing import Any, NamedTuple

from .strict import DEPTH, NotStrict, strict

Event = tuple[str, str | None, Any]

# Whole characters of a JSON string (RFC 8259, section 7): plain ones, then an escape or an escaped surrogate pair and plain ones
# again. No two ways through a text, so that a run costs one pass. (Possessive `*+` would say so, and is broken before 3.11.5.)
PLAIN = r'[^"\\\x00-\x1f\ud800-\udfff]*'
CHARACTERS = re.compile(
    PLAIN + r'(?:(?:\\["\\/bfnrt]|\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4}'
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})" + PLAIN + ")*"
)
ESCAPE_BEGUN = re.compile(
    r"\\(?:u[0-9a-fA-F]{0,3}|u[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?)?"
)
# Of a container: up to the next bracket, or to a string that this text leaves open.
CALM = re.compile(rf'(?:[^"\[\]{{}}]+|"{CHARACTERS.pattern}")*')
SPACE = frozenset(" \t\n\r")
NUMBER = re.compile(r"[-+.0-9eE]*")

VALUE = '"{[tfn-0123456789'
LITERALS = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}
EXPECTED = {"{": "an object", '"}': "a key or }", '"': "a key", ":": "a colon", VALUE: "a value", ",}": "a comma or }"}


class Wrong(NamedTuple):
    """Why a text cannot become a JSON object: `position` counts characters from the start of the argument text."""

    position: int
    reason: str


class Fields:
    """The top-level fields of one forming object, each given out once, as early as the text allows and never earlier.

    `feed` takes the fragments as they come and returns what each of them made stable, in the order of the text:

    - ("text", key, piece): more of a string. A plain character is stable at once, an escape with its last letter, an escaped
      surrogate pair with the last letter of its second half. The pieces together are the string.
    - ("value", key, value): the field is closed. A string closes at its quote, a container at its bracket, a literal at its
      last letter; a number, which another digit would change, at the character after it.
    - ("withdrawn", key, None): the key came again, here or inside its value. What was given out does not hold, and nothing
      more comes of this field.
    - ("wrong", None, Wrong): no continuation is strict JSON (strict.py). The last event: the rest is not looked at.

    A fragment costs what it is long, not what came before it: strings and containers are kept in pieces and joined once, when
    they close. Only then is a container parsed, and its own grammar judged.

    The machine is a generator. Its state is the line at which it waits (`yield`) for more text.
    """

    def __init__(self) -> None:
        self.closed = False  # the object's own bracket has come
        self.wrong: Wrong | None = None
        self._text, self._at = "", 0  # the text in hand, and how much of it is read
        self._before = 0  # characters in front of it
        self._stable: dict[str, bool] = {}  # every key so far; False: withdrawn
        self._events: list[Event] = []
        self._machine = self._object()

    def feed(self, fragment: str) -> list[Event]:
        """Read one fragment (of any length) and return the events it brought about. Raises nothing."""
        if self.wrong:
            return []
        self._before += self._at
        unread = self._text[self._at :]  # at most the beginning of an escape: 11 characters
        self._text, self._at = unread + fragment, 0
        self._events = []
        try:
            next(self._machine)
        except NotStrict as error:
            self.wrong = Wrong(self._before + error.position, error.reason)
            self._events.append(("wrong", None, self.wrong))
        return self._events

    def _object(self):
        while not self._mark("{"):
            yield
        while not (mark := self._mark('"}')):
            yield
        while mark == '"':
            key = yield from self._string()
            if key in self._stable:
                self._withdraw(key)
            self._stable.setdefault(key, True)
            while not self._mark(":"):
                yield
            while not (mark := self._mark(VALUE)):
                yield
            if mark == '"':
                self._emit("value", key, (yield from self._string(key)))
            elif mark in LITERALS:
                self._emit("value", key, (yield from self._literal(*LITERALS[mark])))
            else:
                begin = self._before + self._at - 1
                pieces = yield from (self._container(mark) if mark in "{[" else self._number(mark))
                self._parse(key, "".join(pieces), begin)
            while not (mark := self._mark(",}")):
                yield
            if mark == ",":
                while not (mark := self._mark('"')):
                    yield
        self.closed = True
        while not self._mark(""):
            yield

    def _mark(self, expected: str) -> str:
        """The next character that is no white space, which has to be one of these; "" where it has not come yet."""
        text, at = self._text, self._at
        while (mark := text[at : at + 1]) in SPACE:
            at += 1
        if mark and mark not in expected:
            raise NotStrict(f"expected {EXPECTED.get(expected, 'the end')}", at)
        self._at = at + len(mark)
        return mark

    def _string(self, key: str | None = None, raw: bool = False):
        """A string up to its quote. As the value of `key` it is given out while it comes; `raw`: as it stands."""
        pieces = []
        while True:
            begin = self._at
            end = self._at = CHARACTERS.match(self._text, begin).end()
            if end > begin:
                piece = self._text[begin:end]
                piece = json.loads(f'"{piece}"') if "\\" in piece and not raw else piece
                pieces.append(piece)
                if key is not None:
                    self._emit("text", key, piece)
            if self._quote():
                return "".join(pieces)
            yield

    def _quote(self) -> bool:
        """Whether the whole characters end at the quote. If not, only an escape that began may stand here, or nothing."""
        mark = self._text[self._at : self._at + 1]
        if mark == '"':
            self._at += 1
            return True
        if mark and not ESCAPE_BEGUN.fullmatch(self._text, self._at):
            raise NotStrict("bad escape" if mark == "\\" else "unescaped character", self._at)
        return False

    def _literal(self, word: str, value: bool | None):
        for letter in word[1:]:
            while self._at == len(self._text):
                yield
            if self._text[self._at] != letter:
                raise NotStrict(f"expected {word}", self._at)
            self._at += 1
        return value

    def _number(self, first: str):
        pieces = [first]
        while True:
            begin = self._at
            self._at = NUMBER.match(self._text, begin).end()
            pieces.append(self._text[begin : self._at])
            if self._at < len(self._text):
                break
            yield
        if self._text[self._at] not in " \t\n\r,}":
            raise NotStrict("expected the end of a number", self._at)
        return pieces

    def _container(self, bracket: str):
        pieces, depth = [bracket], 1
        while depth:
            begin = self._at
            self._at = CALM.match(self._text, begin).end()
            mark = self._text[self._at : self._at + 1]
            self._at += len(mark)
            pieces.append(self._text[begin : self._at])
            if not mark:
                yield
            elif mark == '"':
                pieces += [(yield from self._string(raw=True)), '"']
            else:
                depth += 1 if mark in "[{" else -1
                if depth >= DEPTH:  # the object itself is one level
                    raise NotStrict("nested too deep", self._at - 1)
        return pieces

    def _parse(self, key: str, text: str, begin: int) -> None:
        """The one parse of a number or container that is closed, and begins at character `begin`."""
        try:
            self._emit("value", key, strict(text))
        except NotStrict as error:
            if error.reason != "repeated key":
                raise NotStrict(error.reason, begin + error.position - self._before) from None
            self._withdraw(key)

    def _emit(self, kind: str, key: str, value: Any) -> None:
        if self._stable[key]:
            self._events.append((kind, key, value))

    def _withdraw(self, key: str) -> None:
        self._emit("withdrawn", key, None)
        self._stable[key] = False
