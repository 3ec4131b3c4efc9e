"""Takes a landed change back: its reverse is put on a branch of its own, queued and tested like any other change."""

from dataclasses import dataclass

from paddock.core.errors import PaddockError
from paddock.core.ids import harmless, printable, some_names
from paddock.core.intent.reverts import LandedChange, blame_review, landed_to_revert
from paddock.core.review.events import FindingConfirmed, ReviewMissed, ReviewPassed
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.landing.approval import ApprovalRequest, Approved, approve
from paddock.fleet.landing.entrance import main_tip
from paddock.fleet.workspace import Workspace
from paddock.git.landing.reverse import LandedSpan, NoReverse, find_span, write_reverse
from paddock.git.landing.workbench import is_plain_identity, open_workbench, paddock_at
from paddock.git.repo import ABSENT, RefMove
from paddock.store.protocol import Query

MOST_BRANCHES = 20
WHY_CHARS = 2000


@dataclass(frozen=True, slots=True)
class Reverted:
    """`missed` are the reviewers that had passed it, `confirmed` the findings that nobody had heeded."""

    of: str
    branch: str
    approved: Approved
    missed: tuple[str, ...] = ()
    confirmed: tuple[str, ...] = ()


def revert(workspace: Workspace, said: str, why: str = "", *, repairs: bool = False) -> Reverted:
    """Queues the reverse of a landed change, approved by whoever asks. That they ask is what counts against its
    reviewers: whether the reverse passes its tests says nothing about them.

    Raises PaddockError where there is nothing to take back, or later work stands in the way.
    """
    board = workspace.board()
    change = landed_to_revert(board, said)
    span = _find(workspace, change)
    branch, commit = _put_on_branch(workspace, change, span, why)
    blame = blame_review(board, change, _reviewers(workspace, change, span), printable(why, WHY_CHARS))
    checkpoint("revert.made")
    request = ApprovalRequest(
        branches=(branch,), message=why, repairs=repairs, undo=True, reverts=change.id, along=tuple(blame)
    )
    try:
        approved = approve(workspace, request)
    except PaddockError:
        workspace.repo.move_refs((RefMove(f"refs/heads/{branch}", ABSENT, commit),), "paddock: revert")
        raise
    events = [draft.event for draft in blame]
    missed = next((one.by for one in events if isinstance(one, ReviewMissed)), ())
    return Reverted(
        change.id, branch, approved, missed, tuple(one.id for one in events if isinstance(one, FindingConfirmed))
    )


def _find(workspace: Workspace, change: LandedChange) -> LandedSpan:
    main = main_tip(workspace.site)
    span = find_span(open_workbench(workspace.repo), main, change.id)
    if span is None:
        raise PaddockError(
            f"{workspace.config.landing_branch} at `{main[:10]}` has no commit that landed `{change.id}`",
            f"`paddock queue why {change.id}` shows how it landed; `git revert` takes back a commit of your choice",
        )
    return span


def _put_on_branch(workspace: Workspace, change: LandedChange, span: LandedSpan, why: str) -> tuple[str, str]:
    repo, main = workspace.repo, main_tip(workspace.site)
    wish = change.branch
    names = (wish, *(f"{wish}-{number}" for number in range(2, MOST_BRANCHES + 1)))
    branch = next((name for name in names if repo.resolve(f"refs/heads/{name}") is None), None)
    if branch is None:
        raise PaddockError(f"there are {MOST_BRANCHES} branches `{wish}…` already", "delete some of those branches")
    written = write_reverse(open_workbench(repo), main, span, _author(workspace), _message(change, span, why))
    if isinstance(written, NoReverse):
        raise _refusal(workspace, change, span, written)
    if not repo.move_refs((RefMove(f"refs/heads/{branch}", written, ABSENT),), "paddock: revert"):
        raise PaddockError(f"somebody has just made the branch `{branch}`", f"run `paddock revert {change.id}` again")
    return branch, written


def _refusal(workspace: Workspace, change: LandedChange, span: LandedSpan, found: NoReverse) -> PaddockError:
    branch = workspace.config.landing_branch
    if not found.paths:
        return PaddockError(f"{branch} has nothing of `{change.id}` any more", "there is nothing left to revert")
    commits = f"-m 1 {span.after[:10]}" if _is_merge(workspace, span) else f"{span.before[:10]}..{span.after[:10]}"
    return PaddockError(
        f"`{change.id}` cannot be reverted by itself: later work changed the same lines in {some_names(found.paths)}",
        f"revert the later change first; or run `git revert {commits}` on a branch of yours, resolve the conflict, and "
        "then `paddock land --branch NAME --undo`",
    )


def _is_merge(workspace: Workspace, span: LandedSpan) -> bool:
    (facts,) = open_workbench(workspace.repo).read_commits((span.after,))
    return facts is not None and len(facts.parents) > 1


def _author(workspace: Workspace) -> bytes:
    """Who asks, as git knows them."""
    known = workspace.repo.git("var", "GIT_AUTHOR_IDENT", check=False)
    told = known.stdout.strip(b"\n")
    return told if known.ok and is_plain_identity(told) else paddock_at(int(workspace.site.clock.now()))


def _message(change: LandedChange, span: LandedSpan, why: str) -> str:
    reason = f"{harmless(why).strip()}\n\n" if why.strip() else ""
    version = f"{change.id}@v{span.member.version}"
    title = printable(" ".join(change.title.split()), 100)
    return f"Revert {change.id}: {title}\n\n{reason}This takes back {version}, which landed in {span.after}.\n"


def _reviewers(workspace: Workspace, change: LandedChange, span: LandedSpan) -> tuple[str, ...]:
    """Who passed exactly what landed; none if they are known already to have missed something in it."""
    if change.task is None:
        return ()
    found: tuple[str, ...] = ()
    for record in workspace.records(Query(task=change.task, kind="review.*")):
        match record.event:
            case ReviewPassed(head=head, by=by) if head == span.member.head:
                found = by
            case ReviewMissed():
                found = ()
    return found
