"""A log that was moved to another place: what is left behind says where it is, and takes no more records."""

import json
import os
from pathlib import Path

from paddock.core.ids import printable
from paddock.store.place import LogPlace
from paddock.store.protocol import LogMoved
from paddock.store.witness import sync_folder

FILLING = "filling"
"""In place of a place: the log is just being moved here, and is not open yet."""


def note_of(file: Path) -> Path:
    """Beside a log in a file that was moved: where it is now."""
    return file.with_name("log.moved")


def left_file(file: Path) -> Path:
    """What is kept of a log in a file that was moved: all its records up to then."""
    return file.with_name(f"{file.name}.moved")


def name_of(place: LogPlace) -> str:
    """As what is left behind names it, for people on any machine."""
    return str(place) if place.is_shared else f"{os.uname().nodename}:{place.file}"


def read_note(file: Path) -> str:
    """Where the log is now that was in `file`; empty where nothing says that it was moved."""
    try:
        return str(json.loads(note_of(file).read_text(encoding="utf-8"))["to"]) or "a database"
    except FileNotFoundError:
        return ""
    except (OSError, ValueError, LookupError, TypeError):
        return "a database"


def write_note(file: Path, moved: str) -> None:
    """On disk when this returns. Until `file` is gone nobody looks at it."""
    draft = note_of(file).with_name(f".{note_of(file).name}.new")
    with open(draft, "w", encoding="utf-8") as written:
        json.dump({"to": moved}, written)
        written.flush()
        os.fsync(written.fileno())
    os.replace(draft, note_of(file))
    sync_folder(file.parent)


def refuse_moved(place: LogPlace) -> None:
    """Raises LogMoved for a log in a file that is not there any more, but elsewhere."""
    if moved := read_note(place.file):
        raise moved_away(place, moved)


def moved_away(place: LogPlace, moved: str) -> LogMoved:
    if moved.startswith(FILLING):
        return LogMoved(
            f"a log is being moved to `{place}`: it is not open yet",
            "wait for `paddock store migrate` to end, or run it again where it was interrupted",
        )
    return LogMoved(
        f"the log `{place}` was moved to {printable(moved, 200)}: it is not used here any more",
        "set [store] url in paddock.toml to where it is now; without a url it is in a file of the repository",
    )
