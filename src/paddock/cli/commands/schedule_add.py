"""`paddock schedule add`: forecast first, then saved."""

import time

import click

from paddock.cli.options import DURATION, prints_json
from paddock.cli.pages.schedules import excess_lines, judgement_lines, when_words
from paddock.cli.terminal.text import cut, paint, print_document
from paddock.cli.workspace import open_workspace
from paddock.core.errors import Misuse
from paddock.core.ids import printable
from paddock.core.schedules.events import CatchUp, Overlap, ScheduleAdded
from paddock.core.wording import split_lists
from paddock.fleet.schedules.requests import (
    PreparedSchedule,
    WantedSchedule,
    prepare_schedule,
    read_variable,
    read_wanted,
    record_schedule,
)
from paddock.fleet.service.presence import Presence, look_for_daemon
from paddock.fleet.workspace import Workspace
from paddock.insight.forecast.outlook import Judgement, judge, require_room
from paddock.views.schedules import view_excess, view_forecast, view_schedule


@click.command("add", short_help="Add a schedule, and say what it may cost.")
@click.argument("cron")
@click.option("--workflow", metavar="NAME", help="Run this workflow; `paddock workflow list` lists them.")
@click.option("--plan", metavar="GOAL", help="Let a planner turn this goal into a plan, for you to accept.")
@click.option("--task", metavar="BRIEF", help="Add a task with this brief.")
@click.option("--name", help="Its name. Default: the workflow's, or a few words of the work.")
@click.option("--tz", metavar="ZONE", help="The time zone of its clock, such as Europe/Berlin. Default: the machine's.")
@click.option("--jitter", type=DURATION, default=0.0, metavar="10m", help="Fire up to so much later, spread evenly.")
@click.option(
    "--catch-up",
    type=click.Choice([one.value for one in CatchUp]),
    default=CatchUp.ONCE.value,
    show_default=True,
    help="Times that went by without a daemon: forget them, run once for all, or once for each of the last 24.",
)
@click.option(
    "--overlap",
    type=click.Choice([one.value for one in Overlap]),
    default=Overlap.SKIP.value,
    show_default=True,
    help="A time that comes while tasks of an earlier one are unfinished: leave it out, or wait for them.",
)
@click.option("--budget", type=float, metavar="USD", help="What it may cost a day, in dollars.")
@click.option("-v", "--var", "variables", multiple=True, metavar="NAME=VALUE", help="A variable of the workflow.")
@click.option("--title", help="A one-line title of the task.")
@click.option("--agent", help="The agent that does it; `paddock agents` lists them.")
@click.option("--engine", help="The engine that runs it; of a workflow, for steps that name none.")
@click.option("--kind", help="The kind of work of the task.")
@click.option("--label", multiple=True, metavar="LABEL", help="A label of its tasks. Can be repeated.")
@click.option("--paths", multiple=True, metavar="GLOB", help="Paths that its tasks may change. Can be repeated.")
@click.option("--force", is_flag=True, help="Add it although its forecast is above a budget. The log says so.")
@click.option("-m", "--message", default="", help="With --force: why. Kept in the log.")
@click.option("--dry-run", is_flag=True, help="Show the forecast, and add nothing.")
@prints_json
@click.pass_context
def add_command(
    ctx: click.Context,
    cron: str,
    workflow: str | None,
    plan: str | None,
    task: str | None,
    name: str | None,
    tz: str | None,
    jitter: float,
    catch_up: str,
    overlap: str,
    budget: float | None,
    variables: tuple[str, ...],
    title: str | None,
    agent: str | None,
    engine: str | None,
    kind: str | None,
    label: tuple[str, ...],
    paths: tuple[str, ...],
    force: bool,
    message: str,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Add a schedule that is due at CRON: `minute hour day month weekday`, or a word such as `@daily`.

    What a day of it may cost is shown first. If nine out of ten days would not stay below its budget, or below the
    day's (`paddock budget set day`), it is refused, with sparser times that would fit.
    """
    if message and not force:
        raise Misuse("--message is the reason for --force, which was not given", "omit it")
    now, workspace = time.time(), open_workspace(ctx)
    wanted = WantedSchedule(
        cron=cron,
        workflow=workflow,
        plan=plan,
        task=task,
        zone=tz,
        name=name,
        variables=dict(map(read_variable, variables)),
        title=title,
        agent=agent,
        engine=engine,
        kind=kind,
        labels=split_lists(label),
        paths=split_lists(paths),
        jitter_seconds=jitter,
        catch_up=CatchUp(catch_up),
        overlap=Overlap(overlap),
        budget_usd=budget,
    )
    board, request = workspace.board(), read_wanted(wanted)
    prepared = prepare_schedule(workspace, board, request)
    judgement = judge(workspace, board, prepared, now)
    if not as_json:
        click.echo(f"{paint(cut(prepared.name, 60), bold=True)}  {when_words(request.cron, request.zone)}")
        for line in (*judgement_lines(judgement), *(excess_lines(judgement) if dry_run else ())):
            click.echo(line)
    elif dry_run:
        over = None if judgement.excess is None else view_excess(judgement.excess, judgement.thinning)
        print_document(name=prepared.name, forecast=view_forecast(judgement.forecast, with_days=True), over=over)
    if dry_run:
        return
    if not force:
        require_room(judgement, prepared.name)
    _add(workspace, prepared, judgement, message, now, as_json=as_json)


def _add(
    workspace: Workspace, prepared: PreparedSchedule, judgement: Judgement, message: str, now: float, *, as_json: bool
) -> None:
    reason = printable(f"{judgement.words}{f': {message}' if message else ''}", 500) if judgement.excess else ""
    records = record_schedule(workspace, prepared, reason)
    [added] = [record.event for record in records if isinstance(record.event, ScheduleAdded)]
    board = workspace.board()
    if as_json:
        view = view_schedule(board, board.schedules.by_name[added.name], now)
        forecast = view_forecast(judgement.forecast)
        print_document(name=added.name, next=view.next, forecast=forecast, forced=reason, seq=records[-1].seq)
        return
    click.echo(f"added schedule {added.name}{f', although {reason}' if reason else ''}")
    if look_for_daemon(board, now).presence is not Presence.RUNNING:
        click.echo("no daemon is running, so nothing fires: `paddock up` starts one", err=True)
