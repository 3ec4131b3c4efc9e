"""`paddock tail t3`: what an agent is doing, readable."""

import sys
from pathlib import Path

import click

from paddock.cli.pages.turn_output import Manner, TurnOutput, print_entry
from paddock.cli.terminal.text import cut, paint
from paddock.cli.workspace import open_workspace
from paddock.core import trace
from paddock.core.ids import is_run, parse_run, task_of
from paddock.core.intent.selection import attempt_named
from paddock.core.tasks.task import Attempt
from paddock.fleet.attempts.attempt import SETUP_OUTPUT
from paddock.fleet.attempts.openings import find_opening
from paddock.fleet.site import Site
from paddock.store.protocol import Store

POLL_SECONDS = 0.5


@click.command("tail")
@click.argument("task", metavar="TASK|RUN")
@click.option("-f", "--follow", is_flag=True, help="Keep printing until the attempt ends.")
@click.option("--raw", is_flag=True, help="The engine's own output, byte for byte.")
@click.option("--json", "as_json", is_flag=True, help="Normalised trace entries, one JSON object per line.")
@click.pass_context
def tail_command(ctx: click.Context, task: str, follow: bool, raw: bool, as_json: bool) -> None:
    """Show what the agent of TASK (or of an attempt such as t3.1) said and did, or what a CI run such as r7 printed."""
    workspace = open_workspace(ctx)
    if is_run(task):
        from paddock.cli.pages.run_output import tail_run

        tail_run(workspace, parse_run(task), follow=follow, raw=raw, as_json=as_json)
        return
    store = workspace.read()
    site = workspace.site
    board = store.board()
    attempt = attempt_named(board, task)
    how = Manner(raw=raw, as_json=as_json, live=follow)
    current = None
    if not attempt.turn:
        _show_setup(site.attempt_folder(attempt.id) / SETUP_OUTPUT, how)
    for turn in range(1, attempt.turn + 1):
        current = TurnOutput(site, attempt, turn, how)
        current.open(find_opening(store, board.task(task_of(attempt.id)), attempt, turn))
        if attempt.turn_open and turn == attempt.turn:
            current.show_new()
        else:
            current.show_rest()
    if follow:
        _follow(store, site, attempt, current, how)
    elif current is not None:
        current.show_unfinished()


def _show_setup(output: Path, how: Manner) -> None:
    """For an attempt whose worktree could not be set up: its agent never ran."""
    if not output.exists():
        return
    with output.open("rb") as lines:
        for line in lines:
            if how.raw:
                sys.stdout.buffer.write(line)
            else:
                print_entry(trace.Text(line.decode("utf-8", "replace").rstrip("\n")), None, as_json=how.as_json)


def _follow(store: Store, site: Site, attempt: Attempt, showing: TurnOutput | None, how: Manner) -> None:
    """Continues where the first pass ended, until the log says that the attempt is over."""
    turn = attempt.turn
    with store.listen() as listener:
        while True:
            board = store.board()
            now = attempt_named(board, attempt.id)
            if showing is not None:
                showing.show_new()
            if now.turn > turn:
                turn = now.turn
                if showing is not None:
                    showing.show_rest()
                showing = TurnOutput(site, now, turn, how)
                showing.open(find_opening(store, board.task(task_of(now.id)), now, turn))
            elif not now.live:
                if showing is not None:
                    showing.show_rest()
                click.echo(paint(f"── {now.id} {now.outcome}: {cut(now.reason, 140)}", bold=True), err=True)
                return
            listener.wait(POLL_SECONDS)
