"""Where the fleet gets its sessions from: the one place that knows which implementations there are."""

from collections.abc import Callable
from pathlib import Path

from paddock.sessions.protocol import Sessions


def open_sessions(marker: str, folder_of: Callable[[str], Path], checkpoint: Callable[[str], None]) -> Sessions:
    """The turns of the log that `marker`, one word, stands for. `folder_of` says where an owner's record is kept."""
    from paddock.sessions.detached import DetachedSessions

    return DetachedSessions(marker, folder_of, checkpoint)
