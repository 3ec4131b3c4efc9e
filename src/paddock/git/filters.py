"""The filters a person configured for their repository (git-lfs and the like), read once, from them.

A filter runs a program on every file that an attribute gives it, so whose configuration names the program matters.
Git directories of ours and of agents are told the person's filters as they were first read by this process. One that
is written into the repository's configuration later is not run by it: nobody can tell who wrote it.
"""

import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from paddock.git.command import GitFailed
from paddock.git.settings import read_settings

Pairs = tuple[tuple[str, str], ...]
_PROGRAMS = ("clean", "smudge", "process")


def filters_of(common_dir: Path) -> dict[str, str]:
    """Environment that gives the filters of the repository to a git which works in another git directory."""
    return configured(_read_once(common_dir))


def only_known_filters(common_dir: Path) -> dict[str, str]:
    """Environment for a git that works with the repository's own configuration: what was added since is off."""
    known, now = _read_once(common_dir), _read(common_dir)
    if now == known:
        return {}
    names = {_name_of(key) for key, _ in (*now, *known)}
    off = ((f"{name}.{program}", "") for name in sorted(names) for program in _PROGRAMS)
    optional = ((f"{name}.required", "false") for name in sorted(names))
    return configured((*off, *optional, *known))


def unknown_filters(common_dir: Path) -> tuple[str, ...]:
    """The names of those that are not run, because they were added or changed since."""
    added = set(_read(common_dir)).difference(_read_once(common_dir))
    return tuple(sorted({_name_of(key).removeprefix("filter.") for key, _ in added}))


def configured(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Environment that sets configuration, besides what the person's own environment sets."""
    first = _count_of_ours()
    environment: dict[str, str] = {}
    number = first
    for number, (key, value) in enumerate(pairs, first + 1):
        environment |= {f"GIT_CONFIG_KEY_{number - 1}": key, f"GIT_CONFIG_VALUE_{number - 1}": value}
    return {**environment, "GIT_CONFIG_COUNT": str(number)} if environment else {}


def _name_of(key: str) -> str:
    return key.rpartition(".")[0]


def _count_of_ours() -> int:
    try:
        return max(0, int(os.environ.get("GIT_CONFIG_COUNT", "0")))
    except ValueError:
        return 0


@lru_cache(maxsize=64)
def _read_once(common_dir: Path) -> Pairs:
    return _read(common_dir)


def _read(common_dir: Path) -> Pairs:
    try:
        settings = read_settings(common_dir)
    except GitFailed:  # then git does nothing else in this repository either
        return ()
    found = (pair for pair in settings.values if pair[0].startswith("filter."))
    return tuple((key, "true" if value is None else value) for key, value in found)
