"""Reading what a working tree has at each path that differs between the main it shows and main."""

import os
import stat
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from paddock.core.catchup import SYMLINK, UNMERGED, OnDisk, PathFacts, is_gitlink
from paddock.git.usertree.places import UserTree, fingerprint, parents_of
from paddock.git.usertree.versions import DIFFERENCES, Change, parse_differences

_SWITCHES = ("filemode", "symlinks", "ignorecase", "sparsecheckout")


@dataclass(frozen=True, slots=True)
class TreeFacts:
    """`prints` are fingerprints of what was on disk before anything else was looked at; `blocked_by` names the
    files in the way of a path where they have other names."""

    paths: tuple[PathFacts, ...]
    prints: Mapping[str, str | None]
    blocked_by: Mapping[str, tuple[str, ...]]
    unmerged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StagedEntry:
    version: str
    hidden: bool = False  # left out by a sparse checkout
    unwatched: bool = False  # `--assume-unchanged`: git looks away, we do not


@dataclass
class _Reader:
    tree: UserTree
    index: Path
    changes: Mapping[str, Change]
    staged: Mapping[str, StagedEntry]
    dirty: Collection[str]
    switches: Mapping[str, bool]
    blocked_by: dict[str, tuple[str, ...]] = field(default_factory=dict)


def read_facts(tree: UserTree, index: Path, old: str, new: str) -> TreeFacts:
    """`index` is a copy of the tree's own, and is refreshed. Nothing of the user's is written."""
    changes = parse_differences(tree.git(*DIFFERENCES, old, new).records)
    prints = {path: fingerprint(tree.path / path) for path in changes}
    tree.git("update-index", "-q", "--refresh", "--ignore-submodules", index=index, check=False)
    staged, unmerged = _read_index(tree, index)
    dirty = set(tree.git("diff-files", "-z", "--name-only", "--ignore-submodules", index=index).records)
    switches = _read_switches(tree)
    reader = _Reader(tree, index, changes, staged, dirty, switches)
    on_disk = _read_disk(reader)
    paths = tuple(
        PathFacts(path, *versions, staged[path].version if path in staged else None, on_disk[path])
        for path, versions in changes.items()
    )
    return TreeFacts(paths, prints, reader.blocked_by, unmerged)


def _read_index(tree: UserTree, index: Path) -> tuple[dict[str, StagedEntry], tuple[str, ...]]:
    entries: dict[str, StagedEntry] = {}
    unmerged: dict[str, None] = {}
    for record in tree.git("ls-files", "--stage", "-v", "-z", index=index).records:
        facts, path = record.split("\t", 1)
        tag, mode, sha, number = facts.split(" ")
        if number == "0":
            entries[path] = StagedEntry(f"{mode} {sha}", tag in "Ss", tag.islower())
        else:
            entries[path] = StagedEntry(UNMERGED)
            unmerged[path] = None
    return entries, tuple(unmerged)


def _read_switches(tree: UserTree) -> dict[str, bool]:
    pattern = f"^core\\.({'|'.join(_SWITCHES)})$"
    told = tree.git("config", "--type=bool", "--get-regexp", pattern, check=False).lines
    found = dict(line.split(" ", 1) for line in told)
    defaults = {"filemode": "true", "symlinks": "true"}
    return {name: found.get(f"core.{name}", defaults.get(name, "false")) == "true" for name in _SWITCHES}


def _read_disk(reader: _Reader) -> dict[str, OnDisk]:
    """Folders last: whether one is in the way depends on what becomes of the files in it."""
    known: dict[str, OnDisk] = {}
    unsure: list[str] = []
    folders: list[str] = []
    for path, (old, new) in reader.changes.items():
        kind = _kind_on_disk(reader, path)
        hidden = path in reader.staged and reader.staged[path].hidden
        if is_gitlink(old) or (is_gitlink(new) and old is None):
            known[path] = _judge_submodule(reader.tree.path / path, kind, old, new)
        elif kind in ("alias", "special"):
            known[path] = OnDisk.OTHER
        elif kind == "folder":
            folders.append(path)
        elif kind == "nothing":
            known[path] = _judge_absent(old, new, hidden=hidden)
        elif hidden:
            known[path] = OnDisk.OTHER
        elif old is not None and path not in reader.dirty and _is_staged(reader, path, old):
            known[path] = OnDisk.OLD
        elif new is not None and path not in reader.dirty and _is_staged(reader, path, new):
            known[path] = OnDisk.NEW
        else:
            unsure.append(path)
    known |= _compare(reader, unsure)
    for path in folders:
        known[path] = _judge_folder(reader, path, known)
    for path, (_, new) in reader.changes.items():
        if new is not None and known[path] is OnDisk.OLD and (blocker := _blocking_parent(reader, path, known)):
            reader.blocked_by[path] = (blocker,)
            known[path] = OnDisk.OTHER
    return known


def _is_staged(reader: _Reader, path: str, version: str) -> bool:
    entry = reader.staged.get(path)
    return entry is not None and entry.version == version and not entry.unwatched


