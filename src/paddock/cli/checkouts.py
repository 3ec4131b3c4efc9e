"""What there is to say about checkouts of main: which show an older one, and what was undone from one."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from paddock.cli.attention import Notice
from paddock.cli.text import paint
from paddock.core.errors import PaddockError
from paddock.core.ids import printable
from paddock.fleet.workspace import Workspace

if TYPE_CHECKING:
    from paddock.git.usertree.notes import CheckoutNotes, StaleTree

FILES_SHOWN = 8
LOOK_SECONDS = 1.0


def know_checkouts(workspace: Workspace) -> "CheckoutNotes | None":
    """What is known, looked at again where something has moved since; None when there is nothing to tell.

    Costs one look for a file as long as every checkout shows main.
    """
    if not (workspace.state_dir / "checkouts").exists():
        return None
    from paddock.git.usertree.notes import read_notes

    notes = read_notes(workspace.state_dir)
    branch = workspace.config.landing_branch
    main = workspace.repo.branch_tip(branch)
    unmoved = all(_is_unmoved(entry, main) for entry in notes.stale) and (not notes.undone or notes.main == main)
    if not unmoved and not workspace.config.land.remote:
        from paddock.git.usertree.checkouts import catch_up

        try:
            catch_up(workspace.repo, branch, update=False, timeout_seconds=LOOK_SECONDS)
            notes = read_notes(workspace.state_dir)
        except (PaddockError, OSError):
            pass  # somebody is at it right now, or we may not write here: what is known must do
    return notes if notes.stale or notes.undone else None


def _is_unmoved(entry: "StaleTree", main: str | None) -> bool:
    from paddock.git.repo import discover
    from paddock.git.usertree.places import UserTree

    if entry.main != main or entry.index is None or not (entry.folder / ".git").exists():
        return False
    return UserTree(entry.folder, discover(entry.folder).git_dir, "").index_identity() == entry.index


def checkout_notices(workspace: Workspace) -> Iterator[Notice]:
    notes = know_checkouts(workspace)
    branch = workspace.config.landing_branch
    for stale in notes.stale if notes else ():
        words = f"{_shown(stale.folder)} shows an older {branch} ({stale.at[:10]}): {stale.reason}"
        yield Notice("checkout-behind", f"{words}{_named(stale.files)}", update_command(stale))
    for undone in notes.undone if notes else ():
        whose = f" of {', '.join(undone.changes[:5])}" if undone.changes else ""
        short = undone.commit[:10]
        words = f"{short} undoes landed work{whose}: it was committed from an older checkout"
        command = f"paddock queue restore {short}, or with --dismiss if it was intended"
        edited = f"; it edited the landed lines themselves{_named(undone.contested)}" if undone.contested else ""
        yield Notice("work-undone", f"{words}{_named(undone.files)}{edited}", command)


def checkout_lines(workspace: Workspace) -> list[str]:
    """For the end of a command; empty when there is nothing to tell."""
    lines = []
    for notice in checkout_notices(workspace):
        lines += ["", notice.text, paint(f"run: {notice.run}", dim=True)]
    return lines


def _named(files: tuple[str, ...]) -> str:
    more = f" and {len(files) - FILES_SHOWN:,} more" if len(files) > FILES_SHOWN else ""
    return f": {', '.join(printable(name, 80) for name in files[:FILES_SHOWN])}{more}" if files else ""


def update_command(stale: "StaleTree") -> str:
    from paddock.git.usertree.update import IN_THE_WAY

    return "paddock sync --stash" if stale.reason == IN_THE_WAY else "paddock sync"


def _shown(path: Path) -> str:
    return printable(os.fspath(path), 200)


def view_stale(notes: "CheckoutNotes | None") -> list[dict[str, object]]:
    return [
        {
            "path": _shown(stale.folder),
            "at": stale.at,
            "main": stale.main,
            "reason": stale.reason,
            "files": list(stale.files),
            "update": update_command(stale),
        }
        for stale in (notes.stale if notes else ())
    ]


def view_undone(notes: "CheckoutNotes | None") -> list[dict[str, object]]:
    return [
        {
            "commit": undone.commit,
            "files": list(undone.files),
            "changes": list(undone.changes),
            "contested": list(undone.contested),
            "restore": f"paddock queue restore {undone.commit[:10]}",
        }
        for undone in (notes.undone if notes else ())
    ]
