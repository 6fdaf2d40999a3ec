"""What fuzz.py puts into streams: marks of JSON and of server-sent events, texts that a screen would obey, odd JSON values."""

MARKS = r"""
{ } [ ] : , " \ \" \u \ud83d \ude00 \ud83d\ude00 \x null true false NaN -Infinity -InfinityE1 -0 01 1. 1e999 -1e-999 1E+ 0.1
{} [] "" {"a":1,"a":2} [[]] [1,] {"a"} 9007199254740993 data: data event:error event: id:7 retry:99999999999999999999 [DONE]
"type":"tool_use" "finish_reason":"stop" "error":{} é 😀 <script>alert(1)</script> $x^2$ ../../x %s {0}
"""
UNSEEN = (
    "\ufeff",
    "\u202e",
    "\u2066",
    "\u2028",
    "\u200b",
    "\x85",
    "\U000e0041",
    "\x1b[31m",
    "\x07",
    "\x7f",
    "\0",
    "id:\0",
)
BYTES = (
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"\r\r",
    b"data: ",
    b": ping\n",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
)
TOKENS = (*BYTES, *(text.encode() for text in (*UNSEEN, *MARKS.split())))

DEEP = (99, 100, 101, 200, 700, 5_000)  # levels
LONG = (4_300, 4_301, 20_000)  # digits


def _levels(count: int) -> list:
    value: list = []
    for _ in range(count):
        value = [value]
    return value


KINDS = """
tool_use server_tool_use thinking text redacted_thinking web_search_tool_result reasoning function_call custom_tool_call
web_search_call error stop length content_filter refusal tool_calls pause_turn completed
"""
NUMBERS = (None, True, False, 0, -1, 1.5, 10**20, float("nan"), float("inf"))
TEXTS = ("", " ", "\ud83d", "\ude00", "\0", "\x1b]0;x\x07", "\u202e\u2066", "a" * 300)
HOSTILE = "<img src=x onerror=alert(1)><!--\x1b[2J\u202e\x07&lt;$x^2$\ud83d](x)"
ODD = (
    *NUMBERS,
    *TEXTS,
    *[HOSTILE] * 6,
    "null",
    "{}",
    "[1",
    '{"a":1}',
    [],
    {},
    [[]],
    [{}],
    {"": None},
    [None],
    *KINDS.split(),
)
OBJECTS = (  # blocks that are kept as they came, with something in them that no request can carry
    {"type": "redacted_thinking", "data": 1},
    {"type": "redacted_thinking", "data": float("nan")},
    {"type": "redacted_thinking", "data": "\ud83d"},
    {"type": "reasoning", "id": "rs", "summary": [float("inf")]},
    {"type": "reasoning", "id": "rs\udc00"},
    {"type": "web_search_tool_result", "tool_use_id": "a", "content": ["\ud83d"]},
    {"type": "server_tool_use", "id": "a", "name": "web_search", "input": {"query": "x"}},
    {"type": "tool_use", "id": "a", "name": "pay", "input": {"amount": 10**400}},
    {"type": "text_delta", "text": "\x1b[2J"},
    {"type": "signature_delta", "signature": 7},
    {"type": "x", "deep": _levels(150)},
    {"type": "x", "deep": _levels(250)},
    {},
)


def _nested() -> dict:
    value = _levels(100_000)
    return {"role": "tool", "tool_call_id": value, "content": value}


def _circular() -> dict:
    value: dict = {"role": "user"}
    value["content"] = [value]
    value["tool_call_id"] = value
    return value


UNREAL = (  # messages that no JSON text holds
    {"role": "tool", "tool_call_id": 10**5_000, "content": "x"},
    {"type": 10**5_000, "role": 10**5_000},
    {"role": "user", "content": {1, 2}},
    {"role": b"user", 3: 4},
    {"type": "function_call", "call_id": [], "name": _nested(), "arguments": "[" * 5_000},
    _circular(),
    _nested(),
)
