"""The verdict on what a library made of a case.

The rule, after data/cases/FORMAT.md. A *good* finish is one of GOOD; a call is *right* when its name and its arguments, as
canonical JSON text, are those of the case (a text that does not parse strictly is compared as it is; nothing means {}).

1. The turn is complete and some call is ready: the ready calls must be handed over or run, each once, and nothing else.
   - `text`: a reader that hands over arguments as text must hand over exactly the calls of the case, the unparseable ones too,
     with the text that came: what it means is then the caller's to say.
   - `parsed`: no call may be handed over as parsed that does not parse; one that only the schema refuses may be.
   - `runs`: what runs must be the ready calls, each once.
2. The turn is complete and no call is ready: as above, and raising is right too, since the caller learns of it.
3. The turn is interrupted or failed: nothing may run and no call may be handed over as parsed. The library must raise, or let
   the caller see a finish that is not good, or (where it runs tools) answer the call with an error instead of running it.
4. No end within the time limit is a failure, and so is the library's own process dying.

The visible text is not judged, nor ids, nor a second attempt.
"""

import json
from collections import Counter

from streamkit.strict import NotStrict, Refused, strict

GOOD = ("stop", "tool_calls", "function_call", "end_turn", "tool_use", "stop_sequence", "STOP", "completed")


def written(arguments) -> str:
    """Canonical JSON text of an object or of a text that parses strictly to anything; else the text, marked as raw."""
    if isinstance(arguments, str):
        if arguments in ("", "null"):
            return "{}"
        try:
            arguments = strict(arguments)
        except (NotStrict, Refused):
            return f"RAW:{arguments}"
    return json.dumps({} if arguments is None else arguments, sort_keys=True, ensure_ascii=False)


def verdict(form: str, expected: dict, seen: dict) -> str:
    """`pass` or `FAIL: …`. `form`: a Peer's; `expected`: the case's; `seen`: an Observed as a dict."""
    calls = Counter((name or "", written(arguments)) for name, arguments in seen["calls"])
    faults = (_complete if expected["turn"] == "complete" else _broken)(form, expected, seen, calls)
    if faults:
        return f"FAIL: {'; '.join(faults)}"
    if seen["error"]:
        return f"pass (refuses loudly: {seen['error']})"
    if expected["turn"] == "complete":
        return "pass"
    silent = seen["finish"] is None or seen["finish"] in GOOD
    return "pass (answers the call with an error)" if silent else f"pass (finish={seen['finish']})"


def _of(expected: dict, *outcomes: str) -> Counter:
    return Counter(
        (call["name"], written(call.get("arguments", call.get("raw"))))
        for call in expected["calls"]
        if call["outcome"] in outcomes and call.get("kind", "client") == "client"
    )


def _complete(form: str, expected: dict, seen: dict, calls: Counter) -> list[str]:
    held = any(call["outcome"] in ("unparseable", "unfinished") or not call["name"] for call in expected["calls"])
    ready = Counter() if held and form == "runs" else _of(expected, "ready")
    if form == "text" and not seen["error"]:
        right = _of(expected, "ready", "invalid", "unparseable")
        return [] if calls == right else [f"wrong calls handed over: {_list(calls)}"]
    allowed = ready if form == "runs" else ready + _of(expected, "invalid")
    faults = []
    if wrong := calls - allowed:
        said = (
            "EXECUTED a call that was not made" if form == "runs" else "hands over as parsed a call that was not made"
        )
        faults.append(f"{said}: {_list(wrong)}")
    if ready - calls:
        lost = "good call not executed" if form == "runs" else "good call lost"
        faults.append(f"good call lost, raised {seen['error']}" if seen["error"] else lost)
    elif seen["error"] and ready:
        faults.append(f"raised {seen['error']}")
    return faults


def _broken(form: str, expected: dict, seen: dict, calls: Counter) -> list[str]:
    why = f"{expected['turn']}/{expected['reason']}"
    silent = seen["error"] is None and (seen["finish"] is None or seen["finish"] in GOOD)
    if form == "runs":
        if calls:
            return [f"EXECUTED although the turn was {why}: {_list(calls)}"]
        return ["run ends as success, no signal"] if silent and not seen["answered"] else []
    faults = [f"no error, finish={seen['finish']}"] if silent else []
    if form == "parsed" and calls:
        faults.append(f"partial arguments handed over as a parsed call: {_list(calls)}")
    return faults


def _list(calls: Counter) -> str:
    return str(sorted(calls.elements()))
