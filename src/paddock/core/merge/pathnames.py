"""Paths that must not reach main: a way into a `.git` folder, a way out of the tree, two names of one file.

A tree that is harmless here is checked out elsewhere too, so a name is read the way each file system reads it: NTFS
drops dots and spaces at the end, knows short names such as `GIT~1` and takes `\\` for `/`; HFS+ ignores characters
that cannot be seen; both, and APFS, take no notice of case or of how an accent is composed.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

LONGEST_PATH_BYTES = 4000
LONGEST_NAME_BYTES = 255
# What git itself strips before it compares a name with `.git` (next_hfs_char in utf8.c).
_UNSEEN = dict.fromkeys((*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF))
_DRIVE = re.compile(r"[A-Za-z]:")
_SPECIAL = (".gitmodules", ".gitattributes", ".gitignore", ".mailmap")
# NTFS makes short names of the first six letters and a number, later of two letters and a hash.
_SHORT_NAMES = {
    ".git": re.compile(r"git~1"),
    ".gitmodules": re.compile(r"(gitmod~[1-4]|gi7eba~[1-9][0-9]*)"),
    ".gitattributes": re.compile(r"(gitatt~[1-4]|gi7d29~[1-9][0-9]*)"),
    ".gitignore": re.compile(r"(gitign~[1-4]|gi250a~[1-9][0-9]*)"),
    ".mailmap": re.compile(r"(mailma~[1-4]|maba30~[1-9][0-9]*)"),
}


def path_problem(path: str) -> str | None:
    """Why a path must not be in a tree; None when it may. `/` separates its parts."""
    if not path or path.startswith("/") or "\0" in path:
        return "is not a path inside the repository"
    if len(path.encode("utf-8", "surrogateescape")) > LONGEST_PATH_BYTES:
        return "is too long for any file system"
    if _DRIVE.match(path) or path.startswith("\\"):
        return "leads out of the repository on Windows"
    parts = path.split("/")
    return next((problem for part in parts if (problem := _part_problem(part)) is not None), None)


@lru_cache(maxsize=16384)
def _part_problem(part: str) -> str | None:
    if part in ("", ".", ".."):
        return "leads out of its folder"
    if len(part.encode("utf-8", "surrogateescape")) > LONGEST_NAME_BYTES:
        return "has a name that is too long for any file system"
    for piece in part.split("\\"):
        if piece == "..":
            return "leads out of its folder on Windows"
        if _reads_as(piece, ".git"):
            return "reads as `.git`"
        alias = next((name for name in _SPECIAL if piece != name and _reads_as(piece, name)), None)
        if alias is not None:
            return f"reads as `{alias}` and is not spelled so"
    return None


def _reads_as(piece: str, name: str) -> bool:
    unseen = unicodedata.normalize("NFC", piece).translate(_UNSEEN).lower()
    if unseen == name:
        return True
    ntfs = piece.split(":")[0].rstrip(". ").lower()
    return ntfs == name or _SHORT_NAMES[name].fullmatch(ntfs) is not None


@lru_cache(maxsize=65536)
def folded(name: str) -> str:
    """The same for all names that some file system takes for one: in any case, accents composed or not."""
    plain = unicodedata.normalize("NFD", name)
    lower = "".join(low if len(low := char.casefold()) == 1 else char.lower() for char in plain)
    return unicodedata.normalize("NFC", lower)


def with_folders(path: str) -> Iterator[str]:
    """The path and the folders it is in, outermost first."""
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)
    yield path


def spellings(paths: Iterable[str]) -> dict[str, set[str]]:
    """Names of files and folders by what they fold to, in the ways each is spelled."""
    found: dict[str, set[str]] = {}
    folders: set[str] = set()
    for path in paths:
        for name in with_folders(path):
            if name != path:
                if name in folders:
                    continue
                folders.add(name)
            found.setdefault(folded(name), set()).add(name)
    return found


def clashes(paths: Iterable[str], fresh: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of names among `paths` that one file system takes for one; the second of each is in `fresh`, or a
    folder of what is. A name and the folders of the same path never clash."""
    new = {name for path in fresh for name in with_folders(path)}
    wanted = {folded(name) for name in new}
    found = spellings(path for path in paths if any(folded(name) in wanted for name in with_folders(path)))
    pairs = []
    for key in sorted(wanted):
        names = sorted(found.get(key, ()))
        for name in names if len(names) > 1 else ():
            if name in new:
                pairs.append((next(other for other in names if other != name), name))
                break
    return pairs
