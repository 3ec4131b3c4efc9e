"""`paddock failures clear`: a cause is gone, and what was done about it ends."""

import click

from paddock.cli.options import prints_json
from paddock.cli.terminal.text import plural, print_document
from paddock.cli.workspace import open_workspace


@click.command("clear", short_help="Say that a cause is gone; its tasks go on.")
@click.argument("names", nargs=-1, metavar="CAUSE...")
@click.option("-m", "--reason", default="", help="What was done about it; kept in the log.")
@prints_json
@click.pass_context
def clear_command(ctx: click.Context, names: tuple[str, ...], reason: str, as_json: bool) -> None:
    """Say that a cause is gone: the tasks that it blocks go on, and the engine that it stopped may start agents.

    A CAUSE is the id that `paddock failures` and `paddock status` give, such as c7.
    """
    from paddock.core.causes.events import CauseCleared
    from paddock.core.intent.causes import clear_causes

    workspace = open_workspace(ctx)
    before = workspace.board()
    records = workspace.record(lambda board: clear_causes(board, names, reason))
    cleared = [record.event.id for record in records if isinstance(record.event, CauseCleared)]
    tasks = [name for name in before.needy if before.tasks[name].cause in cleared]
    if as_json:
        print_document(ids=cleared, tasks=tasks)
        return
    click.echo(f"cleared: {', '.join(cleared)}")
    if tasks:
        click.echo(f"{plural(len(tasks), 'task')} may go on: {', '.join(tasks[:12])}{' …' if len(tasks) > 12 else ''}")
