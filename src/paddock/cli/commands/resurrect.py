"""`paddock resurrect`: after a restart, or when a machine is lost, what was running goes on."""

import sys
import time
from typing import TYPE_CHECKING

import click

from paddock.cli.options import prints_json
from paddock.cli.selection import parse_tasks, takes_where
from paddock.cli.terminal.text import cut, plural, print_json
from paddock.cli.workspace import open_workspace
from paddock.core.board import Board
from paddock.core.errors import Misuse
from paddock.core.ids import printable, some_names
from paddock.core.intent.resurrection import Revival
from paddock.core.intent.selection import Selection, pick_tasks
from paddock.fleet.resurrection import Casualty, Wreck, bring_back, survey
from paddock.fleet.service.presence import Presence, look_for_daemon
from paddock.fleet.workspace import Workspace
from paddock.views.resurrection import view_resurrection

if TYPE_CHECKING:
    from paddock.core.filter.tasks import TaskFilter


@click.command("resurrect")
@click.argument("tasks", nargs=-1)
@takes_where
@click.option("--dry-run", is_flag=True, help="Show what would be brought back, and change nothing.")
@click.option("--yes", is_flag=True, help="Take over from hosts that cannot be reached without asking.")
@click.option("--up", "start", is_flag=True, help="Also start the fleet in the background.")
@prints_json
@click.pass_context
def resurrect_command(
    ctx: click.Context,
    tasks: tuple[str, ...],
    where: "TaskFilter | None",
    dry_run: bool,
    yes: bool,
    start: bool,
    as_json: bool,
) -> None:
    """Bring back what was running before the machine restarted or was lost. Default: everything.

    Agents go on in their conversations, from what they had committed. What gave up because of the loss is tried
    again. Work on a host that cannot be reached is taken over if you confirm that the host is gone for good.
    """
    workspace = open_workspace(ctx)
    board = workspace.board()
    wanted = Selection(tuple(dict.fromkeys(parse_tasks(tasks))), where=where)
    if wanted.named and wanted.in_bulk:
        raise Misuse("task names cannot be combined with --where", "use one or the other")
    among = pick_tasks(board, wanted) if wanted.named or wanted.in_bulk else None
    wreck = survey(workspace, board, among)
    if not as_json:
        for line in _told(board, wreck):
            click.echo(line)
    if not dry_run and (wreck.casualties or wreck.runs):
        _confirm(wreck, yes=yes, as_json=as_json)
        bring_back(workspace, wreck)
    runs = _see_to_daemon(workspace, start=start and not dry_run, quiet=as_json)
    if as_json:
        print_json(view_resurrection(board, wreck, dry_run=dry_run, up=runs))
    elif dry_run:
        click.echo("\nnothing was changed")
    elif not runs and (wreck.casualties or wreck.runs):
        click.echo("\nno daemon is running: `paddock up` lets them go on")


def _confirm(wreck: Wreck, *, yes: bool, as_json: bool) -> None:
    """Two that work on one task are the danger here, and only a person knows whether a machine is gone."""
    if not wreck.hosts or yes:
        return
    hosts = some_names(tuple(f"`{printable(host, 60)}`" for host in wreck.hosts))
    if as_json or not sys.stdin.isatty():
        raise Misuse(
            f"this would take over from {hosts}, which cannot be reached from here",
            "if that is gone for good, add --yes; otherwise its agents may still be at work",
        )
    click.confirm(f"is {hosts} gone for good? its agents must not be at work any more", abort=True, err=True)


def _see_to_daemon(workspace: Workspace, *, start: bool, quiet: bool) -> bool:
    if look_for_daemon(workspace.board(), time.time()).presence in (Presence.RUNNING, Presence.SILENT):
        return True
    if start:
        from paddock.fleet.service.background import daemon_words
        from paddock.fleet.service.control import await_daemon, require_startable, start_daemon

        require_startable(workspace)
        start_daemon(workspace, None)
        started = await_daemon(workspace)
        if not quiet:
            click.echo(f"\nthe fleet is up ({daemon_words(started)}); `paddock status` shows what it does")
    return start


def _told(board: Board, wreck: Wreck) -> list[str]:
    if not wreck.casualties and not wreck.runs:
        return ["nothing was lost: there is nothing to bring back"]
    lines = [line for one in wreck.casualties for line in _lines(board, one)]
    if wreck.runs:
        lines.append(f"{plural(len(wreck.runs), 'CI run')} will be run again: {some_names(wreck.runs)}")
    return lines


def _lines(board: Board, one: Casualty) -> list[str]:
    task, attempt = board.task(one.revived.task), one.revived.attempt
    match one.revived.how:
        case Revival.RESUMED:
            words = f"goes on from {attempt.id}"
        case Revival.JUDGED:
            by = printable(attempt.held.by, 40) if attempt.held is not None else "a person"
            words = f"was held by {by}, whose terminal is gone: what is there in {attempt.id} is judged"
        case Revival.TAKEN_OVER:
            words = f"is taken over from host `{printable(attempt.host, 60)}`, and goes on from {attempt.id}"
        case Revival.RETRIED:
            words = f"is tried again, from {attempt.id}: {cut(task.reason, 80)}"
    notes = [f"      {one.lost}"] if one.lost else []
    return [f"{task.id:<5} {words}  ({cut(task.title, 50)})", *notes]
