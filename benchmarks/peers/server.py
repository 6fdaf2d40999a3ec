"""A loopback server that answers the first request with a case, each chunk a write of its own, and ends as the case says."""

import contextlib
import json
import select
import socket
import struct
import threading
import time

from streamkit.lab.cases import reads_of

RESET = struct.pack("ii", 1, 0)  # SO_LINGER: close with RST instead of FIN
CONTENT = {"ollama": "application/x-ndjson"}


def _event(value: dict) -> str:
    kind = f"event: {value['type']}\n" if "type" in value else ""
    return f"{kind}data: {json.dumps(value)}\n\n"


def _response(status: str, output: list) -> dict:
    return {
        **{"id": "resp_done", "object": "response", "created_at": 1, "model": "m", "status": status, "output": output},
        **{"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None, "incomplete_details": None},
    }


def after(api: str) -> bytes:
    """What the server answers to every later request: the word "Done." and a good finish."""
    if api == "openai-chat":
        common = {"id": "chatcmpl-done", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        deltas = [({"role": "assistant", "content": "Done."}, None), ({}, "stop")]
        events = [common | {"choices": [{"index": 0, "delta": d, "finish_reason": f}]} for d, f in deltas]
        return ("".join(map(_event, events)) + "data: [DONE]\n\n").encode()
    if api == "anthropic-messages":
        message = {"id": "msg_done", "type": "message", "role": "assistant", "model": "m", "content": []}
        message |= {"stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
        stop = {"stop_reason": "end_turn", "stop_sequence": None}
        events = [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Done."}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 1}},
            {"type": "message_stop"},
        ]
        return "".join(map(_event, events)).encode()
    if api == "openai-responses":
        text = {"type": "output_text", "text": "Done.", "annotations": []}
        item = {"type": "message", "id": "msg_done", "role": "assistant", "status": "completed", "content": [text]}
        where = {"item_id": "msg_done", "output_index": 0, "content_index": 0}
        events = [
            {"type": "response.created", "sequence_number": 0, "response": _response("in_progress", [])},
            {
                "type": "response.output_item.added",
                "sequence_number": 1,
                "output_index": 0,
                "item": item | {"content": []},
            },
            {"type": "response.content_part.added", "sequence_number": 2, **where, "part": text | {"text": ""}},
            {"type": "response.output_text.delta", "sequence_number": 3, **where, "delta": "Done.", "logprobs": []},
            {"type": "response.output_item.done", "sequence_number": 4, "output_index": 0, "item": item},
            {"type": "response.completed", "sequence_number": 5, "response": _response("completed", [item])},
        ]
        return "".join(map(_event, events)).encode()
    content = {"role": "model", "parts": [{"text": "Done."}]}
    return _event({"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}).encode()


class CaseServer:
    """Serves one case on 127.0.0.1 to one client: a context manager with `.url` (no path) and `.requests`, the bodies it got."""

    def __init__(self, case: dict):
        self.case, self.requests = case, []
        self._closing, self._lock = threading.Event(), threading.Lock()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def __enter__(self) -> "CaseServer":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self._closing.set()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes accept, which closing alone does not
        self._socket.close()

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            method, body = _request(connection)
            if method != "POST":
                connection.sendall(b"HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
                return
            with self._lock:
                self.requests.append(body)
                first = len(self.requests) == 1
            api = self.case["api"]
            content = CONTENT.get(api, "text/event-stream")
            head = (
                f"HTTP/1.1 200 OK\r\ncontent-type: {content}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
            )
            connection.sendall(head.encode())
            reads = reads_of(self.case) if first else [(0.0, after(api))]
            began = time.monotonic()
            for at, data in reads:
                time.sleep(max(0.0, began + at - time.monotonic()))  # so that each write is a read of its own
                if data:  # a chunk of no bytes would end the body
                    connection.sendall(b"%x\r\n%b\r\n" % (len(data), data))
            self._end(connection, self.case["ends"] if first else "clean")

    def _end(self, connection: socket.socket, ends: str) -> None:
        if ends in ("clean", "error"):
            connection.sendall(b"0\r\n\r\n")
        elif ends == "disconnect":
            time.sleep(0.05)  # what was sent is read before the reset
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        else:
            while not self._closing.is_set() and not select.select([connection], [], [], 0.1)[0]:
                pass  # silence, until the client has had enough


def _request(connection: socket.socket) -> tuple[str, bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        data += _more(connection)
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    while len(body) < (lengths or [0])[0]:
        body += _more(connection)
    return head.split(b" ", 1)[0].decode(), body


def _more(connection: socket.socket) -> bytes:
    data = connection.recv(65536)
    if not data:
        raise OSError("the client went before its request was whole")
    return data
