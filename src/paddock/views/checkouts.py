"""Checkouts of main: which show an older one, what was undone from one, and what bringing them up to date gave."""

from typing import TYPE_CHECKING

import msgspec

from paddock.core.ids import printable
from paddock.git.usertree.update import IN_THE_WAY, LeftAlone
from paddock.views.document import view_of

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
        view_of(StaleView, one, path=printable(str(one.folder)), update=update_command(one))
        for one in (notes.stale if notes else ())
    ]


def view_undone(notes: "CheckoutNotes | None") -> list[UndoneView]:
    undone = notes.undone if notes else ()
    return [view_of(UndoneView, one, restore=restore_command(one)) for one in undone]


def view_synced(found: "StashReport") -> SyncedView:
    report, left = found.report, found.report.result
    reason, files = (left.reason, left.files) if isinstance(left, LeftAlone) else ("", ())
    return view_of(
        SyncedView,
        report,
        path=printable(str(report.tree.path), 1000),
        current=report.is_current,
        wrote=0 if isinstance(left, LeftAlone) else left.wrote,
        reason=reason,
        files=files,
        stash=found.commit if not found.applied else None,
        applied=found.applied,
    )


def update_command(stale: "StaleTree") -> str:
    return "paddock sync --stash" if stale.reason == IN_THE_WAY else "paddock sync"


def restore_command(undone: "UndoneWork") -> str:
    return f"paddock queue restore {undone.commit[:10]}"
