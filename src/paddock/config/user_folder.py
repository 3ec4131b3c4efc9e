"""Paddock's folders among the user's own, for what belongs to no repository."""

import os
from pathlib import Path


def user_folder(variable: str, otherwise: str) -> Path:
    """Paddock's folder among the user's own, by the XDG base directories: a relative one does not count."""
    named = os.environ.get(variable, "")
    base = Path(named) if named.startswith("/") else Path(os.path.expanduser("~")) / otherwise
    return base / "paddock"
