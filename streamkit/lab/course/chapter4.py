"""Chapter 4, dispatching on partial arguments: when a text first parses, and work that may begin before the call is whole.

What the checks run is in chapter4_cases.py.
"""

from streamkit.lab.course.chapter4_cases import (
    parse_cases,
    parse_fault,
    parsed,
    show_parse,
    show_warm,
    warm_cases,
    warm_fault,
    warmed,
)
from streamkit.lab.exercises.record import Exercise, Wrong, definition

EXERCISES = [
    Exercise(
        name="first_parse",
        title="First parse",
        defines="first_parse",
        answer=definition("streamkit.lab.answers", "first_parse"),
        given="from partial_json_parser import Allow, loads\n",
        cases=parse_cases,
        run=parsed,
        show=show_parse,
        diagnose=parse_fault,
        pointers={
            "whole": "Fragments are counted from 1: a call in one piece parses after 1.",
            "begun": "The first moment at which *some* value of every required field is there, right or not (`Allow.ALL`).",
            "all": "All required fields, not one of them.",
            "order": "A field that is not required does not count, wherever it stands.",
            "never": "Where it never happens, return None.",
            "none": "Where nothing is required, the first object is enough.",
            "object": "Only an object counts: a list or a text that holds the names is none, nor is a list with an object in it.",
        },
        hints=(
            "Put the fragments together one by one; after each, try `loads(text, Allow.ALL)`. An exception means: not yet.",
            "`required <= set(value)` asks whether all required names are keys of a dict.",
        ),
        wrong=(
            Wrong("counts from zero", "whole", swap=(("enumerate(fragments, 1)", "enumerate(fragments)"),)),
            Wrong(
                "one field is enough",
                "all",
                swap=(("required <= set(value)", "(not required or required & set(value))"),),
            ),
            Wrong("waits for the end", "none", swap=(("Allow.ALL", "0"),)),
            Wrong(
                "any value is an object",
                "object",
                swap=(
                    (
                        "isinstance(value, dict) and required <= set(value)",
                        "all(name in str(value) for name in required)",
                    ),
                ),
            ),
            Wrong("does not ask for an object", "object", swap=(("isinstance(value, dict) and ", ""),)),
            Wrong(
                "asks whether the names are in it",
                "object",
                swap=(
                    ("isinstance(value, dict) and required <= set(value)", "all(name in value for name in required)"),
                ),
            ),
            Wrong("zero for never", "never", swap=(("return None", "return 0"),)),
        ),
        why="This is the moment at which a client that does not wait would run the tool.",
    ),
    Exercise(
        name="warmer",
        title="The warmer",
        defines="Warmer",
        answer=definition("streamkit.warm", "Warmer"),
        given="import json\nfrom collections.abc import Collection\nfrom streamkit.fields import Fields\n",
        cases=warm_cases,
        run=warmed,
        show=show_warm,
        diagnose=warm_fault,
        pointers={
            "early": "When the last wanted field closes, `feed` returns the values, at that fragment.",
            "stable": "Only closed values: ask `Fields`, as in chapter 5. A value that may still grow starts no work.",
            "all": "All wanted fields, in whatever order they come.",
            "once": "Once: after that `feed` returns None.",
            "never": "A wanted field that never comes starts nothing.",
            "fits": "`fits(arguments)` compares the values that the work began with to the final ones.",
            "types": "1 is not True: compare as JSON text, not with ==.",
            "others": "Only the wanted fields count; others may follow.",
        },
        hints=(
            'Keep a `Fields()` scanner, the set of wanted names, and a dict of closed values. Each event of the kind "value" for a wanted name goes into the dict.',
            "When the dict has as many values as are wanted, keep a copy in `self.values` and return it. From then on return None at once.",
            "`fits`: take the wanted names from `arguments`, and compare `json.dumps(…, sort_keys=True)` of both.",
        ),
        wrong=(
            Wrong(
                "begins again at every fragment",
                "once",
                swap=(("        if self.values is not None:\n            return None\n", ""),),
            ),
            Wrong("one field is enough", "all", swap=(("len(self._closed) < len(self._wanted)", "not self._closed"),)),
            Wrong(
                "always fits",
                "fits",
                swap=(
                    (
                        "return json.dumps(values, sort_keys=True) == json.dumps(self.values, sort_keys=True)",
                        "return True",
                    ),
                ),
            ),
            Wrong(
                "compares with ==",
                "types",
                swap=(
                    (
                        "json.dumps(values, sort_keys=True) == json.dumps(self.values, sort_keys=True)",
                        "values == self.values",
                    ),
                ),
            ),
            Wrong(
                "compares all arguments",
                "others",
                swap=(("{name: arguments[name] for name in self._wanted if name in arguments}", "arguments"),),
            ),
        ),
        why="Warm work has no effect and gives no answer, so being wrong costs a little work and nothing else.",
    ),
]
