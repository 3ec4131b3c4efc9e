"""`paddock show t3`: one task with its brief and attempts."""

import shlex
import sys
from contextlib import closing

import click

from paddock.cli.options import prints_json
from paddock.cli.pages.attempts import usage_words, work_lines
from paddock.cli.pages.review import review_lines
from paddock.cli.terminal.text import age, badge, clock, cut, paint, plural, print_json
from paddock.cli.workspace import open_workspace
from paddock.core.errors import Misuse
from paddock.core.events import Acceptance
from paddock.core.ids import harmless, is_run, parse_run, parse_task
from paddock.core.nodes.labels import needs_words
from paddock.core.nodes.tenure import node_of
from paddock.core.tasks.task import Attempt, Task
from paddock.core.tasks.vocabulary import Role
from paddock.fleet.landing.unseen_loss import tell_lost_work
from paddock.fleet.nodes.needs import needs_of
from paddock.fleet.task_details import GivenApproval, Reversion, TaskDetails, look_into
from paddock.views.standing import reason_of
from paddock.views.tasks.task import role_words

CI_LINES = 20
ANSWER_LINES = 40


@click.command("show")
@click.argument("task", metavar="TASK|RUN")
@click.option("--prompt", is_flag=True, help="Show the prompt its agent gets.")
@prints_json
@click.pass_context
def show_command(ctx: click.Context, task: str, prompt: bool, as_json: bool) -> None:
    """Show a task with its brief, phase and attempts, or a CI run such as r7."""
    workspace = open_workspace(ctx)
    if is_run(task):
        if prompt:
            raise Misuse(f"`{parse_run(task)}` is a CI run and has no prompt", f"`paddock show {parse_run(task)}`")
        from paddock.cli.pages.stories import tell_run

        tell_run(workspace, parse_run(task), as_json=as_json)
        return
    board = workspace.board()
    tell_lost_work(workspace, board)
    found = board.task(parse_task(task))
    if prompt:
        from paddock.fleet.attempts.reading import preview_prompt

        with closing(workspace.read()) as store:
            text = preview_prompt(workspace.site, store, found)
        click.echo(harmless(text) if sys.stdout.isatty() else text)
        return
    details = look_into(workspace, board, found)
    reason = reason_of(workspace, board, None, found)
    if as_json:
        from paddock.views.tasks.details import view_details

        print_json(view_details(details, board, reason))
        return
    needs = needs_words(needs_of(workspace.config, found))
    parts = (_lines(details, reason, needs), review_lines(details), _answer_lines(details), _attempts_lines(details))
    for line in (line for part in parts for line in part):
        click.echo(line)
    if details.failed_ci is not None:
        from paddock.cli.pages.stories import end_of_run

        for line in end_of_run(workspace.site, (details.failed_ci.run,), CI_LINES):
            click.echo(line)


def _approval(given: GivenApproval) -> str:
    said = f": {' '.join(given.message.split())}" if given.message else ""
    return f"by {given.by} at {clock(given.at)}{said}"


def _reversion(back: Reversion) -> str:
    return f"by {back.by}, {f'landed in {back.commit[:10]}' if back.commit else 'which is in the merge queue'}"


def _lines(details: TaskDetails, reason: str, needs: str) -> list[str]:
    task = details.task
    lines = [f"{paint(task.id, bold=True)}  {cut(task.title, 100)}", f"  {badge(task.phase)} for {age(task.since)}"]
    for name, value in (
        ("because", "" if details.question else reason),
        ("unblock", task.unblock),
        ("agent", task.agent),
        ("engine", task.engine),
        ("kind", task.kind),
        ("role", task.role.value if task.role.only_reads else ""),
        ("labels", ", ".join(task.labels)),
        ("needs", needs),
        ("convoy", task.convoy),
        ("after", ", ".join(task.after)),
        ("inputs", ", ".join(task.inputs)),
        ("forks", task.forks),
        ("before", ", ".join(details.dependents)),
        ("priority", str(task.priority) if task.priority else ""),
        ("paths", ", ".join(task.paths)),
        ("branch", task.branch),
        ("head", task.head),
        ("approved", _approval(details.approval) if details.approval else ""),
        ("comments", f"{len(task.comments)} to send: `paddock comment {task.id}`" if task.comments else ""),
        ("reverted", _reversion(details.reverted) if details.reverted else ""),
        ("attempts", _attempts(task)),
        ("added", clock(task.created)),
    ):
        if value:
            lines.append(f"  {name:<9} {cut(value, 140)}")
    if details.question:
        asked = harmless(details.question).splitlines()
        lines += ["", paint("question", bold=True), *(f"  {cut(line, 400)}" for line in asked)]
    if details.accept is not None:
        lines += _acceptance_lines(details.accept)
    lines += ["", paint("brief", bold=True), *(f"  {cut(line, 400)}".rstrip() for line in details.brief.splitlines())]
    return lines


