"""A chapter with two exercises, the second built on the first."""

import random

from streamkit.lab.exercises.record import Case, Exercise, Wrong, definition


def joins():
    yield Case(["a", "b"], "ab", "append", "short streams")
    yield Case(["a ", " b"], "a  b", "blanks", "short streams")
    random_ = random.Random(7)
    for _ in range(100):
        parts = ["".join(random_.choices('ab "', k=random_.randrange(5))) for _ in range(random_.randrange(6))]
        yield Case(parts, "".join(parts), "append", "random cuts")


def stripped(given, expected, got):
    return "blanks" if isinstance(got, str) and got == "".join(map(str.strip, given)) else None


def streams():
    yield Case([(0, "a"), (0, "b")], ["ab"], "append", "streams")
    yield Case([(0, "a"), (1, "x"), (0, "b")], ["ab", "x"], "index", "streams")
    yield Case([("one", "a"), (None, "x")], ["a", "x"], "index", "streams")


def keyed(Keyed, stream):
    piece = Keyed()
    for index, text in stream:
        piece.add(index, text)
    return list(piece.texts())


EXERCISES = [
    Exercise(
        name="join-fragments",
        title="Join fragments",
        defines="join",
        answer=definition("small_answers", "join", "BLANK"),
        cases=joins,
        diagnose=stripped,
        pointers={
            "append": "A fragment is appended as it came (section “Build it”).",
            "blanks": "A blank may stand inside a string (section “Build it”).",
        },
        hints=("One operation is enough.", 'The answer is "".join(fragments).'),
        wrong=(
            Wrong("strips fragments", "blanks", swap=(("(fragments)\n", "(map(str.strip, fragments))\n"),)),
            Wrong(
                "keeps the last one",
                "append",
                text="def join(fragments):\n    return fragments[-1] if fragments else ''\n",
            ),
            Wrong("joins with a blank", "append", swap=(('BLANK = ""', 'BLANK = " "'),)),
        ),
        why="Whitespace inside a fragment may be part of a value.",
    ),
    Exercise(
        name="keyed",
        title="One buffer an index",
        defines="Keyed",
        answer=definition("small_answers", "Keyed"),
        needs=("join-fragments",),
        cases=streams,
        run=keyed,
        pointers={
            "append": "A fragment is appended (section “Build it”).",
            "index": "The index decides the buffer (section “Build it”).",
        },
        hints=("Which value tells two calls apart?", "Hold a dict from the index to a list."),
        wrong=(
            Wrong("one buffer for all", "index", swap=(("setdefault(index,", "setdefault(0,"),)),
            Wrong(
                "the last fragment wins", "append", swap=((".setdefault(index, []).append(text)", "[index] = [text]"),)
            ),
            Wrong(
                "shares its buffers",
                "twice",
                swap=(("    def __init__(self):\n        self.held = {}\n", "    held = {}\n"),),
            ),
        ),
        why="Two calls may be under way at once.",
    ),
]
