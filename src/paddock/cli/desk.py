"""Inside a fence: the same commands, asked at the worker's desk, because no log can be reached from there."""

import os
import sys
import time
from codecs import getincrementaldecoder
from collections.abc import Iterable
from pathlib import Path
from socket import socket

from paddock.core.errors import Misuse, PaddockError
from paddock.core.ids import printable
from paddock.fleet.desk.wire import (
    DESK_VARIABLE,
    ERR,
    EXIT,
    MOST_REQUEST_BYTES,
    MOST_STDIN_BYTES,
    OUT,
    SERVED_VARIABLE,
    DeskRequest,
    connect_desk,
    encode_request,
    read_frames,
)

PAUSES_SECONDS = (0.1, 0.2, 0.5, 1.0, 2.0)
"""Between tries to reach a daemon that may just be starting."""
ANSWER_SECONDS = 960.0
"""A little more than a desk takes for an answer at most."""
_EVERYWHERE = frozenset({"--help", "-h", "--version", "completion"})


def find_desk(arguments: list[str]) -> Path | None:
    """The desk to ask at; None where the command can be run here."""
    place = os.environ.get(DESK_VARIABLE, "")
    if not place or SERVED_VARIABLE in os.environ or not arguments or _EVERYWHERE.intersection(arguments):
        return None
    directory = Path(arguments[1]) if arguments[0] == "-C" and len(arguments) > 1 else Path(".")
    return None if _is_elsewhere(directory) else Path(place)


def _is_elsewhere(directory: Path) -> bool:
    """Whether it is in a repository with a log, or in one that is not what the worker was given to work in."""
    from paddock.git.repo import discover
    from paddock.store.location import is_at_home

    try:
        repo = discover(directory)
    except (PaddockError, OSError):
        return False
    own = os.environ.get("PADDOCK_WORKTREE", "")
    return is_at_home(repo) or bool(own and repo.top != Path(own).resolve())


class AtDesk:
    """Asks one request after another at a desk. Each call raises PaddockError if no daemon answers."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def pass_through(self, arguments: list[str]) -> int:
        """Prints the answer as it comes; returns the exit code."""
        argv, stdin = _with_files(arguments)
        decoders = {channel: getincrementaldecoder("utf-8")("replace") for channel in (OUT, ERR)}
        for channel, payload in self._ask(DeskRequest(argv, stdin)):
            if channel == EXIT:
                return int(payload)
            stream = sys.stderr if channel == ERR else sys.stdout
            stream.write(decoders[channel].decode(payload))
            stream.flush()
        return 1

    def ask(self, *argv: str, stdin: bytes = b"") -> tuple[int, str, str]:
        """Exit code, standard output, standard error."""
        said, code = {False: b"", True: b""}, 1
        for channel, payload in self._ask(DeskRequest(argv, stdin)):
            if channel == EXIT:
                code = int(payload)
            else:
                said[channel == ERR] += payload
        return code, said[False].decode("utf-8", "replace"), said[True].decode("utf-8", "replace")

    def _ask(self, request: DeskRequest) -> Iterable[tuple[bytes, bytes]]:
        sent = encode_request(request)
        if len(sent) > MOST_REQUEST_BYTES:
            raise Misuse(f"the command is {len(sent):,} bytes long", f"send less than {MOST_STDIN_BYTES:,}")
        with self._connect() as connection:
            try:
                connection.sendall(sent)
                yield from read_frames(lambda length: _receive(connection, length))
            except (OSError, EOFError, ValueError):
                raise PaddockError(
                    "the daemon was gone before it had answered", "it may be starting again: try again in a minute"
                ) from None

    def _connect(self) -> socket:
        for pause in (*PAUSES_SECONDS, None):
            try:
                return connect_desk(self._place, ANSWER_SECONDS)
            except OSError as error:
                if pause is None:
                    raise PaddockError(
                        f"nobody answers at the desk `{self._place}`: {error.strerror or error}",
                        "no daemon is running, or it is starting: try again in a minute; "
                        "to finish your task you need none of this: commit, and end your turn",
                    ) from None
                time.sleep(pause)
        raise AssertionError


def _receive(connection: socket, length: int) -> bytes:
    parts = b""
    while len(parts) < length:
        part = connection.recv(length - len(parts))
        if not part:
            raise EOFError
        parts += part
    return parts


def _with_files(arguments: list[str]) -> tuple[tuple[str, ...], bytes]:
    """A desk cannot read what is in the fence: a file that the command names goes along as standard input."""
    words: list[str] = []
    stdin: bytes | None = None
    rest = iter(arguments)
    for word in rest:
        name, _, value = word.partition("=")
        if arguments[0] == "add" and name == "--file":
            file = value if "=" in word else next(rest, "-")
            stdin = _read(file)
            words += ["--file", "-"]
        else:
            words.append(word)
    if stdin is None:
        stdin = _read("-") if "-" in words else b""
    return tuple(words), stdin


def _read(file: str) -> bytes:
    try:
        if file == "-":
            data = sys.stdin.buffer.read(MOST_STDIN_BYTES + 1)
        else:
            with open(file, "rb") as opened:
                data = opened.read(MOST_STDIN_BYTES + 1)
    except OSError as error:
        raise Misuse(
            f"`{printable(file)}` cannot be read: {error.strerror}", "name a file, or use `-` for standard input"
        ) from None
    if len(data) > MOST_STDIN_BYTES:
        raise Misuse(f"`{printable(file)}` is larger than {MOST_STDIN_BYTES:,} bytes", "split it into several files")
    return data
