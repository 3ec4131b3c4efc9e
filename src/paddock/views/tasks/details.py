"""A task with everything known about its attempts, and their turns line by line, as JSON."""

import msgspec

from paddock.core.board import Board
from paddock.core.ids import harmless
from paddock.core.trace import TraceEntry
from paddock.fleet.attempts.evidence import Evidence, TouchedFile
from paddock.fleet.attempts.openings import Opening, TurnInput
from paddock.fleet.task_details import TaskDetails
from paddock.views.document import SCHEMA, document, iso, view_of
from paddock.views.findings import view_check, view_finding, view_verdict
from paddock.views.tasks.task import view_task


class WorkView(msgspec.Struct, frozen=True):
    """`stopped` says who stopped the attempt, and the reason given."""

    worktree: str | None
    files: tuple[TouchedFile, ...]
    tool_calls: dict[str, int]
    last_error: str
    stderr: list[str]
    stopped: str


class ApprovalView(msgspec.Struct, frozen=True):
    by: str
    at: str
    message: str


class ReversionView(msgspec.Struct, frozen=True):
    """The change that takes the task's change back: in the queue, or `landed` in `commit`."""

    by: str
    landed: bool
    commit: str | None


def view_details(details: TaskDetails, board: Board, reason: str) -> dict[str, object]:
    """The task as `status` has it, and more."""
    given, back = details.approval, details.reverted
    view = msgspec.to_builtins(view_task(details.task, board, reason))
    return document(
        **view,
        brief=details.brief,
        answer=details.answer,
        dependents=details.dependents,
        failed_ci=details.failed_ci,
        work={name: _view_work(work, details.stopped.get(name, "")) for name, work in details.works.items()},
        settings_changed=details.settings,
        accept=details.accept,
        approval=view_of(ApprovalView, given, at=iso(given.at)) if given is not None else None,
        comments=len(details.task.comments),
        reverted=ReversionView(back.by, bool(back.commit), back.commit or None) if back is not None else None,
        question=harmless(details.question),
        findings=[view_finding(*one) for one in details.findings],
        verdicts=[view_verdict(one) for one in details.review.opinions],
        checks=[view_check(one) for one in details.review.checks],
        round=details.review.round,
    )


def _view_work(work: Evidence, stopped: str) -> WorkView:
    return view_of(
        WorkView,
        work,
        worktree=work.worktree or None,
        tool_calls=dict(work.tools),
        last_error=harmless(work.last_error),
        stderr=[harmless(line) for line in work.stderr],
        stopped=stopped,
    )


class OpeningView(msgspec.Struct, frozen=True, tag_field="type", tag="turn"):
    turn: int
    at: str
    said: list[TurnInput]
    schema: int = SCHEMA


def view_opening(opening: Opening) -> OpeningView:
    said = [TurnInput(one.by, one.what, harmless(one.text)) for one in opening.said]
    return OpeningView(opening.turn, iso(opening.at), said)


def view_entry(entry: TraceEntry, at: float | None) -> dict[str, object]:
    """`at` is None if unknown."""
    known = {"at": iso(at)} if at is not None else {}
    return {**msgspec.to_builtins(entry), **known, "schema": SCHEMA}
