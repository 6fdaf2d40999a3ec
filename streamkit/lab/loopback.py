"""What the kit's servers have in common: how many may come at once, and which requests they answer: those to this machine
under its own name, with a body of a stated size."""

from http.server import BaseHTTPRequestHandler

HOSTS = ("127.0.0.1", "localhost", "[::1]")
QUEUE = 128  # clients that may come at one moment; of more than five the library's own server turns most away
LONGEST = 64 * 2**20  # bytes of a request's body


def is_ours(handler: BaseHTTPRequestHandler) -> bool:
    """Whether the Host header names this machine, with this server's port or none.

    A page that another site serves must not read from here under a name that it bent to 127.0.0.1 (DNS rebinding).
    """
    name = handler.headers.get("host", "").lower()
    return name in HOSTS or name in [f"{host}:{handler.server.server_address[1]}" for host in HOSTS]


def length_of(handler: BaseHTTPRequestHandler) -> int:
    """The bytes of the request's body. Raises ValueError for more than LONGEST, or no number."""
    length = handler.headers.get("content-length") or "0"
    if not (length.isascii() and length.isdecimal() and len(length) < 12 and int(length) <= LONGEST):
        raise ValueError(f"expected a content-length of at most {LONGEST}")
    return int(length)
