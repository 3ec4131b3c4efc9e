"""Where each of several repositories is on one server: below `/r/NAME`. Pure."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

REPOSITORIES = "/r/"
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
LONGEST_NAME = 60


def split_address(path: str) -> tuple[str, str]:
    """The repository's name, empty if the address is of none, and the path within its own pages."""
    if not path.startswith(REPOSITORIES):
        return "", path
    name, slash, rest = path[len(REPOSITORIES) :].partition("/")
    return (name, f"{slash}{rest}") if name else ("", path)


def root_of(name: str) -> str:
    """What the addresses of a repository begin with."""
    return f"{REPOSITORIES}{name}"


def name_places(places: Sequence[Path]) -> list[str]:
    """A name for each, which an address can have: that of its folder; where several have the same, with the folders
    above it that tell them apart."""
    depths = [1] * len(places)
    deepest = max((len(place.parts) for place in places), default=1)
    while True:
        names = [_name_of(place, depth) for place, depth in zip(places, depths, strict=True)]
        counts = Counter(name.lower() for name in names)
        twice = [n for n, name in enumerate(names) if counts[name.lower()] > 1 and depths[n] < deepest]
        if not twice:
            return _numbered(names)
        for n in twice:
            depths[n] += 1


def _name_of(place: Path, depth: int) -> str:
    parts = [part.removesuffix(".git") for part in place.parts if part != place.anchor][-depth:]
    words = (_UNFIT.sub("-", part).strip("-.") for part in parts)
    return "-".join(filter(None, words))[-LONGEST_NAME:].strip("-.") or "repository"


def _numbered(names: Sequence[str]) -> list[str]:
    """Those that are still the same get numbers."""
    told: list[str] = []
    for name in names:
        number, own = 2, name
        while own.lower() in {one.lower() for one in told}:
            own, number = f"{name}-{number}", number + 1
        told.append(own)
    return told
