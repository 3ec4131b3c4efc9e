"""The fences in force, as the daemon found them when it started: a small file, because `paddock status` reads it."""

from pathlib import Path

import msgspec

from paddock.sessions.hints import read_hint, write_hint

FILE = "fence.json"


class FenceNote(msgspec.Struct, frozen=True):
    """The levels of agents (as `[fence]` sets it) and of CI; `why` there is none although it was not asked for, and the
    `cure`."""

    agents: str
    ci: str
    why: str = ""
    cure: str = ""


def write_note(state_dir: Path, note: FenceNote) -> None:
    write_hint(state_dir / FILE, note)


def read_note(state_dir: Path) -> FenceNote | None:
    return read_hint(state_dir / FILE, FenceNote)
