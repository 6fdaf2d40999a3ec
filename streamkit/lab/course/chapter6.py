"""Chapter 6, finalising: the strict parse, and what a finished text is worth.

What the checks run is in chapter6_cases.py.
"""

from streamkit.lab.course.chapter6_cases import finalise_cases, finalise_fault, parse_cases, parsed, said, show
from streamkit.lab.exercises.record import Exercise, Wrong, definition

EXERCISES = [
    Exercise(
        name="strict_parse",
        title="The strict parse",
        defines="strict_parse",
        answer=definition("streamkit.lab.answers", "strict_parse"),
        given="import json\n",
        cases=parse_cases,
        run=parsed,
        pointers={
            "whole": "Strict JSON of any kind comes back as its value: whether it is an object is asked later (section “Build it”, step 1).",
            "cut": "A text that is cut is refused. Nothing is closed, nothing is guessed (“Break it”).",
            "after": "Nothing may follow the value: the whole text is consumed, or it is refused.",
            "repeated": "A repeated key is refused: a screen shows one value and the tool would run the other (“Break it”).",
            "constant": "NaN and Infinity are no JSON, though Python's parser takes them (`allow_nan`).",
            "range": "1e400 becomes infinity in Python. A number beyond double range is refused.",
            "half": "Half of a surrogate pair is no character: it cannot be sent on, nor stored (`.encode()` finds it).",
            "pair": "A whole surrogate pair is one character, and good.",
            "deep": "A text nested too deep raises RecursionError in Python; the piece raises ValueError like all others.",
        },
        hints=(
            "`json.loads` takes `object_pairs_hook`, a function that is called with the pairs of each object: raise ValueError there for a repeated key.",
            "NaN, infinity and half a pair are in the value. Write the value again, strictly: "
            "`json.dumps(value, allow_nan=False, ensure_ascii=False).encode()` raises a ValueError for each of them.",
            "Put both lines into `try:`, and add `except RecursionError: raise ValueError(...) from None`.",
        ),
        wrong=(
            Wrong("takes the parser as it is", "range", text="def strict_parse(text):\n    return json.loads(text)\n"),
            Wrong("lets NaN and infinity through", "range", swap=(("allow_nan=False, ", ""),)),
            Wrong(
                "lets infinity and half a pair through",
                "range",
                swap=(
                    (
                        "        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()  # refuses NaN, 1e400, half a pair\n",
                        "",
                    ),
                ),
            ),
            Wrong("looks for infinity, not for half a pair", "half", swap=((", ensure_ascii=False).encode()", ")"),)),
            Wrong("keeps the recursion error", "deep", swap=(("except RecursionError", "except KeyError"),)),
            Wrong(
                "closes what is cut",
                "cut",
                swap=(("json.loads(text,", "json.loads(text + '}' if text.count('{') > text.count('}') else text,"),),
            ),
            Wrong(
                "stops after the first value",
                "after",
                swap=(
                    (
                        "value = json.loads(text, object_pairs_hook=once)",
                        "value = json.JSONDecoder(object_pairs_hook=once).raw_decode(text.lstrip())[0]",
                    ),
                ),
            ),
            Wrong(
                "takes objects only",
                "whole",
                swap=(
                    (
                        "    return value",
                        "    if not isinstance(value, dict):\n        raise ValueError('no object')\n    return value",
                    ),
                ),
            ),
        ),
        why="Whatever the parse lets through is what the tool will run.",
    ),
    Exercise(
        name="finalise",
        title="The finaliser",
        defines="finalise",
        answer=definition("streamkit.finalise", "finalise"),
        given=(
            "from streamkit.finalise import Final, Invalid, Ready, Tools, Unfinished, Unparseable\n"
            "from streamkit.strict import NotStrict, strict\n"
        ),
        cases=finalise_cases,
        run=said,
        show=show,
        diagnose=finalise_fault,
        pointers={
            "ready": "A whole text, an object, a known name, no complaints: Ready(arguments) (step 2).",
            "nothing": "In a complete turn no text, or the four letters null, mean {}. The schema still judges that (step 2).",
            "unfinished": "Ask `complete` first: in any other turn the call is Unfinished, even where its text parses (“Three ways to fail”).",
            "unparseable": "What `strict` refuses is Unparseable(text, reason, position): both are on its NotStrict.",
            "schema": "`tools.complaints(name, arguments)` lists all that the schema refuses, of {} too: Invalid(text, arguments, complaints).",
            "name": "An unknown name is one of the complaints; a call without any name is Invalid and not answerable.",
            "object": "Arguments that are no object are Invalid, and not answerable: no history can carry them.",
            "nameless": "A call needs a name even where `tools` is None: ask for it before you ask the tools.",
            "blank": "Only no text at all, or just the four letters null, mean {}. Blanks are text: leave them to `strict`.",
            "untold": "Without offered tools (`tools` is None) only the object rule and the name judge.",
        },
        hints=(
            "Ask in this order: complete? parses? an object? a name? complaints? The first no decides.",
            'try: `arguments = {} if text in ("", "null") else strict(text)`; except NotStrict as error: return Unparseable(text, error.reason, error.position).',
            'No object, or no name: `Invalid(text, arguments, ("…",), False)`. Complaints: `Invalid(text, arguments, tuple(complaints))`. Else `Ready(arguments)`.',
        ),
        wrong=(
            Wrong(
                "does not ask whether the turn is complete",
                "unfinished",
                swap=(("    if not complete:\n        return Unfinished(text)\n", ""),),
            ),
            Wrong(
                "takes text that parses for finished",
                "unfinished",
                swap=(("if not complete:", "if not complete and not text.endswith('}'):"),),
            ),
            Wrong(
                "gives {} for what does not parse",
                "unparseable",
                swap=(("return Unparseable(text, error.reason, error.position)", "arguments = {}"),),
            ),
            Wrong(
                "takes an empty text for broken",
                "nothing",
                swap=(('{} if text in ("", "null") else strict(text)', "strict(text)"),),
            ),
            Wrong(
                "skips the schema where no text came",
                "schema",
                swap=(("    try:", "    if text in ('', 'null'):\n        return Ready({})\n    try:"),),
            ),
            Wrong(
                "trusts the schema to ask for an object",
                "object",
                swap=(("if not isinstance(arguments, dict):", "if False:"),),
            ),
            Wrong(
                "does not ask the schema",
                "schema",
                swap=(("tools.complaints(name, arguments) if tools is not None else []", "[]"),),
            ),
            Wrong(
                "takes blanks for no text", "blank", swap=(('text in ("", "null")', 'text.strip() in ("", "null")'),)
            ),
            Wrong(
                "takes white space alone for no text",
                "blank",
                swap=(('text in ("", "null")', '(text.isspace() or text in ("", "null"))'),),
            ),
            Wrong(
                "asks for a name only where there are tools",
                "nameless",
                swap=(("if not name:", "if tools is not None and not name:"),),
            ),
            Wrong(
                "answers a call without a name",
                "name",
                swap=(('("the call was never named",), False)', '("the call was never named",))'),),
            ),
        ),
        why="Three failures need three endings, and only this function tells them apart.",
    ),
]
