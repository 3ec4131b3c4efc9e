"""What differs between two trees, with the kinds of things that differ."""

from dataclasses import dataclass

from paddock.git.landing.workbench import Workbench
from paddock.git.usertree.versions import DIFFERENCES, Change, parse_differences

_LINKS = ("120000 ", "160000 ")


@dataclass(frozen=True, slots=True)
class ChangedKinds:
    """`links` are symbolic links and submodules on either side: what they lead to may be below their names."""

    files: tuple[str, ...]
    links: tuple[str, ...]


def differences(bench: Workbench, before: str, after: str) -> dict[str, Change]:
    """Path to its version before and after; a rename is two paths."""
    return parse_differences(bench.git(*DIFFERENCES, before, after).records)


def changed_kinds(bench: Workbench, before: str, after: str) -> ChangedKinds:
    return kinds_of(differences(bench, before, after))


def kinds_of(changed: dict[str, Change]) -> ChangedKinds:
    is_link = {path: any(map(_is_link, versions)) for path, versions in changed.items()}
    return ChangedKinds(
        tuple(path for path in changed if not is_link[path]), tuple(path for path in changed if is_link[path])
    )


def _is_link(version: str | None) -> bool:
    return version is not None and version.startswith(_LINKS)
