"""`paddock schedule list|show|forecast`: what is due when, what came of it, and what it may cost."""

import time

import click

from paddock.cli.options import prints_json
from paddock.cli.pages.schedules import forecast_lines, list_lines, show_lines
from paddock.cli.terminal.text import print_document, print_json
from paddock.cli.workspace import open_workspace
from paddock.core.errors import Misuse, PaddockError
from paddock.core.intent.schedules import require_schedule
from paddock.fleet.service.presence import Presence, look_for_daemon
from paddock.insight.forecast.forecast import DAYS, MOST_DAYS
from paddock.insight.forecast.outlook import look_ahead, look_at_one
from paddock.views.schedules import SchedulesView, view_outlook, view_schedule_with, view_totals

NONE = 'no schedules; `paddock schedule add "@daily" --task "…"` adds one'


@click.command("list", short_help="List schedules.")
@prints_json
@click.pass_context
def list_command(ctx: click.Context, as_json: bool) -> None:
    """List schedules: when each is due next, what it did last, and what a day of it may cost."""
    now, workspace = time.time(), open_workspace(ctx)
    board = workspace.board()
    view = view_outlook(board, look_ahead(workspace, board, now), now)
    if as_json:
        print_json(view)
        return
    if not view.schedules:
        click.echo(NONE)
        return
    for line in list_lines(view, now):
        click.echo(line)
    is_running = look_for_daemon(board, now).presence is Presence.RUNNING
    if not is_running and any(one.paused is None for one in view.schedules):
        click.echo("no daemon is running, so nothing fires: `paddock up` starts one", err=True)


@click.command("show", short_help="Show one: its times, its work, its last runs, its forecast.")
@click.argument("schedule")
@prints_json
@click.pass_context
def show_command(ctx: click.Context, schedule: str, as_json: bool) -> None:
    """Show SCHEDULE: its times, its work, its last runs, and on what its forecast rests."""
    now, workspace = time.time(), open_workspace(ctx)
    board = workspace.board()
    found = require_schedule(board, schedule)
    view = view_schedule_with(board, found, look_at_one(workspace, board, found, now), now)
    if as_json:
        print_document(schedule=view)
        return
    for line in show_lines(view, found, now):
        click.echo(line)


@click.command("forecast", short_help="Say what each of the next days may cost.")
@click.argument("schedule", required=False)
@click.option("--days", type=int, default=DAYS, show_default=True, help="How many days ahead. Days are in UTC.")
@prints_json
@click.pass_context
def forecast_command(ctx: click.Context, schedule: str | None, days: int, as_json: bool) -> None:
    """Say what each of the next days may cost, with all schedules or with SCHEDULE alone.

    Half of such days stay at or below p50, nine out of ten below p90.
    """
    if not 1 <= days <= MOST_DAYS:
        raise Misuse(f"{days:,} days is not between 1 and {MOST_DAYS}", "a week is the default")
    now, workspace = time.time(), open_workspace(ctx)
    board = workspace.board()
    if schedule is not None:
        found = require_schedule(board, schedule)
        outlook = look_at_one(workspace, board, found, now, days)
        if schedule in outlook.problems:
            raise PaddockError(f"schedule `{schedule}` cannot be forecast: {outlook.problems[schedule]}")
        view = SchedulesView(
            schedules=[view_schedule_with(board, found, outlook, now, with_days=True)],
            total=view_totals(outlook.forecast),
        )
    else:
        view = view_outlook(board, look_ahead(workspace, board, now, days), now, with_days=True)
    if as_json:
        print_json(view)
        return
    if not view.schedules:
        click.echo(NONE)
        return
    for line in forecast_lines(view):
        click.echo(line)
