"""The web servers of a repository: a small file for each, so that others find it, name its address and end it."""

import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from paddock.config.user_folder import user_folder
from paddock.core.leases.lease import Holder
from paddock.sessions.hints import read_hint, write_hint
from paddock.sessions.host import is_certainly_gone, is_gone, is_in_sight, signal_holder

PREFIX = "web-"


def shared_pages_folder() -> Path:
    """Of servers that show several repositories: the user's own."""
    return user_folder("XDG_STATE_HOME", ".local/state") / "web"


END_SECONDS = 10.0


class PageNote(msgspec.Struct, frozen=True):
    """`token` tells whether one is needed. A `detached` one ends with the fleet. `repositories` are the git directories
    of those that it shows, where it shows several."""

    process: Holder
    host: str
    port: int
    since: float
    token: bool = True
    detached: bool = False
    repositories: tuple[str, ...] = ()

    @property
    def address(self) -> str:
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::", "") else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"


def note_page(state_dir: Path, note: PageNote) -> Path:
    path = state_dir / f"{PREFIX}{note.port}.json"
    write_hint(path, note)
    return path


def forget_page(state_dir: Path, note: PageNote) -> None:
    """Unless another server has taken its place."""
    path = state_dir / f"{PREFIX}{note.port}.json"
    with suppress(OSError):
        if _read(path) == note:
            path.unlink()


def find_pages(state_dir: Path) -> Iterator[PageNote]:
    """Those that run here; the files of others are removed, unless they may run in a place that is out of sight."""
    for path in sorted(state_dir.glob(f"{PREFIX}*.json")):
        note = _read(path)
        if note is not None and is_in_sight(note.process) and not _has_ended(note.process):
            yield note
        elif note is None or _has_ended(note.process):
            with suppress(OSError):
                path.unlink()


def end_page(note: PageNote) -> bool:
    """Whether it has ended. It is killed if it does not end when asked to."""
    asked = signal_holder(note.process, signal.SIGTERM, END_SECONDS)
    return asked or signal_holder(note.process, signal.SIGKILL, END_SECONDS)


def _has_ended(process: Holder) -> bool:
    return is_certainly_gone(process) or (is_in_sight(process) and is_gone(process.pid))


def _read(path: Path) -> PageNote | None:
    return read_hint(path, PageNote)
