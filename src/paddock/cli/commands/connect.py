"""`paddock connect` and `paddock handback`: a person takes an attempt over, and gives it back."""

import asyncio
import os
import sys
from pathlib import Path

import click

from paddock.cli.options import prints_json
from paddock.cli.seating import (
    HANDOVER,
    PaneSeat,
    attend,
    goes_on_in,
    held_attempt,
    pane_of,
    require_terminal,
    say_in_tmux,
    show_to_the_end,
    sit_here,
    told_of,
    warn_if_small,
)
from paddock.cli.terminal.text import print_document
from paddock.cli.workspace import open_workspace
from paddock.core.errors import Misuse, PaddockError
from paddock.core.ids import TaskId, parse_task, printable
from paddock.core.intent.forks import needs_follow_up
from paddock.core.intent.obstacles import TaskAction, require_possible, since_words
from paddock.core.tasks.task import Attempt
from paddock.fleet.visits.ending import end_gone_hold, hand_over
from paddock.fleet.visits.handover import take_over
from paddock.fleet.visits.onlooking import find_socket, look_on
from paddock.fleet.visits.program import Company, require_company
from paddock.fleet.visits.visit import require_fleet
from paddock.fleet.workspace import Workspace
from paddock.sessions.tmux import Tmux, find_tmux

FALLBACK_SHELL = "/bin/sh"


@click.command("connect")
@click.argument("task", required=False)
@click.option("--here", is_flag=True, help="In this terminal, also where there is tmux.")
@click.option("--shell", is_flag=True, help="Open a shell there instead of the agent's own terminal.")
@click.option("--watch", is_flag=True, help="Only look at what is going on there; nothing is interrupted.")
@click.option(HANDOVER, "handover", hidden=True, type=click.Path(path_type=Path))
@click.pass_context
def connect_command(
    ctx: click.Context, task: str | None, here: bool, shell: bool, watch: bool, handover: Path | None
) -> None:
    """Work with the agent of TASK yourself, in its own terminal, worktree and conversation.

    A turn that runs is ended first, and the attempt is yours until you leave: then it is judged by what is there, or
    goes on by itself if you run `paddock handback`. It also works on tasks whose agent has ended, and after their
    worktree was cleared away. Without TASK it lists where that is possible, most urgent first.

    With tmux installed it opens there (inside tmux: in a new window), and stays open if you detach or lose the
    connection: `paddock connect` comes back to it.
    """
    if handover is not None:
        _sit_in_pane(ctx, parse_task(task or ""), handover, shell=shell)
        return
    workspace = open_workspace(ctx)
    if task is None:
        require_terminal("TASK")
        from paddock.cli.picker import pick_task

        name = pick_task(workspace.board(), workspace.person)
    else:
        name = parse_task(task)
    if watch:
        ctx.exit(_watch(ctx, workspace, name))
    require_terminal(name)
    tmux = None if here else find_tmux()
    newest = goes_on_in(workspace.board(), name)
    asyncio.run(end_gone_hold(workspace, newest))
    held = held_attempt(workspace.board(), newest)
    if held is not None and held.held is not None and held.held.by == workspace.person:
        ctx.exit(_come_back(workspace, find_tmux(), newest, held))
    company = _company(shell=shell)
    _require_possible(workspace, name, company)
    warn_if_small()
    if tmux is None:
        sit_here(workspace, name, company)
        return
    ctx.exit(PaneSeat(workspace, tmux, name, ("--shell",) if shell else ()).open())


def _company(*, shell: bool) -> Company:
    return Company((os.environ.get("SHELL") or FALLBACK_SHELL,)) if shell else Company()


def _require_possible(workspace: Workspace, name: TaskId, company: Company) -> None:
    """What would be refused in a pane is refused here, where it can be read."""
    board = workspace.board()
    task = board.task(name)
    if not needs_follow_up(task):
        require_possible(board, task, TaskAction.CONNECT)
        require_fleet(workspace.site, board, name)
    worker = task.worker
    assert worker is not None
    require_company(workspace.site, task, worker, company)


def _sit_in_pane(ctx: click.Context, name: TaskId, handover: Path, *, shell: bool) -> None:
    try:
        take_over(handover)
        workspace = open_workspace(ctx)
        visited = sit_here(workspace, name, _company(shell=shell))
        say_in_tmux(find_tmux(), told_of(workspace, visited))
    except PaddockError as error:
        show_to_the_end(error)
        ctx.exit(error.exit_code)


def _come_back(workspace: Workspace, tmux: Tmux | None, name: TaskId, attempt: Attempt) -> int:
    """To the pane where the same person sits already."""
    pane = pane_of(tmux, attempt)
    if pane is not None and tmux is not None:
        return attend(workspace, tmux, name, pane)
    held = attempt.held
    assert held is not None
    since = since_words(held.since)
    raise PaddockError(
        f"you have held `{attempt.id}` in another terminal on `{printable(held.host, 60)}` since {since}",
        f"leave it there, or run `paddock handback {name}`",
    )


def _watch(ctx: click.Context, workspace: Workspace, name: TaskId) -> int:
    held = held_attempt(workspace.board(), name)
    tmux = find_tmux()
    pane = pane_of(tmux, held) if held is not None else None
    if pane is not None and tmux is not None and pane.session != tmux.session_here():
        require_terminal(name)
        return tmux.show(pane, read_only=True)
    live = workspace.board().task(name).live_attempt
    if live is not None and (socket := find_socket(workspace.site, live)) is not None:
        require_terminal(name)
        click.echo("Ctrl-b d leaves; nothing that you type reaches the agent", err=True)
        return look_on(workspace.site, workspace.board(), live, socket, sys.stdin.fileno())
    from paddock.cli.commands.tail import tail_command

    if held is not None and held.held is not None:
        click.echo(
            f"{held.id} is held by {printable(held.held.by, 40)} in a terminal that cannot be seen from here; "
            f"what the log tells follows",
            err=True,
        )
    ctx.invoke(tail_command, task=name, follow=True, raw=False, unsafe=False, as_json=False)
    return 0


@click.command("handback")
@click.argument("task")
@click.option("-m", "--message", default="", help="What to tell its agent; without it, that it should go on.")
@prints_json
@click.pass_context
def handback_command(ctx: click.Context, task: str, message: str, as_json: bool) -> None:
    """Give TASK back to its agent, which goes on in the same conversation.

    From another terminal than the one that you hold it in, that one is ended first.
    """
    workspace, name = open_workspace(ctx), parse_task(task)
    if message != "" and not message.strip():
        raise Misuse("the message is empty", 'say something, e.g. `-m "go on with the tests"`, or leave it out')
    asyncio.run(hand_over(workspace, name, message))
    if as_json:
        print_document(id=name, message=message)
        return
    from paddock.fleet.service.presence import ABSENT, look_for_daemon

    click.echo(f"handed back {name}: its agent goes on")
    if look_for_daemon(workspace.board(), workspace.site.clock.now()).presence in ABSENT:
        click.echo("\nno daemon is running: `paddock up` or `paddock run` lets it go on")
