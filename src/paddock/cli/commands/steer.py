"""`paddock stop` and `paddock message`: talking to agents at work."""

import time
from typing import TYPE_CHECKING, Any

import click

from paddock.cli.options import prints_json
from paddock.cli.selection import go_ahead, parse_tasks, report, takes_tasks, takes_where, wanted_tasks
from paddock.cli.terminal.text import print_document
from paddock.cli.workspace import open_workspace
from paddock.core.errors import Misuse
from paddock.core.intent.selection import Bulk, Selection, select_tasks
from paddock.core.intent.tasks import send_message, stop_tasks
from paddock.core.tasks.task import Phase
from paddock.fleet.bulk import record_each
from paddock.fleet.service.presence import Presence, look_for_daemon

if TYPE_CHECKING:
    from paddock.core.filter.tasks import TaskFilter


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


@click.command("message")
@click.argument("words", nargs=-1, required=True, metavar="[TASKS]… TEXT")
@click.option("--phase", type=click.Choice([phase.value for phase in Phase]), help="Send to all tasks in this phase.")
@click.option("--convoy", help="Send to all tasks of this convoy that have had an agent.")
@takes_where
@prints_json
@click.pass_context
def message_command(
    ctx: click.Context,
    words: tuple[str, ...],
    phase: str | None,
    convoy: str | None,
    where: "TaskFilter | None",
    as_json: bool,
) -> None:
    """Send TEXT to the agents of TASKS, or of all tasks that match. It is delivered as their next turn."""
    workspace = open_workspace(ctx)
    *tasks, text = words
    named = tuple(parse_tasks(tuple(tasks)))
    chosen = Selection(named, convoy=convoy, phase=phase, where=where)
    if named and chosen.in_bulk:
        raise Misuse("task names cannot be combined with --phase, --convoy or --where", "use one or the other")
    names = select_tasks(workspace.board(), chosen, Bulk.MESSAGE)
    if not names:
        raise Misuse(
            "there is no task to send it to", "name tasks before the text, or use --phase, --convoy or --where"
        )
    records = workspace.record(lambda board: send_message(board, names, text))
    if as_json:
        print_document(ids=names, messages=[record.seq for record in records])
    else:
        click.echo(f"queued for {', '.join(names)}; it is delivered as the next turn")
        if look_for_daemon(workspace.board(), time.time()).presence in {Presence.NONE, Presence.GONE}:
            click.echo("\nno daemon is running: `paddock up` or `paddock run` delivers it")
