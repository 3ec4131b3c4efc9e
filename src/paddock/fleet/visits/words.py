"""What an agent is told that is handed back, on its way from the terminal where that was said to the one that keeps
the attempt: a file of the attempt's own folder, which no fence shows."""

import contextlib
import os
from pathlib import Path

from paddock.core.ids import AttemptId
from paddock.fleet.site import Site
from paddock.sessions.regular import open_regular

_MOST_CHARACTERS = 1_000_000


def leave_words(site: Site, attempt: AttemptId, text: str) -> None:
    place = _place(site, attempt)
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = place.with_suffix(".new")
    with open(
        os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "w", encoding="utf-8"
    ) as file:
        file.write(text)
    draft.rename(place)


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
