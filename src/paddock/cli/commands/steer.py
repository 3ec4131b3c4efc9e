"""`paddock stop`: ends agents at work."""

from typing import Any

import click

from paddock.cli.selection import go_ahead, report, takes_tasks, wanted_tasks
from paddock.cli.workspace import open_workspace
from paddock.core.intent.selection import Bulk, select_tasks
from paddock.core.intent.tasks import stop_tasks
from paddock.fleet.bulk import record_each


@click.command("stop")
@takes_tasks
@click.option("-m", "--message", default="", help="The reason; kept in the log.")
@click.pass_context
def stop_command(ctx: click.Context, /, tasks: tuple[str, ...], message: str, **chosen: Any) -> None:
    """Stop the agents working on TASKS. Their commits stay; `paddock retry` starts them again."""
    wanted, workspace = wanted_tasks(tasks, chosen), open_workspace(ctx)
    board = workspace.board()
    names = select_tasks(board, wanted.tasks, Bulk.STOP)
    if not go_ahead(board, wanted, names, "stop", ask=True):
        return
    records, refused = record_each(workspace, names, lambda board, name: stop_tasks(board, [name], message))
    stopping = [str(record.attempt) for record in records]
    said = f"stopping {', '.join(stopping)}" if stopping else "" if refused else "already stopping"
    report(ctx, wanted, said, {"ids": names, "stopping": stopping}, refused)
