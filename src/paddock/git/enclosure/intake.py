"""The import: commits of an enclosure's own git directory become objects of the user's repository, or are refused.

What somebody else made is packed through a door of ours: our git directory, their objects, none of their configuration,
refs, commit graphs or indexes of packs. Git checks every object it finds in the pack and that nothing it refers to is
missing, in a folder apart. Only then are the objects moved to the user's. From there on nothing of theirs is read
again.
"""

import contextlib
import os
import shutil
import stat
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from paddock.core.ids import recordable
from paddock.git.command import GitKilled, GitResult
from paddock.git.disk import remove_tree
from paddock.git.enclosure.enclosure import Enclosure, alternates, quote
from paddock.git.enclosure.expansion import MOST_PATHS, has_too_many_paths
from paddock.git.enclosure.lfs import take_in_large_files

MOST_BYTES = 2 * 1024**3
MOST_FILES = 200_000
TIMEOUT_SECONDS = 600.0
_UNPACKED_ONE_BY_ONE = 100  # as git does: more objects than that stay in a pack
_BEGINNING_BYTES = 1024  # of a compressed file: its table of codes, which comes first, may take some 500 of them
# `git gc` removes what is called so when it is old.
_APART = "tmp_objdir-paddock-"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_DOOR = (
    "core.multiPackIndex=false",
    "core.commitGraph=false",
    "pack.useBitmaps=false",
    "pack.useBitmapBoundaryTraversal=false",
    "pack.threads=1",
    "core.bigFileThreshold=64m",
)
_PACK = ("pack-objects", "--revs", "--stdout", "--thin", "--quiet", "--window=0", "--missing=allow-any")


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was taken in, and why."""

    reason: str


def take_in(enclosure: Enclosure, tips: Sequence[str], known: Sequence[str]) -> Refused | None:
    """Bring the commits `tips`, and what they need, to the user's objects. `known` are commits the user has.

    None when all of it is there.
    """
    try:
        if (problem := _damage(enclosure) or take_in_large_files(enclosure)) is not None:
            return Refused(problem)
        _restore_alternates(enclosure)
    except OSError as error:
        return Refused(f"its objects cannot be read: {error.strerror or error}")
    apart = _set_apart(enclosure)
    try:
        return _take_in(enclosure, apart, tips, known)
    except GitKilled as killed:
        if killed.result.timed_out:
            return Refused(f"git took longer than {TIMEOUT_SECONDS:g} s to read its commits")
        raise
    finally:
        remove_tree(apart)


def _set_apart(enclosure: Enclosure) -> Path:
    """One folder for each enclosure, whose lock the caller holds: what a killed import has left there goes first."""
    name = blake2b(os.fsencode(enclosure.own), digest_size=8).hexdigest()
    apart = enclosure.objects / f"{_APART}{name}"
    remove_tree(apart)
    apart.mkdir(mode=0o700)
    return apart


def existing_commits(enclosure: Enclosure, names: Iterable[str]) -> tuple[str, ...]:
    """Those of `names` that are commits here; tags and what is missing or damaged are none."""
    listed = "".join(f"{name}\n" for name in names)
    words = ("cat-file", "--batch-check=%(objectname) %(objecttype)")
    rows = _through_the_door(enclosure, *words, input=listed).lines if listed else []
    return tuple(row.removesuffix(" commit") for row in rows if row.endswith(" commit"))


def _damage(enclosure: Enclosure) -> str | None:
    """Why the objects cannot be read, None when they can: all of them plain files, and not too much of it."""
    objects = enclosure.own / "objects"
    size = count = 0
    folders = [objects]
    while folders:
        folder = folders.pop()
        if folder.is_symlink() or not folder.is_dir():
            return f"its `{os.path.relpath(folder, enclosure.own)}` is no folder"
        with os.scandir(folder) as entries:
            for entry in entries:
                found = entry.stat(follow_symlinks=False)
                count, size = count + 1, size + found.st_size
                if stat.S_ISDIR(found.st_mode):
                    folders.append(Path(entry.path))
                elif not stat.S_ISREG(found.st_mode):
                    return f"its `{os.path.relpath(entry.path, enclosure.own)}` is not a regular file"
                if count > MOST_FILES or size > MOST_BYTES:
                    return f"its objects are more than {MOST_FILES:,} files or {MOST_BYTES // 1024**2:,} MB"
    return None


def _restore_alternates(enclosure: Enclosure) -> None:
    """What else it would have us read is none of its objects. No link is followed, whatever is put there meanwhile."""
    folder = os.open(enclosure.own, _FOLDER)
    try:
        for name in ("objects", "info"):
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, dir_fd=folder)
            inner = os.open(name, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        for name in ("alternates", "http-alternates"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder)
        fresh = os.open("alternates", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644, dir_fd=folder)
        with open(fresh, "wb") as file:
            file.write(alternates(enclosure.repo))
    finally:
        os.close(folder)


def _take_in(enclosure: Enclosure, apart: Path, tips: Sequence[str], known: Sequence[str]) -> Refused | None:
    revs = "".join((*(f"{tip}\n" for tip in tips), *(f"^{sha}\n" for sha in known)))
    with open(apart / "incoming", "w+b") as file:
        packed = _through_the_door(enclosure, *_PACK, _size_limit(enclosure), input=revs, output=file.fileno())
        if not packed.ok:
            return Refused(f"its commits cannot be read: {_said(packed)}")
        count = int.from_bytes(os.pread(file.fileno(), 4, 8), "big")
        os.lseek(file.fileno(), 0, os.SEEK_SET)
        checked = _receive(enclosure, apart, count, file.fileno()) if count else packed
    (apart / "incoming").unlink()
    if not checked.ok:
        return Refused(_too_large(enclosure, revs) or f"git does not accept its commits: {_said(checked)}")
    for tip in tips:
        if not _is_commit(enclosure, apart, tip):
            return Refused(f"`{tip}` is not a commit, or is damaged")
    if count and has_too_many_paths(enclosure, apart, known[0] if known else tips[0]):
        return Refused(f"once checked out, they are more than {MOST_PATHS:,} files and folders")
    _move_in(apart, enclosure.objects)
    return None


def _size_limit(enclosure: Enclosure) -> str:
    return f"--filter=blob:limit={enclosure.largest_file_bytes + 1}"


def _too_large(enclosure: Enclosure, revs: str) -> str:
    """Which file was left out because of its size, and is missing now; "" where none is."""
    listing = ("rev-list", "--objects", "--quiet", "--filter-print-omitted", _size_limit(enclosure), "--stdin")
    omitted = [line.removeprefix("~") for line in _through_the_door(enclosure, *listing, input=revs).lines]
    known = enclosure.git("cat-file", "--batch-check", check=False, input="\n".join(omitted)).lines
    missing = next((line.removesuffix(" missing") for line in known if line.endswith(" missing")), None)
    if missing is None:
        return ""
    search = ("log", "-m", "-1", "--format=", "--name-only", "-z", f"--find-object={missing}", "--stdin")
    path = next(iter(_through_the_door(enclosure, *search, input=revs).records), missing)
    most = f"{enclosure.largest_file_mb} MB (`worktrees.largest_file_mb`)"
    return f"`{recordable(path)}` is larger than {most}"


def _receive(enclosure: Enclosure, apart: Path, count: int, pack: int) -> GitResult:
    """Git names every object by what is in it, checks it, and looks for everything it refers to."""
    words = ("unpack-objects",) if count < _UNPACKED_ONE_BY_ONE else ("index-pack", "--stdin", "--fix-thin")
    quiet = ("-q",) if count < _UNPACKED_ONE_BY_ONE else ()
    env = _objects(apart, enclosure.objects)
    limit = f"--max-input-size={MOST_BYTES}"
    return enclosure.git(*words, *quiet, "--strict", limit, check=False, env=env, feed=pack, timeout=TIMEOUT_SECONDS)


def _through_the_door(
    enclosure: Enclosure, *args: str, input: str | None = None, output: int | None = None
) -> GitResult:
    env = _objects(enclosure.control / "objects", enclosure.objects, enclosure.own / "objects")
    settings = tuple(part for option in _DOOR for part in ("-c", option))
    return enclosure.git(*settings, *args, check=False, env=env, input=input, output=output, timeout=TIMEOUT_SECONDS)


def _objects(first: Path, *others: Path) -> dict[str, str]:
    listed = b":".join(quote(os.fsencode(place)) for place in others)
    return {"GIT_OBJECT_DIRECTORY": str(first), "GIT_ALTERNATE_OBJECT_DIRECTORIES": os.fsdecode(listed)}


def _is_commit(enclosure: Enclosure, apart: Path, name: str) -> bool:
    try:
        with open(apart / name[:2] / name[2:], "rb") as file:
            return zlib.decompressobj().decompress(file.read(_BEGINNING_BYTES), 7) == b"commit "
    except (OSError, zlib.error):
        env = _objects(apart, enclosure.objects)
        return enclosure.git("cat-file", "-t", name, check=False, env=env).text == "commit"


def _move_in(apart: Path, objects: Path) -> None:
    """Packs before the index that makes git see them. An object that is there already has the same bytes."""
    for folder in sorted(os.listdir(apart)):
        (objects / folder).mkdir(exist_ok=True)
        for name in sorted(os.listdir(apart / folder), key=lambda name: (name.endswith(".idx"), name)):
            target = objects / folder / name
            if not target.exists():
                shutil.move(apart / folder / name, target)


def _said(result: GitResult) -> str:
    return result.stderr.strip().splitlines()[-1] if result.stderr.strip() else f"git ended with {result.code}"
