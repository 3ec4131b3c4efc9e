"""The fences in force, as the daemon found them when it started: a small file, because `paddock status` reads it."""

import os
from pathlib import Path

import msgspec

FILE = "fence.json"


class FenceNote(msgspec.Struct, frozen=True):
    """The levels of agents (as `[fence]` sets it) and of CI; `why` there is none although it was not asked for, and the
    `cure`."""

    agents: str
    ci: str
    why: str = ""
    cure: str = ""


def write_note(state_dir: Path, note: FenceNote) -> None:
    path = state_dir / FILE
    draft = path.with_suffix(".new")
    draft.write_bytes(msgspec.json.encode(note))
    os.replace(draft, path)


def read_note(state_dir: Path) -> FenceNote | None:
    try:
        return msgspec.json.decode((state_dir / FILE).read_bytes(), type=FenceNote)
    except (OSError, msgspec.DecodeError):
        return None
