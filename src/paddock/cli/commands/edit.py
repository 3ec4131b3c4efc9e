"""`paddock edit`, `retry` and `cancel`: people change what is to be done."""

from typing import Any

import click
from msgspec import UNSET

from paddock.cli.acceptance import read_accept_options, takes_acceptance
from paddock.cli.options import prints_json
from paddock.cli.selection import Wanted, go_ahead, parse_tasks, report, takes_tasks, wanted_tasks
from paddock.cli.terminal.text import print_document
from paddock.cli.workspace import open_workspace
from paddock.core.errors import Misuse
from paddock.core.events import Record, TaskEdited
from paddock.core.ids import parse_task
from paddock.core.intent.queue import branches_among
from paddock.core.intent.selection import Bulk, RefusedTask, select_tasks
from paddock.core.intent.tasks import cancel_tasks, edit_task, retry_tasks
from paddock.core.wording import split_list
from paddock.fleet.bulk import record_each


@click.command("edit")
@click.argument("task")
@click.option("--title")
@click.option("--brief", help="The new brief; replaces the old one.")
@click.option("--agent", help="The new agent; empty for none.")
@click.option("--engine", help="The new engine; empty for the agent's or the default one.")
@click.option("--kind", help="The new kind; its agent becomes the one that takes this kind. Empty for none.")
@click.option("--after", metavar="t3,t5-t7", help="The complete list of tasks it waits for; empty for none.")
@click.option("--priority", type=int)
@click.option("--paths", metavar="GLOB,GLOB", help="The complete list of paths it may change; empty for any.")
@click.option("--labels", metavar="LABEL,LABEL", help="The complete list of its labels; empty for none.")
@click.option(
    "--needs", metavar="LABEL,LABEL", help="All that its machine must have: gpu, os=linux; empty for nothing."
)
@click.option("--attempts", type=int)
@takes_acceptance(" Replaces what was to be accepted before; empty removes it.")
@prints_json
@click.pass_context
def edit_command(
    ctx: click.Context,
    task: str,
    title: str | None,
    brief: str | None,
    agent: str | None,
    engine: str | None,
    kind: str | None,
    after: str | None,
    priority: int | None,
    paths: str | None,
    labels: str | None,
    needs: str | None,
    attempts: int | None,
    accept: tuple[str, ...],
    accept_file: tuple[str, ...],
    as_json: bool,
) -> None:
    """Change TASK. Only the options you give change anything."""
    workspace = open_workspace(ctx)
    edit = TaskEdited(
        title=UNSET if title is None else title,
        brief=UNSET if brief is None else brief,
        agent=UNSET if agent is None else agent or None,
        engine=UNSET if engine is None else engine or None,
        after=UNSET if after is None else tuple(parse_tasks((after,))),
        priority=UNSET if priority is None else priority,
        paths=UNSET if paths is None else split_list(paths),
        labels=UNSET if labels is None else split_list(labels),
        needs=UNSET if needs is None else split_list(needs),
        attempts=UNSET if attempts is None else attempts,
        task_kind=UNSET if kind is None else kind or None,
        accept=read_accept_options(ctx, workspace, tuple(filter(None, accept)), tuple(filter(None, accept_file)))
        if accept or accept_file
        else UNSET,
    )
    name, known = parse_task(task), workspace.known
    records = workspace.record(lambda board: edit_task(board, name, edit, known))
    if as_json:
        print_document(ids=[name], seq=records[-1].seq)
    else:
        click.echo(f"edited {name}")


@click.command("retry")
@takes_tasks
@click.option("--attempts", type=int, default=1, show_default=True, help="How many more attempts each task gets.")
@click.option("-m", "--message", default="", help="The reason; kept in the log.")
@click.pass_context
def retry_command(ctx: click.Context, /, tasks: tuple[str, ...], attempts: int, message: str, **chosen: Any) -> None:
    """Retry TASKS that failed, are blocked, were cancelled, or whose result you do not want.

    With --all, --convoy or --where: those that failed or are blocked. A branch that was queued by name is tested
    again; the results of earlier runs no longer count.
    """
    workspace = open_workspace(ctx)
    board = workspace.board()
    if branches := branches_among(board, tasks):
        from paddock.cli.commands.land import retry_branches

        wanted = wanted_tasks((), chosen, others=True)
        if wanted.tasks.in_bulk:
            raise Misuse("branch names cannot be combined with --all, --convoy or --where", "use one or the other")
        retry_branches(ctx, workspace, branches, message, wanted)
        return
    wanted = wanted_tasks(tasks, chosen)
    names = select_tasks(board, wanted.tasks, Bulk.RETRY)
    if not go_ahead(board, wanted, names, "retry"):
        return
    records, refused = record_each(workspace, names, lambda board, name: retry_tasks(board, [name], attempts, message))
    _report(ctx, wanted, "will retry", records, refused)


@click.command("cancel")
@takes_tasks
@click.option("-m", "--message", default="", help="The reason; kept in the log.")
@click.pass_context
def cancel_command(ctx: click.Context, /, tasks: tuple[str, ...], message: str, **chosen: Any) -> None:
    """Cancel TASKS. A running agent is stopped; its commits stay on its branch."""
    wanted, workspace = wanted_tasks(tasks, chosen), open_workspace(ctx)
    board = workspace.board()
    names = select_tasks(board, wanted.tasks, Bulk.CANCEL)
    if not go_ahead(board, wanted, names, "cancel", ask=True):
        return
    records, refused = record_each(workspace, names, lambda board, name: cancel_tasks(board, [name], message))
    gone = {record.task for record in records}
    waiting = [task.id for task in workspace.board().open_tasks() if task.blocked_on in gone]
    _report(ctx, wanted, "cancelled", records, refused, f"\nnow blocked: {', '.join(waiting)}" if waiting else "")


def _report(
    ctx: click.Context, wanted: Wanted, verb: str, records: list[Record], refused: list[RefusedTask], more: str = ""
) -> None:
    names = [str(record.task) for record in records]
    said = f"{verb} {', '.join(names)}{more}" if names else ""
    report(ctx, wanted, said, {"ids": names, "seq": records[-1].seq if records else None}, refused)
