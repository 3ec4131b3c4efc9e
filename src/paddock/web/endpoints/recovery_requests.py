"""What can be asked where something went wrong: put back main or what others undid, take back what landed, and open a
conflict to resolve."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from paddock.core.errors import Misuse
from paddock.core.intent.landing import conflict_to_resolve
from paddock.core.tasks.conversations import find_homes
from paddock.fleet.landing.approval import ApprovalRequest, approve
from paddock.fleet.landing.conflicts import open_to_resolve
from paddock.fleet.landing.restoration import contested_words, find_undone, how_to_settle, make_branch, restore_main
from paddock.fleet.landing.reverts import revert
from paddock.views.document import Document
from paddock.web.endpoint import Asked, NoBody, NoQuery, Visit
from paddock.web.endpoints.answers import Text
from paddock.web.endpoints.approvals import QueuedView, view_queued


class RestoreBody(Asked, frozen=True):
    """Without `commit`, main goes back to the last commit that passed its tests. `commit` is one that undid landed
    work, or the beginning of it: what it undid is queued. With `dismiss` it was intended, and is not mentioned again.
    """

    commit: Annotated[str, Meta(pattern="^[0-9a-fA-F]{4,64}$")] | None = None
    dismiss: bool = False


class RestoreAnswer(Document, frozen=True, kw_only=True):
    """`main` is where it is again, `tested` whether that commit was, `old` where it was, and `kept` the ref that holds
    that. Or `queued` is the branch with what a commit undid; `contested` says what of it is left to you. Or
    `dismissed` is the commit."""

    main: str | None = None
    tested: bool | None = None
    old: str | None = None
    kept: str | None = None
    queued: Sequence[QueuedView] = ()
    contested: str = ""
    dismissed: str | None = None


def restore(visit: Visit[NoQuery, RestoreBody]) -> RestoreAnswer:
    workspace, body = visit.workspace, visit.body
    if body.commit is None:
        if body.dismiss:
            raise Misuse("`dismiss` needs a `commit`", "`GET /queue` names those that undid landed work: `undone`")
        done = restore_main(workspace)
        return RestoreAnswer(main=done.commit, tested=done.tested, old=done.old, kept=done.kept or None)
    work = find_undone(workspace, body.commit, dismiss=body.dismiss)
    if body.dismiss:
        return RestoreAnswer(dismissed=work.commit)
    queued = approve(workspace, ApprovalRequest(branches=(make_branch(workspace, work),), undo=True))
    contested = f"{contested_words(work)}; {how_to_settle(work)}" if work.contested else ""
    return RestoreAnswer(queued=view_queued(queued), contested=contested)


class RevertBody(Asked, frozen=True):
    """`message` says why. What is a `repair` of main is tested although main is red."""

    message: Text = ""
    repair: bool = False


class RevertAnswer(Document, frozen=True, kw_only=True):
    """The reverse of the change `reverts` is `queued`, on `branch`. The reviewers `missed` had passed it; the findings
    `confirmed` had been waived or refuted."""

    reverts: str
    branch: str
    missed: Sequence[str]
    confirmed: Sequence[str]
    queued: Sequence[QueuedView]


def revert_change(visit: Visit[NoQuery, RevertBody]) -> RevertAnswer:
    done = revert(visit.workspace, visit.path["id"], visit.body.message, repairs=visit.body.repair)
    queued = view_queued(done.approved)
    return RevertAnswer(
        reverts=done.of, branch=done.branch, missed=done.missed, confirmed=done.confirmed, queued=queued
    )


class ResolveAnswer(Document, frozen=True, kw_only=True):
    """`worktree` merges main into `branch`: resolve the `conflicts` there, commit, then run `then`."""

    id: str
    branch: str
    worktree: str
    conflicts: list[str]
    then: str


def resolve(visit: Visit[NoQuery, NoBody]) -> ResolveAnswer:
    workspace = visit.workspace
    board = workspace.board()
    found = conflict_to_resolve(board, visit.path["id"])
    path, conflicts = open_to_resolve(workspace.site, found, find_homes(board))
    return ResolveAnswer(id=found.id, branch=found.branch, worktree=path, conflicts=conflicts, then=found.then)