def _kind_on_disk(reader: _Reader, path: str) -> str:
    """nothing, file, folder, special (a pipe, say) or alias.

    An alias is another name that a file system blind to case takes for this one.
    """
    for parent in parents_of(path):
        try:
            if not stat.S_ISDIR((reader.tree.path / parent).lstat().st_mode):
                return "nothing"  # what is reached through a link or a file is not ours to look at
        except (FileNotFoundError, NotADirectoryError):
            return "nothing"
    if reader.switches["ignorecase"] and (other := _other_case(reader, path)):
        reader.blocked_by[path] = (other,)
        return "alias"
    try:
        found = (reader.tree.path / path).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return "nothing"
    if stat.S_ISDIR(found.st_mode):
        return "folder"
    return "file" if stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode) else "special"


def _other_case(reader: _Reader, path: str) -> str:
    """A file beside `path` whose name differs in case only and that is not about to be removed."""
    folder, name = os.path.split(path)
    beside = [other for other in os.listdir(reader.tree.path / folder) if other.casefold() == name.casefold()]
    if name in beside:
        return ""
    others = (os.path.join(folder, other) for other in beside)
    return next((other for other in others if not _goes_away(reader, other)), "")


def _goes_away(reader: _Reader, path: str) -> bool:
    return path in reader.changes and reader.changes[path][1] is None


def _judge_absent(old: str | None, new: str | None, *, hidden: bool) -> OnDisk:
    if old is None or hidden:
        return OnDisk.OLD
    return OnDisk.NEW if new is None else OnDisk.OTHER


def _judge_submodule(path: Path, kind: str, old: str | None, new: str | None) -> OnDisk:
    """What a submodule has checked out is its user's; only its place matters here."""
    if kind == "nothing":
        return OnDisk.OLD
    if kind != "folder":
        return OnDisk.OTHER
    stays = is_gitlink(old) and (new is None or is_gitlink(new))
    is_repository = is_gitlink(new) and (path / ".git").exists()
    return OnDisk.OLD if stays or is_repository or not os.listdir(path) else OnDisk.OTHER


def _judge_folder(reader: _Reader, path: str, known: Mapping[str, OnDisk]) -> OnDisk:
    """A folder where main has a file: fine if all in it is old work that main has removed."""
    top = os.fspath(reader.tree.path)
    inside = [
        os.path.relpath(os.path.join(folder, name), top)
        for folder, _, names in os.walk(os.path.join(top, path))
        for name in names
    ]
    strange = [name for name in inside if not _goes_away(reader, name) or known.get(name) is not OnDisk.OLD]
    if not strange and reader.changes[path][0] is None:
        return OnDisk.OLD
    reader.blocked_by[path] = tuple(strange)
    return OnDisk.OTHER


def _blocking_parent(reader: _Reader, path: str, known: Mapping[str, OnDisk]) -> str:
    """A file or link where `path` needs a folder, unless it is old work that main has removed."""
    for parent in parents_of(path):
        try:
            if stat.S_ISDIR((reader.tree.path / parent).lstat().st_mode):
                continue
        except (FileNotFoundError, NotADirectoryError):
            return ""
        return "" if _goes_away(reader, parent) and known[parent] is OnDisk.OLD else parent
    return ""


def _compare(reader: _Reader, paths: list[str]) -> dict[str, OnDisk]:
    """By content, as git would store it."""
    found = read_versions(reader.tree, paths, filemode=reader.switches["filemode"])
    judged = {}
    for path in paths:
        old, new = reader.changes[path]
        version = found[path]
        if _same(version, old, reader.switches):
            judged[path] = OnDisk.OLD
        else:
            judged[path] = OnDisk.NEW if _same(version, new, reader.switches) else OnDisk.OTHER
    return judged


def _same(version: str | None, wanted: str | None, switches: Mapping[str, bool]) -> bool:
    if version is None or wanted is None:
        return False
    mode, sha = version.split(" ")
    wanted_mode, wanted_sha = wanted.split(" ")
    loose = (not switches["filemode"] and mode != SYMLINK) or (not switches["symlinks"] and wanted_mode == SYMLINK)
    return sha == wanted_sha and (mode == wanted_mode or (loose and not is_gitlink(wanted)))


def read_versions(
    tree: UserTree, paths: Collection[str], *, filemode: bool = True, store: bool = False
) -> dict[str, str | None]:
    """What git would store for files and links on disk, and does with `store`; None for what is not there."""
    found: dict[str, str | None] = dict.fromkeys(paths)
    words = ("hash-object", "-w") if store else ("hash-object",)
    links = [path for path in paths if (tree.path / path).is_symlink()]
    for path in links:
        target = os.fsencode(os.readlink(tree.path / path))
        found[path] = f"{SYMLINK} {tree.git(*words, '--stdin', input=target).text}"
    files = [path for path in paths if path not in links and (tree.path / path).is_file()]
    listed = b"".join(_quoted(path) + b"\n" for path in files)
    told = tree.git(*words, "--stdin-paths", input=listed).lines if files else []
    for path, sha in zip(files, told, strict=True):
        mode = (tree.path / path).stat().st_mode
        found[path] = f"{'100755' if filemode and mode & 0o100 else '100644'} {sha}"
    return found


def _quoted(path: str) -> bytes:
    name = os.fsencode(path)
    if b"\n" not in name and not name.startswith(b'"'):
        return name
    return b'"' + b"".join(b"\\%03o" % byte for byte in name) + b'"'
