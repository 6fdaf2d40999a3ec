"""What a provider would refuse in a history, and, beside the turn, what in it is not true."""

import json
from typing import Any

from .events import Turn
from .note import one_line
from .results import IDS, NAMES, call_id, clean, content, fits, known, result
from .said import Said, read, told
from .strict import NotStrict, strict


def problems(messages: Any, api: str, turn: Turn | None = None) -> list[str]:
    """All that is wrong with a history, each with its place; [] where nothing is. Raises nothing but for an unknown api.

    Refused are: a call without its result, a result without its call, arguments that are no object, an empty block or list of calls, names and
    ids of another form, half a surrogate pair. With `turn`, whose history this is to be, also what is not true: a call or a
    result that the turn does not bear out, an effect that nothing tells.
    """
    known(api)
    if not isinstance(messages, list):
        return [f"messages: a list was expected, {type(messages).__name__} came"]
    said = read(messages, api)
    found = [f"{one.where}: {complaint}" for one in said if (complaint := _alone(one, api))]
    found += _apart(said, api) + _unsendable(messages)
    return found if turn is None else found + _invented(said, api, turn) + _untold(said, api, turn)


def _alone(one: Said, api: str) -> str | None:
    """What is wrong with one thing by itself."""
    if one.kind == "odd":
        return one.value
    if one.kind == "text":
        return None if isinstance(one.value, str) and one.value.strip() else "an empty block"
    if one.kind not in ("call", "result"):
        return None
    if not fits(IDS, api, one.id):
        return f"an id that the provider takes was expected, {told(one.id)} came"
    if one.kind == "result":
        return None if isinstance(one.value, str | list) else "a result without text"
    if not fits(NAMES, api, one.name):
        return f"a tool's name was expected, {told(one.name)} came"
    return None if is_object(one.value, api) else f"call {one_line(one.id)}: arguments that are no object"


def _id(one: Said) -> str:
    return one.id if isinstance(one.id, str) else told(one.id)


def is_object(arguments: Any, api: str) -> bool:
    """Whether arguments stand as this API has them: an object (Messages), or the text of one."""
    if api == "anthropic-messages":
        return isinstance(arguments, dict)
    try:
        return isinstance(arguments, str) and isinstance(strict(arguments), dict)
    except NotStrict:
        return False


def _apart(said: list[Said], api: str) -> list[str]:
    """Calls and results without each other. In Chat and Messages results come next; in Responses, at some time after."""
    found: list[str] = []
    waiting: dict[str, Said] = {}
    answered: set[str] = set()
    for one in said:
        waits = next(iter(waiting.values()), one)  # those that wait are all of one message
        if api != "openai-responses" and one.kind != "result" and waits.message != one.message:
            reason = "without its result in the next message"
            found += [f"{call.where}: call {one_line(id)} {reason}" for id, call in waiting.items()]
            waiting = {}
        id = _id(one)
        if one.kind == "call":
            if id in waiting or id in answered:
                found.append(f"{one.where}: a second call {one_line(id)}")
            waiting[id] = one
        elif one.kind == "result":
            if waiting.pop(id, None) is None:
                found.append(
                    f"{one.where}: a {'second result' if id in answered else 'result without its call'}, for {one_line(id)}"
                )
            answered.add(id)
    return found + [f"{call.where}: call {one_line(id)} without its result" for id, call in waiting.items()]


def _unsendable(messages: list) -> list[str]:
    try:
        json.dumps(messages, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        return ["messages: half a surrogate pair, which no request can carry"]
    except (TypeError, ValueError, RecursionError):
        return ["messages: something in it is no JSON"]
    return []


def _invented(said: list[Said], api: str, turn: Turn) -> list[str]:
    """Calls and results that the turn does not bear out."""
    found, calls = [], {call_id(call, api): call for call in turn.calls if call.kind == "client"}
    for one in said:
        call = calls.get(_id(one))
        if one.kind not in ("call", "result"):
            continue
        what = "a result of" if one.kind == "result" else "the call"
        if call is None:
            found.append(f"{one.where}: a {one.kind} of {one_line(_id(one))}, which the turn does not have")
        elif content(call) is None:
            why = (
                "the provider never completed that call" if call.outcome == "unfinished" else "that call has no result"
            )
            found.append(f"{one.where}: {what} {one_line(_id(one))}, but {why}")
        elif one.kind == "result":
            true = read([result(call, api)], api) if api != "anthropic-messages" else None
            text = true[0].value if true else result(call, api)["content"]
            if one.value != text:
                found.append(f"{one.where}: the result of {one_line(_id(one))} is not the one that it had")
    return found


def _untold(said: list[Said], api: str, turn: Turn) -> list[str]:
    """What ran, or may have, and is neither there as a call nor named by a text that the client added."""
    told = {_id(one) for one in said if one.kind == "call"}
    added = "\n".join(one.value for one in said if one.kind == "text" and isinstance(one.value, str))
    for block in turn.blocks:
        if block.kind == "text" and block.pieces:
            added = added.replace(clean(block.text), "", 1)
    silent = [
        c.name
        for c in turn.calls
        if c.effect in ("claimed", "ran", "duplicate", "in_doubt", "changed") and call_id(c, api) not in told
    ]
    silent += [entry["tool"] for entry in turn.earlier]
    return [
        f"messages: {one_line(name)} ran or may have run, and nothing says so"
        for name in silent
        if one_line(name) not in added
    ]
