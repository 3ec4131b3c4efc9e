"""A log that was moved to another place: what is left behind says where it is, and takes no more records."""

import json
from pathlib import Path

from paddock.core.ids import printable
from paddock.store.place import LogPlace
from paddock.store.protocol import LogMoved

FILLING = "filling"
"""In place of a place: the log is just being moved here, and is not open yet."""


def note_of(file: Path) -> Path:
    """Beside a log in a file that was moved: where it is now."""
    return file.with_name("log.moved")


def refuse_moved(place: LogPlace) -> None:
    """Raises LogMoved for a log in a file that is not there any more, but elsewhere."""
    try:
        moved = json.loads(note_of(place.file).read_text(encoding="utf-8"))["to"]
    except FileNotFoundError:
        return
    except (OSError, ValueError, LookupError, TypeError):
        moved = "a database"
    raise moved_away(place, str(moved))


def moved_away(place: LogPlace, moved: str) -> LogMoved:
    if moved.startswith(FILLING):
        return LogMoved(
            f"a log is being moved to `{place}`: it is not open yet",
            "wait for `paddock store migrate` to end, or run it again where it was interrupted",
        )
    return LogMoved(
        f"the log `{place}` was moved to {printable(moved, 200)}: nothing was written",
        "set [store] url in paddock.toml to where it is now; without a url it is in a file of the repository",
    )
