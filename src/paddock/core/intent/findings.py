"""What people decide about findings: to waive one, to confirm it, to make a task of it."""

from collections.abc import Sequence

from paddock.core.board import Board
from paddock.core.errors import Misuse, NotFound, PaddockError
from paddock.core.events import Draft, TaskBlocked
from paddock.core.ids import printable, task_id
from paddock.core.intent.tasks import Known, choose_agent
from paddock.core.review.events import (
    Claim,
    ConfirmedBy,
    FindingConfirmed,
    FindingReported,
    FindingSettled,
    Settlement,
)
from paddock.core.review.filed_tasks import ReadClaim, file_finding
from paddock.core.review.intake import is_blocking
from paddock.core.review.model import Finding, Status
from paddock.core.routing import Work
from paddock.core.tasks.task import Task
from paddock.core.wording import check_brief

MOST_FILED = 50


def find_finding(board: Board, said: str) -> Finding:
    """Raises NotFound, or Misuse for what cannot be one."""
    name = said.strip().lower()
    if name[:1] != "f" or not name[1:].isdecimal():
        raise Misuse(
            f"`{printable(said, 40)}` is not a finding", "findings look like `f7`; `paddock findings` lists them"
        )
    found = board.reviews.findings.get(name)
    if found is None:
        newest = board.reviews.next_finding - 1
        told = f"the newest is `f{newest}`" if newest else "there are none"
        raise NotFound(f"there is no finding `{name}`: {told}", "`paddock findings list --all` lists them")
    return found


def waive_findings(board: Board, names: Sequence[str], by: str, why: str) -> list[Draft]:
    """They hold nothing up any more; each keeps who waived it, and why."""
    if why:
        check_brief(why, "the reason")
    drafts = []
    waived = list(dict.fromkeys(find_finding(board, name) for name in names))
    for found in waived:
        _require_open(found, "waived")
        head = board.task(found.task).head or found.head
        drafts.append(Draft(FindingSettled(found.id, Settlement.WAIVED, head, by, why), task=found.task))
    freed = dict.fromkeys(found.task for found in waived if found.blocks)
    return drafts + [draft for task in freed for draft in _tell_freed(board, board.task(task), waived)]


def _tell_freed(board: Board, task: Task, waived: Sequence[Finding]) -> list[Draft]:
    """A task that its findings had blocked waits for a person all the same, who is told so."""
    if not task.in_review or not set(board.reviews.blocking_of(task.id)) <= set(waived):
        return []
    return [Draft(TaskBlocked("what blocked it was waived", f"paddock land {task.id}"), task=task.id)]


def confirm_findings(board: Board, names: Sequence[str], why: str) -> list[Draft]:
    """A person says that they are true, whatever became of them: that counts for whoever found them."""
    if why:
        check_brief(why, "the reason")
    drafts = []
    for found in dict.fromkeys(find_finding(board, name) for name in names):
        if ConfirmedBy.PERSON in found.confirmed:
            raise PaddockError(f"`{found.id}` is confirmed already", f"see `paddock findings {found.id}`")
        drafts.append(Draft(FindingConfirmed(found.id, ConfirmedBy.PERSON, why), task=found.task))
    return drafts


def file_findings(board: Board, names: Sequence[str], known: Known, read: ReadClaim) -> list[Draft]:
    """A task for each, for the agent that owns its path. With the task the finding ends; a change that it blocks cannot
    land before."""
    drafts: list[Draft] = []
    for offset, found in enumerate(dict.fromkeys(find_finding(board, name) for name in names)):
        _require_open(found, "filed")
        if found.routed is not None:
            raise PaddockError(
                f"`{found.id}` is the task `{found.routed}` already", f"see `paddock show {found.routed}`"
            )
        drafts += _file(board, board.task(found.task), found.id, read(found.id), offset, known)
    return drafts


def file_reported(board: Board, task: Task, drafts: Sequence[Draft], known: Known) -> list[Draft]:
    """Tasks for what an audit is about to report, as far as it is grave enough to become one."""
    if not task.files:
        return []
    grave = [
        draft.event
        for draft in drafts
        if isinstance(draft.event, FindingReported) and is_blocking(draft.event.claim.severity, task.files)
    ]
    filed: list[Draft] = []
    for offset, event in enumerate(grave[:MOST_FILED]):
        filed += _file(board, task, event.id, event.claim, offset, known)
    return filed


def _file(board: Board, about: Task, name: str, claim: Claim, offset: int, known: Known) -> list[Draft]:
    """For the agent that owns the path; `offset` new tasks come before it."""
    agent = choose_agent(board, Work((claim.path,) if claim.path else ()), known).agent
    return file_finding(about, name, claim, new=task_id(board.next_task + offset), agent=agent)


def _require_open(found: Finding, what: str) -> None:
    if found.status is not Status.OPEN:
        told = f"is {what} already" if what == found.status.value else f"cannot be {what}: it is {found.status.value}"
        raise PaddockError(f"`{found.id}` {told}", f"see `paddock findings {found.id}`")
