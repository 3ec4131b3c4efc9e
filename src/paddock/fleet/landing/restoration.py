"""Putting back what others took: main itself, moved by somebody who is not the queue, and landed work that a commit
from an older checkout undid."""

from dataclasses import dataclass

from msgspec.structs import replace

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import Draft
from paddock.core.ids import printable, some_names
from paddock.core.merge.branch import main_to_restore
from paddock.core.merge.events import MainRestored
from paddock.core.merge.model import Main, Queue
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.landing.lost_work import loss_events
from paddock.fleet.workspace import Workspace
from paddock.git.landing.lost import MainsCompared, compare_landed
from paddock.git.landing.publish import Pushed, Rejected, RemoteMoved, Unreachable, push_main, read_remote
from paddock.git.repo import ABSENT
from paddock.git.usertree.checkouts import catch_up
from paddock.git.usertree.notes import CheckoutNotes, UndoneWork, hold_checkouts, read_notes, write_notes
from paddock.git.usertree.putback import NotPutBack, put_back
from paddock.git.usertree.undone import notice_undone, restore_commit
from paddock.git.worktrees.checkout import hold_commit


@dataclass(frozen=True, slots=True)
class RestoredMain:
    """`old` is where main was, None if it was gone; `kept` is the ref that holds it, empty if nothing needs to."""

    commit: str
    tested: bool
    old: str | None
    kept: str


def restore_main(workspace: Workspace) -> RestoredMain:
    """Puts main back to the last commit that was tested, and keeps what it had since.

    Raises PaddockError where there is none, where nothing is to be done, and where a checkout is in the way.
    """
    repo, branch, queue = workspace.repo, workspace.config.landing_branch, workspace.board().queue
    wanted = main_to_restore(queue)
    if wanted is None or repo.resolve(wanted.commit) is None:
        raise PaddockError(
            f"no {branch} is known to go back to", f"`git reflog {branch}` lists where it was; nothing was changed"
        )
    if queue.landing is not None:
        raise PaddockError(f"{queue.landing.run} is landing", "wait until it has landed, then run it again")
    at = _main_now(workspace)
    if at == wanted.commit and not workspace.config.land.remote:
        catch_up(repo, branch, checkpoint=checkpoint)  # one that was killed may have left checkouts as they were
    if at == wanted.commit and queue.main is not None and queue.main.commit == at and not _is_rewound(queue):
        raise PaddockError(
            f"{branch} is at {at[:10]}, the last one that {_known_as(wanted)}: there is nothing to restore",
            "`paddock queue why main` shows who moved it",
        )
    kept = hold_commit(repo, at, "main") if at is not None and not repo.is_ancestor(at, wanted.commit) else ""
    checkpoint("restore.kept")
    if at != wanted.commit:
        _put_back(workspace, at, wanted.commit)
    checkpoint("restore.moved")
    compared = compare_landed(repo, at, wanted.commit) if at is not None else MainsCompared()
    event = MainRestored(wanted.commit, wanted.tree, at or "", kept)

    def decide(board: Board) -> list[Draft]:
        found = main_to_restore(board.queue)
        if found is None or found.commit != wanted.commit:
            return []
        return [Draft(event), *(Draft(one) for one in loss_events(board, wanted.commit, compared))]

    workspace.record(decide)
    checkpoint("restore.recorded")
    return RestoredMain(wanted.commit, wanted.verified_by is not None, at, kept)


def _is_rewound(queue: Queue) -> bool:
    return queue.halted is not None and queue.halted.rewound


def _known_as(main: Main) -> str:
    return "passed its tests" if main.verified_by is not None else "was seen before somebody moved it"


def _main_now(workspace: Workspace) -> str | None:
    remote, branch = workspace.config.land.remote, workspace.config.landing_branch
    if not remote:
        return workspace.repo.resolve(f"refs/heads/{branch}")
    fetched = workspace.repo.fetch(remote, branch)
    if fetched.sha is None and read_remote(workspace.repo, remote, branch) is not None:
        raise PaddockError(f"`{remote}` cannot be asked where {branch} is: {fetched.problem}", "try again later")
    return fetched.sha


def _put_back(workspace: Workspace, old: str | None, new: str) -> None:
    repo, branch, remote = workspace.repo, workspace.config.landing_branch, workspace.config.land.remote
    if remote:
        pushed = push_main(repo, remote, branch, new, old or ABSENT)
        if not isinstance(pushed, Pushed):
            hint = f"run `paddock queue restore` again when the cause is gone; {branch} was not moved"
            raise PaddockError(f"{branch} was not restored on `{remote}`: {_why_not(pushed)}", hint)
        checkpoint("restore.pushed")
        repo.fetch(remote, branch)
        return
    result = put_back(repo, branch, old, new, checkpoint)
    if isinstance(result, NotPutBack):
        files = f": {some_names(result.files)}" if result.files else ""
        raise PaddockError(
            f"{branch} was not restored: {result.reason}{files}",
            f"commit or stash what is there, then run `paddock queue restore` again; {branch} was not moved",
        )


def _why_not(pushed: RemoteMoved | Unreachable | Rejected) -> str:
    if isinstance(pushed, RemoteMoved):
        return f"it was moved meanwhile, to {pushed.actual[:10]}" if pushed.actual else "it was deleted meanwhile"
    return pushed.reason


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
