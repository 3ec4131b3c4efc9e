"""How many files commits are once somebody checks them out.

Trees name other trees, so ten of them with ten entries each are a billion files, and whatever git is asked about such
a commit takes it hours and all memory. The trees that came with the commits are added up before anything else reads
them. Those that the user had already are read only where the new ones name them over and over.
"""

import os
import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile

from paddock.git.enclosure.enclosure import Enclosure

MOST_PATHS = 1_000_000
MOST_TREE_BYTES = 64 * 1024**2
MOST_BYTES_OF_TREES = 512 * 1024**2
MOST_TREES = 500_000
FEW_KNOWN_FOLDERS = 2_000
FEW_COPIES = 20
_COUNTED = 1 << 60
_FOLDER = b"40000"


@dataclass(frozen=True, slots=True)
class Folder:
    """A tree: how many names are in it, and the ids of the trees among them, with how often each is there."""

    entries: int
    folders: Mapping[str, int] = field(default_factory=dict)


Folders = Mapping[str, Folder]


class TooMuch(Exception):
    """The trees are more than is read."""


def has_too_many_paths(enclosure: Enclosure, apart: Path, base: str) -> bool:
    """Whether a commit in `apart` has a million files and folders more than `base`, a commit the user has."""
    try:
        folders = dict(_new_folders(enclosure, apart, len(base) // 2))
        if is_modest(folders):
            return False
        root = f"{base}^{{tree}}"
        folders |= _known_folders(enclosure, {root, *named_elsewhere(folders)}, len(base) // 2)
    except TooMuch:
        return True
    paths = count_paths(folders)
    return max(paths.values()) > MOST_PATHS + paths.get(root, 0)


def is_modest(folders: Folders) -> bool:
    """Few paths in all, and few copies of folders that are not among these: then nobody need know what is in those."""
    elsewhere = named_elsewhere(folders)
    borrowed = {
        name: Folder(sum(times for below, times in folder.folders.items() if below in elsewhere), folder.folders)
        for name, folder in folders.items()
    }
    most = max(count_paths(folders).values(), default=0)
    copies = max(count_paths(borrowed).values(), default=0) - len(elsewhere)
    return most <= MOST_PATHS and len(elsewhere) <= FEW_KNOWN_FOLDERS and copies <= FEW_COPIES


def named_elsewhere(folders: Folders) -> set[str]:
    return {name for folder in folders.values() for name in folder.folders} - folders.keys()


def count_paths(folders: Folders) -> dict[str, int]:
    """The files and folders below each; what is not among them is empty. Beyond a large number they are not counted."""
    paths: dict[str, int] = {}
    for name in folders:
        waiting = [name]
        while waiting:
            folder = folders[waiting[-1]]
            if inner := {below for below in folder.folders if below in folders and below not in paths}:
                waiting += inner
                continue
            below_it = sum(paths.get(below, 0) * times for below, times in folder.folders.items())
            paths[waiting.pop()] = min(folder.entries + below_it, _COUNTED)
    return paths


# -- reading them -------------------------------------------------------------------------------------------------


def _new_folders(enclosure: Enclosure, apart: Path, id_bytes: int) -> Iterator[tuple[str, Folder]]:
    total = 0
    for path in apart.glob("[0-9a-f][0-9a-f]/*"):
        content = _loose_tree(path)
        if (total := total + len(content)) > MOST_BYTES_OF_TREES:
            raise TooMuch
        if content:
            yield path.parent.name + path.name, _parse(content, id_bytes)
    if (apart / "pack").is_dir():
        env = {"GIT_OBJECT_DIRECTORY": str(apart), "GIT_ALTERNATE_OBJECT_DIRECTORIES": ""}
        words = ("cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname) %(objecttype)")
        rows = enclosure.git(*words, env=env).lines
        trees = [row.removesuffix(" tree") for row in rows if row.endswith(" tree")]
        yield from _read_folders(enclosure, trees, id_bytes, env)


def _loose_tree(path: Path) -> bytes:
    """The tree in this file, empty where something else is in it."""
    reader = zlib.decompressobj()
    with open(path, "rb") as file:
        start = reader.decompress(file.read(4096), 5)
        if start != b"tree ":
            return b""
        content = reader.decompress(reader.unconsumed_tail + file.read(), MOST_TREE_BYTES)
    if not reader.eof and reader.unconsumed_tail:
        raise TooMuch
    return content.partition(b"\0")[2]


def _known_folders(enclosure: Enclosure, wanted: Collection[str], id_bytes: int) -> dict[str, Folder]:
    """These trees of the user's, and all below them that are there: a partial clone lacks some."""
    found: dict[str, Folder] = {}
    asked: set[str] = set()
    while wanted and len(asked) <= MOST_TREES:
        asked.update(wanted)
        found.update(_read_folders(enclosure, wanted, id_bytes, {"GIT_OBJECT_DIRECTORY": str(enclosure.objects)}))
        wanted = named_elsewhere(found) - asked
    if wanted:
        raise TooMuch
    return found


def _read_folders(
    enclosure: Enclosure, names: Collection[str], id_bytes: int, env: Mapping[str, str]
) -> Iterator[tuple[str, Folder]]:
    """By the names that were asked for, without those that are missing."""
    asked = tuple(names)
    listed = "".join(f"{name}\n" for name in asked)
    sizes = enclosure.git("cat-file", "--batch-check=%(objectsize)", input=listed, env=env).lines
    known = [int(size) for size in sizes if size.isdigit()]
    if len(known) > MOST_TREES or sum(known) > MOST_BYTES_OF_TREES or max(known, default=0) > MOST_TREE_BYTES:
        raise TooMuch
    with TemporaryFile(dir=enclosure.control) as file:
        enclosure.git("cat-file", "--batch", input=listed, env=env, output=file.fileno())
        os.lseek(file.fileno(), 0, os.SEEK_SET)
        for name, size in zip(asked, sizes, strict=True):
            file.readline()
            if size.isdigit():
                yield name, _parse(file.read(int(size)), id_bytes)
                file.read(1)


def _parse(content: bytes, id_bytes: int) -> Folder:
    entries = re.findall(rb"([0-7]+) [^\0]+\0(.{%d})" % id_bytes, content, re.DOTALL)
    return Folder(len(entries), Counter(name.hex() for mode, name in entries if mode == _FOLDER))
