"""The time zone that this machine's clocks show, by its name."""

import os
from collections.abc import Iterator
from pathlib import Path

from paddock.core.errors import Misuse
from paddock.core.schedules.zones import find_zone

FALLBACK = "UTC"
_FOLDER = "zoneinfo/"


def machine_zone() -> str | None:
    """None if the machine does not tell."""
    for name in _candidates():
        try:
            find_zone(name)
        except Misuse:
            continue
        return name
    return None


def _candidates() -> Iterator[str]:
    """What the process was told, what the machine's clock is a link to, what Debian writes down."""
    told = os.environ.get("TZ", "").removeprefix(":")
    if told:
        yield _below_database(told) or told
    if (name := _below_database(os.path.realpath("/etc/localtime"))) is not None:
        yield name
    try:
        yield Path("/etc/timezone").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return


def _below_database(path: str) -> str | None:
    _, found, name = path.partition(_FOLDER)
    return name.removeprefix("posix/").removeprefix("right/") if found else None
