"""Checkouts of main: which show an older one, what was undone from one, and what bringing them up to date gave."""

from typing import TYPE_CHECKING

import msgspec

from paddock.core.ids import printable
from paddock.git.usertree.update import IN_THE_WAY, LeftAlone

if TYPE_CHECKING:
    from paddock.git.usertree.notes import CheckoutNotes, StaleTree, UndoneWork
    from paddock.git.usertree.stash import StashReport


class StaleView(msgspec.Struct, frozen=True):
    path: str
    at: str
    main: str
    reason: str
    files: tuple[str, ...]
    update: str


class UndoneView(msgspec.Struct, frozen=True):
    commit: str
    files: tuple[str, ...]
    changes: tuple[str, ...]
    contested: tuple[str, ...]
    restore: str


class SyncedView(msgspec.Struct, frozen=True):
    """`stash` holds edits that did not merge; `applied` ones are back in their files."""

    path: str
    at: str
    main: str
    current: bool
    wrote: int
    reason: str
    files: tuple[str, ...]
    stash: str | None
    applied: bool


def view_stale(notes: "CheckoutNotes | None") -> list[StaleView]:
    return [
        StaleView(printable(str(one.folder)), one.at, one.main, one.reason, one.files, update_command(one))
        for one in (notes.stale if notes else ())
    ]


def view_undone(notes: "CheckoutNotes | None") -> list[UndoneView]:
    return [
        UndoneView(one.commit, one.files, one.changes, one.contested, restore_command(one))
        for one in (notes.undone if notes else ())
    ]


def view_synced(found: "StashReport") -> SyncedView:
    report, left = found.report, found.report.result
    return SyncedView(
        path=printable(str(report.tree.path), 1000),
        at=report.at,
        main=report.main,
        current=report.is_current,
        wrote=0 if isinstance(left, LeftAlone) else left.wrote,
        reason=left.reason if isinstance(left, LeftAlone) else "",
        files=left.files if isinstance(left, LeftAlone) else (),
        stash=found.commit if not found.applied else None,
        applied=found.applied,
    )


def update_command(stale: "StaleTree") -> str:
    return "paddock sync --stash" if stale.reason == IN_THE_WAY else "paddock sync"


def restore_command(undone: "UndoneWork") -> str:
    return f"paddock queue restore {undone.commit[:10]}"
