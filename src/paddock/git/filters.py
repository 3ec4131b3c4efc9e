"""The filters a person configured for their repository (git-lfs and the like), read once, from them.

A filter runs a program on every file that an attribute gives it, so whose configuration names the program matters.
Git directories of ours and of agents are told the person's filters as they were first read by this process. One that
is written into the repository's configuration later is not run by it: nobody can tell who wrote it.
"""

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from paddock.git.command import run_git

Pairs = tuple[tuple[str, str], ...]
_KEYS = r"^filter\."
_PROGRAMS = ("clean", "smudge", "process")


@dataclass(frozen=True, slots=True)
class _Read:
    """`signature` tells whether the file is still the one that was read."""

    signature: tuple[int, int, int] | None
    pairs: Pairs


def filters_of(common_dir: Path) -> dict[str, str]:
    """Environment that gives the filters of the repository to a git which works in another git directory."""
    return configured(_read_once(common_dir).pairs)


def only_known_filters(common_dir: Path) -> dict[str, str]:
    """Environment for a git that works with the repository's own configuration: what was added since is off."""
    known = _read_once(common_dir)
    if _signature(common_dir) == known.signature:
        return {}
    now = _read(common_dir).pairs
    if now == known.pairs:
        return {}
    names = {_name_of(key) for key, _ in (*now, *known.pairs)}
    off = ((f"{name}.{program}", "") for name in sorted(names) for program in _PROGRAMS)
    optional = ((f"{name}.required", "false") for name in sorted(names))
    return configured((*off, *optional, *known.pairs))


def unknown_filters(common_dir: Path) -> tuple[str, ...]:
    """The names of those that are not run, because they were added or changed since."""
    known = _read_once(common_dir)
    if _signature(common_dir) == known.signature:
        return ()
    added = set(_read(common_dir).pairs) - set(known.pairs)
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
def _read_once(common_dir: Path) -> _Read:
    return _read(common_dir)


def _read(common_dir: Path) -> _Read:
    signature = _signature(common_dir)
    words = ("config", "--local", "--includes", "-z", "--get-regexp", _KEYS)
    told = run_git(common_dir, f"--git-dir={common_dir}", *words, check=False)
    pairs = (record.partition("\n") for record in told.records)
    return _Read(signature, tuple((key, value) for key, _, value in pairs))


def _signature(common_dir: Path) -> tuple[int, int, int] | None:
    with contextlib.suppress(OSError):
        seen = (common_dir / "config").stat()
        return seen.st_ino, seen.st_mtime_ns, seen.st_size
    return None
