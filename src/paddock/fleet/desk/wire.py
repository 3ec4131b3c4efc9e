"""What goes over a desk's socket. The command line loads this inside a fence, so it imports little.

One connection is one request: its length and a `DeskRequest`. The answer is frames, each with a channel and a length,
until the one that holds the exit code. A unix socket's path may not be longer than about a hundred bytes, and a
repository's may: a folder that is too deep is opened and named by its descriptor.
"""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

DESK_VARIABLE = "PADDOCK_DESK"
"""Where a worker finds its desk."""
SERVED_VARIABLE = "PADDOCK_SERVED"
"""Set for a command that runs on a worker's behalf, on the other side of the fence."""
SOCKET = "socket"

MOST_WORDS = 256
MOST_STDIN_BYTES = 1024 * 1024
MOST_REQUEST_BYTES = MOST_STDIN_BYTES + 512 * 1024
MOST_ANSWER_BYTES = 16 * 1024 * 1024
MOST_FRAME_BYTES = 64 * 1024

LENGTH_BYTES = 4
OUT, ERR, EXIT = b"o", b"e", b"x"
_LONGEST_PATH = 100


class DeskRequest(msgspec.Struct, frozen=True):
    """A command without its name: `["lease", "list"]`, and what it would read from standard input."""

    argv: tuple[str, ...]
    stdin: bytes = b""


_decoder = msgspec.msgpack.Decoder(DeskRequest)


def encode_request(request: DeskRequest) -> bytes:
    body = msgspec.msgpack.encode(request)
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


def decode_request(body: bytes) -> DeskRequest | None:
    """None for what is no request."""
    try:
        request = _decoder.decode(body)
    except msgspec.DecodeError:
        return None
    fits = 0 < len(request.argv) <= MOST_WORDS and len(request.stdin) <= MOST_STDIN_BYTES
    return request if fits and not any("\0" in word for word in request.argv) else None


def frame(channel: bytes, payload: bytes) -> bytes:
    return channel + len(payload).to_bytes(LENGTH_BYTES, "big") + payload


def read_frames(receive: Callable[[int], bytes]) -> Iterator[tuple[bytes, bytes]]:
    """`receive` returns exactly that many bytes, or raises. Ends with the exit code."""
    channel = b""
    while channel != EXIT:
        head = receive(1 + LENGTH_BYTES)
        channel, length = head[:1], int.from_bytes(head[1:], "big")
        if channel not in (OUT, ERR, EXIT) or length > MOST_FRAME_BYTES:
            raise ValueError("the desk's answer makes no sense")
        yield channel, receive(length)


@contextmanager
def short_name(path: Path) -> Iterator[str]:
    """A name of `path` that fits into a socket's address, good as long as the block lasts."""
    if len(os.fsencode(path)) <= _LONGEST_PATH:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def bind_desk(path: Path) -> socket.socket:
    """A listening socket in place of whatever an earlier daemon left there. Raises OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.new")
    draft.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with short_name(draft) as name:
            listening.bind(name)
        listening.listen(64)
        os.replace(draft, path)
    except OSError:
        listening.close()
        raise
    return listening


def connect_desk(path: Path, timeout_seconds: float) -> socket.socket:
    """Raises OSError."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(timeout_seconds)
        with short_name(path) as name:
            connection.connect(name)
    except OSError:
        connection.close()
        raise
    return connection
