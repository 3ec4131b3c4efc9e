"""The `[engines.NAME]` tables of paddock.toml, as engines read them."""

from collections.abc import Iterable

from paddock.config.schema import EngineSettings

__all__ = ["NO_SETTINGS", "EngineSettings", "nearest"]

NO_SETTINGS = EngineSettings()


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like `word`, or None when none is close."""
    import difflib

    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return found[0] if found else None
