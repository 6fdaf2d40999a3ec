"""A chapter that uses what the first one built."""

from streamkit.lab.exercises.record import Case, Exercise, Wrong, definition

EXERCISES = [
    Exercise(
        name="count",
        title="Count fragments",
        defines="count",
        answer=definition("small_answers", "count"),
        given="import json\n",
        cases=lambda: (Case(list(range(n)), n, "count", "lengths") for n in range(5)),
        pointers={"count": "Count every fragment, the empty ones too (section “Build it”)."},
        hints=("There is a builtin for it.", "The builtin is called len."),
        wrong=(
            Wrong("one too many", "count", swap=(("len(fragments)", "len(fragments) + 1"),)),
            Wrong("skips the falsy", "count", swap=(("len(fragments)", "len(list(filter(None, fragments)))"),)),
            Wrong("always none", "count", swap=(("len(fragments)", "0"),)),
        ),
        why="An empty fragment is a fragment.",
    ),
]
