"""What a learner wrote, or a model, or both, as text that cannot harm a screen."""

import traceback
from collections.abc import Callable
from typing import Any

CELL = "<your cell>"  # the file name under which a learner's text is compiled


def shown(value: Any, limit: int = 300) -> str:
    """`repr`, capped, without anything that could move a screen; a `repr` that raises is named."""
    try:
        if (fields := getattr(value, "_fields", None)) and isinstance(value, tuple):  # an event: only what it says
            silent = {"at": 0, **value._field_defaults}
            said = [f"{k}={v!r}" for k, v in zip(fields, value, strict=True) if k not in silent or v != silent[k]]
            text = f"{type(value).__name__}({', '.join(said)})"
        else:
            text = repr(value)
    except BaseException as error:
        text = f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
    return clean(text, limit)


def clean(text: Any, limit: int = 300) -> str:
    """Text for a screen: control and direction characters as escapes, the middle left out where it is long."""
    try:
        text = str(text)
    except BaseException as error:  # a learner's __str__
        text = f"<{type(text).__name__} whose text raises {type(error).__name__}>"
    if len(text) > limit:
        text = f"{text[: limit * 2 // 3]} … {len(text) - limit} characters … {text[-limit // 3 :]}"
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def lines_of(value: Any, show: Callable | None, limit: int = 12) -> list[str]:
    """The lines that show an input: one item a line, the middle of a long one left out."""
    if show is None:
        listed = type(value) in (list, tuple) and value
        show = lambda value: [shown(item, 160) for item in (value if listed else [value])]  # noqa: E731
    items = [clean(item, 160) for item in show(value)]
    if len(items) <= limit:
        return items
    return [*items[: limit - 4], f"… {len(items) - limit + 1} more …", *items[-3:]]


NOT_AN_IDEA = (NameError, SystemExit, KeyboardInterrupt, EOFError)


def within(error: BaseException) -> list[tuple]:
    """The frames of an exception in the learner's cell, with their lines; none where its call did not even fit."""
    walked = traceback.walk_tb(error.__traceback__)
    return [(frame, line) for frame, line in walked if frame.f_code.co_filename == CELL]


def raised(error: BaseException) -> str:
    """An exception of the learner's code as a sentence: what, where, and the arguments of the call."""
    inside = within(error)
    if isinstance(error, NameError) and (name := getattr(error, "name", None)):
        what = (
            f"`{clean(name, 60)}` is not defined in this cell, and the check runs the cell by itself. "
            "If it stands in another cell, move it here"
        )
    elif isinstance(error, SystemExit | KeyboardInterrupt):
        what = f"it raised {type(error).__name__}, which would have stopped the program"
    elif isinstance(error, EOFError):
        what = "it asked for input, and there is nobody to answer"
    else:
        what = f"it raised {type(error).__name__}: {clean(error) or 'without a message'}"
    if not inside:
        return what
    frame, line = inside[-1]
    if frame.f_code.co_name == "<module>":
        return f"{what} (line {line} of your cell)"
    arguments = ", ".join(f"{n}={shown(frame.f_locals.get(n), 120)}" for n in _arguments(frame.f_code) if n != "self")
    return f"{what} (line {line} of your cell, in {frame.f_code.co_name}({arguments}))"


def _arguments(code) -> tuple[str, ...]:
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
