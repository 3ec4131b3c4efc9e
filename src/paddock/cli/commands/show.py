"""`paddock show t3`: one task with its brief and attempts."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import click

from paddock.cli.attempt_work import look_into, stop_reasons, usage_words, view_all_work, work_lines
from paddock.cli.lostwork import tell_lost_work
from paddock.cli.text import SCHEMA, age, badge, clock, cut, iso, paint, plural, print_json
from paddock.cli.workspace import open_workspace
from paddock.core.board import Board
from paddock.core.errors import Misuse
from paddock.core.events import Record, TaskAdded, TaskApproved, TaskEdited
from paddock.core.ids import harmless, is_run, parse_run, parse_task
from paddock.core.tasks.task import Attempt, Phase, Task
from paddock.fleet.attempts.evidence import Evidence
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import Query, Store

CI_LINES = 20
NO_EVIDENCE = Evidence()


@click.command("show")
@click.argument("task", metavar="TASK|RUN")
@click.option("--prompt", is_flag=True, help="Show the prompt its agent gets.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def show_command(ctx: click.Context, task: str, prompt: bool, as_json: bool) -> None:
    """Show a task with its brief, phase and attempts, or a CI run such as r7."""
    workspace = open_workspace(ctx)
    if is_run(task):
        if prompt:
            raise Misuse(f"`{parse_run(task)}` is a CI run and has no prompt", f"`paddock show {parse_run(task)}`")
        from paddock.cli.ci_story import tell_run

        tell_run(workspace, parse_run(task), as_json=as_json)
        return
    store = workspace.read()
    board = workspace.look(store)
    tell_lost_work(workspace, board)
    found = board.task(parse_task(task))
    if prompt:
        from paddock.fleet.attempts.prompts import preview_prompt

        text = preview_prompt(workspace.site, store, found)
        click.echo(harmless(text) if sys.stdout.isatty() else text)
        return
    brief = brief_of(store.record(found.brief_seq))
    dependents = list(board.dependents.get(found.id, ()))
    works, stopped = look_into(workspace, found), stop_reasons(workspace, found)
    approval = _approval_of(store, found)
    store.close()
    failed = _failed_run(board, found)
    if as_json:
        more = {
            "failed_ci": _ci_view(workspace, failed),
            "work": view_all_work(works, stopped),
            "approval": approval.view if approval else None,
        }
        _print_json(found, brief, dependents, more)
        return
    for line in (*_lines(found, brief, dependents, approval), *_attempts_lines(found, works, stopped)):
        click.echo(line)
    if failed is not None:
        from paddock.cli.ci_story import end_of_run

        for line in end_of_run(workspace.site, (failed,), CI_LINES):
            click.echo(line)


def _failed_run(board: Board, task: Task) -> str | None:
    if task.phase not in (Phase.QUEUED, Phase.BLOCKED):
        return None
    from paddock.cli.ci_story import failed_run

    return failed_run(board.queue, task)


def _ci_view(workspace: Workspace, failed: str | None) -> dict[str, object] | None:
    if failed is None:
        return None
    from paddock.fleet.landing.ci_output import last_lines

    return {"run": failed, "output": last_lines(workspace.site, failed).splitlines()}


@dataclass(frozen=True, slots=True)
class GivenApproval:
    """Who agreed to the commit that counts as approved, when, and with which words; those are only in the log."""

    by: str
    at: float
    message: str

    def __str__(self) -> str:
        said = f": {' '.join(self.message.split())}" if self.message else ""
        return f"by {self.by} at {clock(self.at)}{said}"

    @property
    def view(self) -> dict[str, object]:
        return {"by": self.by, "at": iso(self.at), "message": self.message}


def _approval_of(store: Store, task: Task) -> GivenApproval | None:
    given = None
    if task.approved is not None:
        for record in store.records(Query(task=task.id, kind=TaskApproved.kind)):
            if isinstance(record.event, TaskApproved) and record.event.head == task.approved:
                given = GivenApproval(record.actor, record.at, record.event.message)
    return given


def brief_of(record: Record) -> str:
    event = record.event
    assert isinstance(event, TaskAdded | TaskEdited)
    return event.brief if isinstance(event.brief, str) else ""


def _print_json(task: Task, brief: str, dependents: Sequence[str], more: Mapping[str, object]) -> None:
    import msgspec

    from paddock.cli.views import view_task

    view = msgspec.to_builtins(view_task(task))
    print_json({"schema": SCHEMA, **view, "brief": brief, "dependents": dependents, **more})


def _lines(task: Task, brief: str, dependents: Sequence[str], approval: GivenApproval | None) -> list[str]:
    lines = [f"{paint(task.id, bold=True)}  {cut(task.title, 100)}", f"  {badge(task.phase)} for {age(task.since)}"]
    for name, value in (
        ("because", task.reason),
        ("unblock", task.unblock),
        ("agent", task.agent),
        ("engine", task.engine),
        ("kind", task.work),
        ("convoy", task.convoy),
        ("after", ", ".join(task.after)),
        ("before", ", ".join(dependents)),
        ("priority", str(task.priority) if task.priority else ""),
        ("paths", ", ".join(task.paths)),
        ("branch", task.branch),
        ("head", task.head),
        ("approved", str(approval) if approval else ""),
        ("attempts", f"{task.started} of {task.allowed}" if task.started <= task.allowed else ""),
        ("attempt", _beyond(task) if task.started > task.allowed else ""),
        ("added", clock(task.created)),
    ):
        if value:
            lines.append(f"  {name:<9} {cut(value, 140)}")
    lines += ["", paint("brief", bold=True), *(f"  {cut(line, 400)}" for line in brief.splitlines())]
    return lines


def _attempts_lines(task: Task, works: Mapping[str, Evidence], stopped: Mapping[str, str]) -> list[str]:
    lines = ["", paint("attempts", bold=True)] if task.attempts else []
    for attempt in task.attempts:
        lines += _attempt_lines(attempt)
        lines += work_lines(attempt, works.get(attempt.id, NO_EVIDENCE), stopped.get(attempt.id, ""))
    return lines


def _beyond(task: Task) -> str:
    """A provider's refusal costs no attempt, so more may have started than are allowed."""
    left = task.allowed - task.counted
    return f"{task.started} ({'no retry' if not left else '1 retry' if left == 1 else f'{left} retries'} left)"


def _attempt_lines(attempt: Attempt) -> list[str]:
    took = f"{age(attempt.started, attempt.ended)}" if attempt.ended else f"running for {age(attempt.started)}"
    words = [attempt.engine, took, plural(attempt.turn, "turn")]
    if attempt.commits:
        words.append(plural(attempt.commits, "commit"))
    if attempt.exit is not None:
        words.append(f"exit {attempt.exit}")
    words += usage_words(attempt)
    lines = [f"  {attempt.id:<7} {attempt.outcome or 'running':<11} {' · '.join(words)}"]
    if attempt.new_conversation:
        lines.append(f"          started a new conversation: {cut(attempt.new_conversation, 200)}")
    if attempt.reason:
        lines.append(f"          {cut(attempt.reason, 140)}")
    return lines
