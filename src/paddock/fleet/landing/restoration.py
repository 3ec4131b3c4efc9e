"""Landed work that a commit from an older checkout took back: found again, brought back on a branch, or dismissed."""

from msgspec.structs import replace

from paddock.core.errors import PaddockError
from paddock.core.ids import printable, some_names
from paddock.fleet.workspace import Workspace
from paddock.git.usertree.notes import CheckoutNotes, UndoneWork, hold_checkouts, read_notes, write_notes
from paddock.git.usertree.undone import notice_undone, restore_commit

SHORTEST = 4
MOST_BRANCHES = 20


def find_undone(workspace: Workspace, said: str, *, dismiss: bool = False) -> UndoneWork:
    """By the start of the commit that took it back; one that is dismissed is not mentioned again."""
    with hold_checkouts(workspace.repo):
        notes = notice_undone(workspace.repo, workspace.config.landing_branch, read_notes(workspace.repo))
        work = _find(notes, said)
        if dismiss:
            notes = replace(notes, undone=tuple(one for one in notes.undone if one != work))
        write_notes(workspace.repo, notes)
    return work


def _find(notes: CheckoutNotes, said: str) -> UndoneWork:
    found = [one for one in notes.undone if len(said) >= SHORTEST and one.commit.startswith(said.lower())]
    if len(found) == 1:
        return found[0]
    known = ", ".join(one.commit[:10] for one in notes.undone)
    raise PaddockError(
        f"`{printable(said, 50)}` is not a commit known to have undone landed work",
        f"known: {known}" if known else "none is known; `paddock status` names them",
    )


def make_branch(workspace: Workspace, work: UndoneWork) -> str:
    """A branch with the landed lines and all later edits, ready to be queued."""
    main = workspace.repo.resolve(f"refs/heads/{workspace.config.landing_branch}")
    short = work.commit[:10]
    names = (f"restore-{short}" + (f"-{number}" if number else "") for number in range(MOST_BRANCHES))
    branch = next((name for name in names if workspace.repo.resolve(f"refs/heads/{name}") is None), None)
    if branch is None:
        raise PaddockError(
            f"there are {MOST_BRANCHES} branches `restore-{short}…` already", "delete some of those branches"
        )
    if main is None or restore_commit(workspace.repo, work, branch, main) is None:
        if work.contested:
            raise PaddockError(contested_words(work), how_to_settle(work))
        raise PaddockError(f"main already has everything that {short} undid", "there is nothing left to restore")
    return branch


def contested_words(work: UndoneWork) -> str:
    return f"{work.commit[:10]} replaced landed lines with its own, which stay: {some_names(work.contested)}"


def how_to_settle(work: UndoneWork) -> str:
    shown = f"`git diff {work.base[:10]} {work.landed[:10]}` shows what had landed"
    return f"{shown}; restore by hand what is missing, or run `paddock queue restore {work.commit[:10]} --dismiss`"
