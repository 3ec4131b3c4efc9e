"""What the agents of a node are told by their providers, passed on to the daemon, which decides what may start.

The deputy appends lines to a file, the manager hands them out, and the daemon's gate hears them as if the agents were
its own. They are hints: a file that is lost, or that has grown too long while no daemon listened, costs no more than
what a restarted daemon has to learn again.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from paddock.core.events import AttemptEnded
from paddock.core.trace import RateLimited, TraceEntry, Usage, UsageScope, WindowsTold
from paddock.fleet.attempts.attempt import Ear

MOST_BYTES = 1 << 20
_NEWLINE = b"\n"


class HeardStep(msgspec.Struct, frozen=True, tag="step"):
    account: str
    entry: Usage | RateLimited | WindowsTold
    is_first: bool


class HeardEnd(msgspec.Struct, frozen=True, tag="end"):
    engine: str
    task: str
    started: float
    end: AttemptEnded


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(HeardStep | HeardEnd).decode


@dataclass
class Hearsay:
    """Of a deputy's agents. Nothing here fails: the disk may be full."""

    file: Path
    _size: int = field(default=0, init=False)

    def hear(self, account: str, entry: TraceEntry, *, is_first: bool) -> None:
        is_call = isinstance(entry, Usage) and entry.scope is UsageScope.DELTA
        if is_call or isinstance(entry, RateLimited | WindowsTold):
            assert isinstance(entry, Usage | RateLimited | WindowsTold)
            self._append(HeardStep(account, entry, is_first))

    def hear_end(self, engine: str, task: str, started: float, end: AttemptEnded) -> None:
        self._append(HeardEnd(engine, task, started, end))

    def _append(self, heard: HeardStep | HeardEnd) -> None:
        with suppress(OSError):
            if self._size > MOST_BYTES:
                os.unlink(self.file)  # whoever reads it begins with the new one
            with open(self.file, "ab") as file:
                file.write(_encode(heard) + _NEWLINE)
                self._size = file.tell()


class Place(msgspec.Struct, frozen=True):
    """How far a reader has come: `inode` tells whether it is still the same file."""

    inode: int = 0
    offset: int = 0


def read_heard(file: Path, place: Place) -> tuple[bytes, Place]:
    """Whole lines after the place, and the place after them."""
    try:
        with open(file, "rb") as opened:
            inode = os.fstat(opened.fileno()).st_ino
            offset = place.offset if place.inode == inode else 0
            opened.seek(offset)
            content = opened.read(MOST_BYTES)
    except OSError:
        return b"", Place()
    whole = content[: content.rfind(_NEWLINE) + 1]
    return whole, Place(inode, offset + len(whole))


def repeat_heard(lines: bytes, ear: Ear) -> None:
    """Lines of another version, or that are torn, are passed over."""
    for heard in _heard_in(lines):
        match heard:
            case HeardStep(account=account, entry=entry, is_first=is_first):
                ear.hear(account, entry, is_first=is_first)
            case HeardEnd(engine=engine, task=task, started=started, end=end):
                ear.hear_end(engine, task, started, end)


def _heard_in(lines: bytes) -> Iterator[HeardStep | HeardEnd]:
    for line in lines.splitlines():
        with suppress(msgspec.DecodeError):
            yield _decode(line)