def _acceptance_lines(accept: Acceptance) -> list[str]:
    """What must pass, and the files that are laid over the change for it."""
    commands = [f"  {cut(shlex.join(words), 200)}" for words in accept.commands]
    files = [f"  with {cut(file.path, 140)} ({plural(len(file.text.splitlines()), 'line')})" for file in accept.files]
    return ["", paint("acceptance", bold=True), *commands, *files]


def _answer_lines(details: TaskDetails) -> list[str]:
    """What a task answered that only reads, or the beginning of it."""
    lines = details.answer.splitlines()
    if not lines:
        return []
    more = [f"  … `paddock results {details.task.id}` shows all of it"] if len(lines) > ANSWER_LINES else []
    name = "findings" if details.task.role is Role.REVIEW else details.task.role.value
    return ["", paint(name, bold=True), *(f"  {cut(line, 400)}".rstrip() for line in lines[:ANSWER_LINES]), *more]


def _attempts_lines(details: TaskDetails) -> list[str]:
    attempts = details.task.attempts
    lines = ["", paint("attempts", bold=True)] if attempts else []
    for attempt in attempts:
        lines += _attempt_lines(attempt)
        lines += work_lines(attempt, details.works[attempt.id], details.stopped.get(attempt.id, ""))
        if changes := details.settings.get(attempt.id):
            lines.append(f"          while it ran, the settings changed: {cut('; '.join(changes), 200)}")
    return lines


def _attempts(task: Task) -> str:
    """Without reviews of its change. A provider's refusal costs none, so more may have started than are allowed."""
    started = task.started - sum(one.role is not task.role for one in task.attempts)
    if started <= task.allowed:
        return f"{started} of {task.allowed}"
    left = max(0, task.allowed - task.counted)
    return f"{started} ({'no retry' if not left else '1 retry' if left == 1 else f'{left} retries'} left)"


def _attempt_lines(attempt: Attempt) -> list[str]:
    took = f"{age(attempt.started, attempt.ended)}" if attempt.ended else f"running for {age(attempt.started)}"
    words = [role_words(attempt), attempt.engine, took, plural(attempt.turn, "turn")]
    if (node := node_of(attempt.host_id)) is not None:
        words.append(f"on {cut(node, 40)}")
    if attempt.commits:
        words.append(plural(attempt.commits, "commit"))
    if attempt.exit is not None:
        words.append(f"exit {attempt.exit}")
    words += usage_words(attempt)
    lines = [f"  {attempt.id:<7} {attempt.outcome or 'running':<11} {' · '.join(filter(None, words))}"]
    if attempt.new_conversation:
        lines.append(f"          started a new conversation: {cut(attempt.new_conversation, 200)}")
    if attempt.reason:
        lines.append(f"          {cut(attempt.reason, 140)}")
    if attempt.causes:
        free = "" if attempt.counted else ", which does not count as its failure"
        lines.append(f"          failed for {', '.join(attempt.causes)}{free}: `paddock failures` says why")
    if attempt.refused:
        asked = ", ".join(f"`{request}`" for request in attempt.refused)
        lines.append(f"          asked for what is not for agents, and was refused: {cut(asked, 100)}")
    return lines
