"""Landed work that a change takes back: which landing it was, and in which files.

A file that is exactly as it was before a landing takes that landing back, and those after it that touched the file.
To edit what landed is no reversal. To remove a file that landed is one only where the whole landing is taken back:
files become superfluous, and are removed on purpose far more often than by mistake.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from paddock.core.ids import some_names
from paddock.core.leases.globs import matches_file

Version = str | None
"""Mode and object of a path, None for nothing there."""


@dataclass(frozen=True, slots=True)
class MainMove:
    """One move of main: which changes it brought (none: somebody's own commit), and each path before and after."""

    commit: str
    ids: tuple[str, ...]
    changes: Mapping[str, tuple[Version, Version]]


@dataclass(frozen=True, slots=True)
class Reversal:
    """`of` is a change, or a commit that is nobody's change. `meanwhile`: it landed after this work had begun."""

    of: str
    paths: tuple[str, ...]
    meanwhile: bool = False

    @property
    def words(self) -> str:
        return f"{self.of}: {some_names(self.paths)}"


@dataclass(frozen=True, slots=True)
class Remit:
    """What people have said that a piece of work is about: `globs` of its paths, and the `words` of its brief.

    That a brief speaks of a file does not mean that its old content is wanted; that it speaks of a change does.
    """

    globs: tuple[str, ...] = ()
    words: str = ""

    def cover(self, reversal: Reversal) -> bool:
        """What landed meanwhile nobody can have meant."""
        if reversal.meanwhile:
            return False
        return self._says(reversal.of) or all(self._covers(path) for path in reversal.paths)

    def _covers(self, path: str) -> bool:
        return any(matches_file(glob, path) for glob in self.globs)

    def _says(self, name: str) -> bool:
        return re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w/-])", self.words) is not None


def taken_back(
    landings: Sequence[MainMove], own: Mapping[str, tuple[Version, Version]], moved: Collection[str] = ()
) -> dict[str, set[str]]:
    """Paths by the commit that landed them. `landings` are the newest first, `own` is what the change does on top of
    them; what it moved elsewhere is not lost."""
    found: dict[str, set[str]] = {}
    settled: set[str] = set()
    for number, landing in enumerate(landings):
        back = {
            path
            for path, (before, _) in landing.changes.items()
            if path in own and path not in settled and path not in moved and own[path][1] == before
        }
        settled |= back
        whole = len(back) == len(landing.changes)
        for path in back if whole else {path for path in back if own[path][1] is not None}:
            for other in landings[: number + 1]:
                if path in other.changes:
                    found.setdefault(other.commit, set()).add(path)
    return found


def unclaimed(reversals: Iterable[Reversal], claims: Remit) -> tuple[Reversal, ...]:
    return tuple(one for one in reversals if not claims.cover(one))
