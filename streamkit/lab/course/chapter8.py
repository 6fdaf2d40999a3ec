"""Chapter 8, persisting an interrupted turn: the messages that it leaves. What the check runs is in chapter8_cases.py."""

from streamkit.lab.course.chapter8_cases import history_cases, history_fault, left, show, tell
from streamkit.lab.exercises.record import Exercise, Wrong, definition

EXERCISES = [
    Exercise(
        name="history_of",
        title="The history of a broken turn",
        defines="history_of",
        answer=definition("streamkit.lab.answers", "history_of"),
        given="from streamkit.note import one_line\nfrom streamkit.results import clean\n",
        cases=history_cases,
        run=left,
        show=show,
        diagnose=history_fault,
        tell=tell,
        pointers={
            "prose": "What the user has read stays, word for word, in front.",
            "call": "A call that was cut is no call: no `tool_calls` in the message (“Break it”).",
            "fragments": "The fragments of a cut call are in the failure record, not in the history: nobody knows what they would have become.",
            "note": "One line, in brackets, behind the prose: `[interruption note: …]`. It stands there wherever a turn broke off, and wherever a call cannot be used.",
            "names": "The note names each call that did not run: `call.name`.",
            "empty": "Where nothing came but the end, the note alone is the message; nothing at all only for a turn that was whole and empty.",
            "roles": "One message, from the assistant.",
            "list": 'A list of messages comes back, each a dict: `[{"role": …, "content": …}]`. It may be empty.',
            "refused": "A provider would refuse this history: the words beside `got` say why.",
            "half": "Half a surrogate pair may come last; no later request can carry it. `clean` mends it.",
            "whole": "A turn that ended well gets no note.",
        },
        hints=(
            "Two parts: the prose, `clean(turn.text).strip()`, and the note; either may be missing. Join them with an empty line.",
            'A note is due if `turn.verdict != "complete"` or if there are calls (none of them can be told here). `turn.reason` says why, `call.name` what did not run.',
            'Both reason and names come from outside: `one_line(…)` keeps them from breaking the line or its bracket. Then `[{"role": "assistant", "content": content}]`.',
        ),
        wrong=(
            Wrong("rolls all back", "prose", text="def history_of(turn):\n    return []\n"),
            Wrong("the prose alone", "note", swap=(('if turn.verdict != "complete" or turn.calls:', "if False:"),)),
            Wrong(
                "keeps the call",
                "call",
                swap=(
                    (
                        '[{"role": "assistant", "content": content}] if content else []',
                        '[{"role": "assistant", "content": content, "tool_calls": [{"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.text}} for c in turn.calls] or None}] if content else []',
                    ),
                ),
            ),
            Wrong(
                "keeps the call and nothing else",
                "call",
                swap=(
                    (
                        '[{"role": "assistant", "content": content}] if content else []',
                        '[{"role": "assistant", "content": None, "tool_calls": [{"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.text}} for c in turn.calls]}] if turn.calls else [{"role": "assistant", "content": content}] if content else []',
                    ),
                ),
            ),
            Wrong(
                "keeps the call as a part of the content",
                "call",
                swap=(
                    (
                        '[{"role": "assistant", "content": content}] if content else []',
                        '[{"role": "assistant", "content": [{"type": "tool_use", "id": c.id, "name": c.name, "input": c.text} for c in turn.calls] or content}] if content else []',
                    ),
                ),
            ),
            Wrong(
                "returns the text",
                "list",
                swap=(('[{"role": "assistant", "content": content}] if content else []', "content"),),
            ),
            Wrong(
                "a list of texts",
                "list",
                swap=(
                    ('[{"role": "assistant", "content": content}] if content else []', "[content] if content else []"),
                ),
            ),
            Wrong(
                "shows what had come of it", "fragments", swap=(('did not run"', 'did not run: {turn.calls[0].text}"'),)
            ),
            Wrong(
                "a note for every turn", "whole", swap=(('if turn.verdict != "complete" or turn.calls:', "if True:"),)
            ),
            Wrong("names no call", "names", swap=(("{cut}", ""),)),
            Wrong("keeps half a character", "half", swap=(("clean(turn.text).strip()", "turn.text.strip()"),)),
        ),
        why="The next turn is built on the history: what it does not say, a model fills in.",
    ),
]
