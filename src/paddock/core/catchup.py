"""What may be done, path by path, to a checkout that shows an older main. Pure.

A version is `MODE SHA` as a tree holds it, None for nothing there. `old` is the main the checkout shows, `new` what
main is now. Only a file that is exactly what `old` has may be replaced: everything else is uncommitted work.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

UNMERGED = "unmerged"
GITLINK = "160000"
SYMLINK = "120000"


class OnDisk(StrEnum):
    """Which version the file in the working tree is; `OTHER` is neither."""

    OLD = "old"
    NEW = "new"
    OTHER = "other"


class Todo(StrEnum):
    WRITE = "write"  # put the new version on disk, or remove the file, and into the index
    RECORD = "record"  # the disk has it: the index only
    NOTHING = "nothing"
    CLASH = "clash"  # uncommitted work is in the way


@dataclass(frozen=True, slots=True)
class PathFacts:
    path: str
    old: str | None
    new: str | None
    staged: str | None
    on_disk: OnDisk


def judge_paths(facts: Iterable[PathFacts]) -> dict[str, Todo]:
    """What to do about each path. If there is one CLASH, nothing at all is done.

    A plain `git reset` makes the index agree with main while the files stay old, or are edits of the old ones. What
    distinguishes such a tree from one that was brought up to date: in the latter, some file is new.
    """
    listed = list(facts)
    brought_up = any(one.staged == one.new and one.on_disk is OnDisk.NEW and one.new is not None for one in listed)
    return {one.path: _judge(one, was_reset=not brought_up) for one in listed}


def _judge(one: PathFacts, *, was_reset: bool) -> Todo:
    if one.staged not in (one.old, one.new):
        return Todo.CLASH
    if one.staged == one.new and (not was_reset or one.on_disk is OnDisk.NEW):
        return Todo.NOTHING
    match one.on_disk:
        case OnDisk.OLD:
            return Todo.WRITE
        case OnDisk.NEW:
            return Todo.RECORD
        case OnDisk.OTHER:
            return Todo.CLASH


def is_gitlink(version: str | None) -> bool:
    return version is not None and version.startswith(GITLINK)
