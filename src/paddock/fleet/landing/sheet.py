"""All that a person needs to decide about a change: what was asked for, what was done, who has looked, what is held
against it."""

from contextlib import closing
from dataclasses import dataclass

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.intent.drafted_comments import DraftedComment
from paddock.core.review.events import Claim
from paddock.core.review.model import Checked, Finding, Opinion
from paddock.core.review.waiting import is_ready
from paddock.core.tasks.task import Task
from paddock.fleet.attempts.prompts import read_brief
from paddock.fleet.landing.entrance import look_at
from paddock.fleet.landing.examination import Examined, subject_of
from paddock.fleet.line_comments import read_drafted
from paddock.fleet.review.claims import read_claims
from paddock.fleet.workspace import Workspace
from paddock.git.facts import DiffStat, diffstat
from paddock.store.protocol import Store


@dataclass(frozen=True, slots=True)
class Sheet:
    """`opinions` and `checks` are of this very version. `problem` says why it could not be examined: without a CI, say,
    nothing can land. `cost_usd` is of all attempts, reviews included; None if no price is known."""

    task: Task
    head: str
    brief: str
    ready: bool
    examined: Examined
    problem: str
    size: DiffStat
    findings: tuple[tuple[Finding, Claim], ...]
    opinions: tuple[Opinion, ...]
    checks: tuple[Checked, ...]
    round: int
    cost_usd: float | None
    comments: tuple[DraftedComment, ...]

    @property
    def blocking(self) -> tuple[Finding, ...]:
        return tuple(one for one, _ in self.findings if one.blocks)


def make_sheet(workspace: Workspace, board: Board, task: Task) -> Sheet:
    """Raises PaddockError if the task has delivered nothing."""
    if task.head is None:
        raise PaddockError(
            f"task `{task.id}` {task.phase.words}: there is nothing to review", f"see `paddock show {task.id}`"
        )
    review = board.reviews.of(task.id)
    with closing(workspace.read()) as store:
        examined, problem = _examine(workspace, store, task, task.head)
        brief, comments = read_brief(store, task), read_drafted(store, task)
        findings = tuple(read_claims(store, board.reviews.findings_of(task.id)))
    costs = [one.cost_usd for one in task.attempts if one.cost_usd is not None]
    return Sheet(
        task=task,
        head=task.head,
        brief=brief,
        ready=is_ready(board, task) and not problem and not examined.needs_person,
        examined=examined,
        problem=problem,
        size=_size(workspace, task, task.head),
        findings=findings,
        opinions=tuple(one for one in review.opinions if one.head == task.head),
        checks=tuple(one for one in review.checks if one.head == task.head),
        round=review.round,
        cost_usd=sum(costs) if costs else None,
        comments=comments,
    )


def _examine(workspace: Workspace, store: Store, task: Task, head: str) -> tuple[Examined, str]:
    try:
        return look_at(workspace.site, subject_of(store, task, head)), ""
    except PaddockError as error:
        return Examined(), error.message


def _size(workspace: Workspace, task: Task, head: str) -> DiffStat:
    base = task.base
    known = base is not None and workspace.repo.resolve(base) is not None and workspace.repo.resolve(head) is not None
    return diffstat(workspace.repo, base, head) if base is not None and known else DiffStat()
