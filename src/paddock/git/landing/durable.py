"""Refs and objects that survive a power cut: moved by compare-and-swap, flushed before they are named."""

import os
from pathlib import Path

from paddock.git.landing.workbench import DURABLE, Workbench
from paddock.git.repo import Repo

FLUSHED_ONE_BY_ONE = 256  # above that one pack with one fsync is quicker than a fsync per object
LOCK_WAIT_MILLISECONDS = 2000  # others hold a ref's lock for some milliseconds; longer, it was left behind
REF_OPTIONS = (*DURABLE, "-c", f"core.filesRefLockTimeout={LOCK_WAIT_MILLISECONDS}")


def move_ref(repo: Repo, ref: str, new: str, old: str, reason: str) -> bool:
    """Compare-and-swap of a ref, flushed to disk; False when it was not at `old`."""
    return repo.update_ref(ref, new, old, reason, REF_OPTIONS)


def flush_objects(bench: Workbench, tip: str, known: str) -> int:
    """Put what `tip` has beyond `known` on disk for good; agents write objects without a flush.

    Returns how many objects that are. Raises GitFailed when one of them is missing.
    """
    listed = bench.git("rev-list", "--objects", "--no-object-names", tip, f"^{known}").lines
    if len(listed) > FLUSHED_ONE_BY_ONE:
        pack = str(bench.objects / "pack" / "pack")
        bench.git("pack-objects", "--quiet", "--revs", pack, input=f"{tip}\n^{known}\n".encode())
        return len(listed)
    folders = {_flush(bench.objects / sha[:2] / sha[2:]) for sha in listed}
    for folder in folders - {None}:
        _flush(folder)
    return len(listed)


def _flush(path: Path | None) -> Path | None:
    """fsync a file or folder; its parent, or None when it does not exist (the object is in a pack)."""
    if path is None:
        return None
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    return path.parent
