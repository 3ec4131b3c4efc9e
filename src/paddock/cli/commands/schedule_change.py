"""`paddock schedule run|pause|resume|remove`."""

import click

from paddock.cli.options import prints_json
from paddock.cli.terminal.text import cut, print_document
from paddock.cli.workspace import open_workspace
from paddock.core.events import TaskAdded
from paddock.core.intent.schedules import pause_schedule, remove_schedule, resume_schedule
from paddock.fleet.schedules.requests import run_now


@click.command("run", short_help="Run one now.")
@click.argument("schedule")
@prints_json
@click.pass_context
def run_command(ctx: click.Context, schedule: str, as_json: bool) -> None:
    """Run SCHEDULE now, whenever it is due; also one that is paused."""
    records = run_now(open_workspace(ctx), schedule)
    added = [(record.task, record.event) for record in records if isinstance(record.event, TaskAdded)]
    if as_json:
        convoy = next((event.convoy for _, event in added), None)
        print_document(ids=[name for name, _ in added], convoy=convoy, seq=records[-1].seq)
        return
    for name, event in added:
        click.echo(f"added {name}  {cut(event.title, 80)}")


@click.command("pause", short_help="Stop one from firing.")
@click.argument("schedule")
@click.option("-m", "--message", default="", help="Why; kept in the log.")
@click.pass_context
def pause_command(ctx: click.Context, schedule: str, message: str) -> None:
    """Stop SCHEDULE from firing until it is resumed. Its tasks go on."""
    open_workspace(ctx).record(lambda board: pause_schedule(board, schedule, message))
    click.echo(f"paused schedule {schedule}: `paddock schedule resume {schedule}` lets it go on")


@click.command("resume", short_help="Let one fire again.")
@click.argument("schedule")
@click.pass_context
def resume_command(ctx: click.Context, schedule: str) -> None:
    """Let SCHEDULE fire again, from its next time on. Times that went by meanwhile are forgotten."""
    open_workspace(ctx).record(lambda board: resume_schedule(board, schedule))
    click.echo(f"resumed schedule {schedule}")


@click.command("remove", short_help="Remove one; its tasks stay.")
@click.argument("schedule")
@click.option("-m", "--message", default="", help="Why; kept in the log.")
@click.pass_context
def remove_command(ctx: click.Context, schedule: str, message: str) -> None:
    """Remove SCHEDULE. Tasks that it has added stay."""
    open_workspace(ctx).record(lambda board: remove_schedule(board, schedule, message))
    click.echo(f"removed schedule {schedule}; its tasks stay")
