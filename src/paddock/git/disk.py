"""Room on disk: what is free, how much a folder takes, and the floor below which nothing is created; and whether a file
is still the same."""

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path

FileIdentity = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class DiskFloor:
    """What must stay free. A checkout needs inodes as much as bytes."""

    free_bytes: int = 2 * 1024**3
    free_inodes: int = 100_000


@dataclass(frozen=True, slots=True)
class FreeSpace:
    free_bytes: int
    free_inodes: int | None  # None where the file system has no fixed number of them


def free_space(path: Path) -> FreeSpace:
    """Of the file system `path` is on, or will be on once it exists."""
    existing = next(folder for folder in (path, *path.parents) if folder.exists())
    found = os.statvfs(existing)
    return FreeSpace(found.f_bavail * found.f_frsize, found.f_favail if found.f_files else None)


def below_floor(path: Path, floor: DiskFloor) -> str | None:
    """Why nothing may be created under `path`, None when there is room."""
    free = free_space(path)
    if free.free_bytes < floor.free_bytes:
        return f"{free.free_bytes} bytes free at `{path}`, the floor is {floor.free_bytes}"
    if free.free_inodes is not None and free.free_inodes < floor.free_inodes:
        return f"{free.free_inodes} inodes free at `{path}`, the floor is {floor.free_inodes}"
    return None


def disk_usage(path: Path) -> int:
    """Bytes on disk below `path`, symbolic links not followed; 0 when it does not exist."""
    total, folders = 0, [path]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    found = entry.stat(follow_symlinks=False)
                    total += found.st_blocks * 512
                    if stat.S_ISDIR(found.st_mode):
                        folders.append(Path(entry.path))
        except OSError:
            continue
    return total


def identity_of(path: Path | str) -> FileIdentity | None:
    """What tells a file from one that was put in its place or written since; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def remove_tree(path: Path) -> None:
    """Delete `path` and all below it, also what an agent left read-only. OSError when it cannot."""
    import shutil

    if os.path.lexists(path) and not stat.S_ISDIR(path.lstat().st_mode):
        path.unlink()
        return
    try:
        try:
            shutil.rmtree(path)
        except FileNotFoundError:
            return
        except PermissionError:
            make_writable(path)
            shutil.rmtree(path)
    except RecursionError:
        _remove_deep(path)


def _remove_deep(path: Path) -> None:
    """Folders in each other, deeper than Python follows: `rm` goes down without counting."""
    import subprocess

    subprocess.run(("rm", "-rf", "--", str(path)), cwd="/", stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if os.path.lexists(path):
        raise OSError(errno.ENOTEMPTY, "too deep to be removed", str(path))


def make_writable(path: Path) -> None:
    """Give ourselves back every folder below `path`."""
    for folder, _, _ in os.walk(path, onerror=None, followlinks=False):
        mode = os.lstat(folder).st_mode
        if mode & 0o700 != 0o700:
            os.chmod(folder, stat.S_IMODE(mode) | 0o700)
