"""What differs between two trees, with the kinds of things that differ."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from paddock.git.landing.workbench import Workbench
from paddock.git.usertree.versions import DIFFERENCES, Change, parse_differences

LARGEST_REMEMBERED = 2000
_LINKS = ("120000 ", "160000 ")


@dataclass(frozen=True, slots=True)
class ChangedKinds:
    """`links` are symbolic links and submodules on either side: what they lead to may be below their names."""

    files: tuple[str, ...]
    links: tuple[str, ...]


class _Large(Exception):
    def __init__(self, found: dict[str, Change]) -> None:
        self.found = found


def differences(bench: Workbench, before: str, after: str) -> Mapping[str, Change]:
    """Path to its version before and after; a rename is two paths. The two are commits or trees by their full names:
    what was asked lately is not asked again."""
    try:
        return _small_differences(bench, before, after)
    except _Large as large:
        return large.found


@lru_cache(maxsize=32)
def _small_differences(bench: Workbench, before: str, after: str) -> Mapping[str, Change]:
    found = parse_differences(bench.git(*DIFFERENCES, before, after).records)
    if len(found) > LARGEST_REMEMBERED:
        raise _Large(found)
    return MappingProxyType(found)


def changed_kinds(bench: Workbench, before: str, after: str) -> ChangedKinds:
    return kinds_of(differences(bench, before, after))


def count_lines(bench: Workbench, before: str, after: str) -> int:
    """Lines that were added and removed; a rename counts on both sides, and files that are not text have no lines."""
    rows = bench.git("diff-tree", "-r", "-z", "--numstat", "--no-renames", before, after).records
    counts = (count for row in rows for count in row.split("\t", 2)[:2])
    return sum(int(count) for count in counts if count.isdecimal())


def kinds_of(changed: Mapping[str, Change]) -> ChangedKinds:
    is_link = {path: any(map(_is_link, versions)) for path, versions in changed.items()}
    return ChangedKinds(
        tuple(path for path in changed if not is_link[path]), tuple(path for path in changed if is_link[path])
    )


def _is_link(version: str | None) -> bool:
    return version is not None and version.startswith(_LINKS)
