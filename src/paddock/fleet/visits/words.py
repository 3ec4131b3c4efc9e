"""What an agent is told that is handed back, on its way from the terminal where that was said to the one that keeps
the attempt: a file of the attempt's own folder, which no fence shows."""

import contextlib
from pathlib import Path

from paddock.core.ids import AttemptId
from paddock.engines.protocol import LaunchFile
from paddock.fleet.site import Site
from paddock.sessions.regular import open_regular

_MOST_CHARACTERS = 1_000_000


def leave_words(site: Site, attempt: AttemptId, text: str) -> None:
    place = _place(site, attempt)
    draft = LaunchFile(place.with_suffix(".new"), text)
    draft.write()
    draft.path.rename(place)


def take_words(site: Site, attempt: AttemptId) -> str:
    """Once; empty where nobody has left any."""
    place = _place(site, attempt)
    with contextlib.suppress(OSError):
        with open(place, encoding="utf-8", errors="replace", opener=open_regular) as file:
            text = file.read(_MOST_CHARACTERS)
        place.unlink()
        return text
    return ""


def _place(site: Site, attempt: AttemptId) -> Path:
    return site.attempt_folder(attempt) / "handback.txt"
