"""`paddock run`: the fleet in the foreground."""

import asyncio
import os
import signal
import time
from contextlib import closing, nullcontext, suppress

import click

from paddock.cli.page_process import page_beside
from paddock.cli.pages.narration import narrate
from paddock.cli.pages.queue import checkout_lines
from paddock.cli.pages.stories import end_of_run
from paddock.cli.selection import parse_tasks
from paddock.cli.terminal.screen import is_screen
from paddock.cli.terminal.text import cut, paint
from paddock.cli.workspace import open_workspace
from paddock.core.board import Board
from paddock.core.errors import PaddockError, words_of
from paddock.core.ids import TaskId, task_number
from paddock.core.lead import BY_HAND, Succeeded
from paddock.core.tasks.task import Phase
from paddock.fleet.daemon import Daemon, Orders
from paddock.fleet.dispatch.refusals import read_waiting
from paddock.fleet.ledger import AlreadyRunning, Ledger, take_lead
from paddock.fleet.seat import LeaderSeat
from paddock.fleet.service.foreground import make_daemon, ready_site
from paddock.fleet.site import Site
from paddock.fleet.workspace import Workspace
from paddock.insight.chores import insight_chores
from paddock.sessions.host import Host, is_certainly_gone, this_process
from paddock.store.location import require_known
from paddock.store.protocol import LogUnavailable, LogUnusable, Store
from paddock.views.notices import DETAILS
from paddock.views.queue.halts import cure_of

WAIT_SECONDS = 2.0
VANISH_SECONDS = 3.0
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
TOLD = 5  # waiting tasks at the end of a run


@click.command("run")
@click.option("--until-idle", is_flag=True, help="Exit when nothing is left to do.")
@click.option("--max", "most", type=click.IntRange(0), metavar="N", help="Most agents at the same time.")
@click.option("--only", multiple=True, metavar="t1,t2", help="Run only these tasks.")
@click.option("--wait", is_flag=True, help="If another daemon is running, wait for it to end.")
@click.option("--web", is_flag=True, help="Show it in a browser meanwhile, as `paddock web` does.")
@click.pass_context
def run_command(
    ctx: click.Context, until_idle: bool, most: int | None, only: tuple[str, ...], wait: bool, web: bool
) -> None:
    """Run agents on ready tasks, in the foreground.

    Ctrl-C ends Paddock, not the agents: they keep working, and the next `paddock run` or `paddock up` picks
    them up. `paddock down --now` stops them. Exits 0 if nothing failed, 1 otherwise.
    """
    workspace = open_workspace(ctx)
    chosen = frozenset(parse_tasks(only)) if only else None
    board = workspace.board()
    for name in chosen or ():
        board.task(name)
    orders = Orders(until_idle=until_idle, max_agents=most, only=chosen)
    with page_beside(workspace) if web else nullcontext():
        code = asyncio.run(run_fleet(workspace, orders, wait=wait, live=is_screen()))
    ctx.exit(code)


async def run_fleet(workspace: Workspace, orders: Orders, *, wait: bool, live: bool) -> int:
    """A fleet whose log is away for longer than the store waits begins again when it is back, as after a crash."""
    while True:
        try:
            with closing(workspace.write()) as store:
                return await _run_once(workspace, orders, store, wait=wait, live=live)
        except LogUnavailable as away:
            if not workspace.log.is_shared:
                raise
            click.echo(f"waiting: {away.message}; the fleet goes on when it is back", err=True)
        if not await _await_log(workspace):
            return 130
        click.echo("the log is back", err=True)
        workspace = Workspace(workspace.repo, workspace.settings)  # nothing of the former lead


async def _await_log(workspace: Workspace) -> bool:
    """False if the wait was ended by a signal."""
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    for signum in _ENDING:
        loop.add_signal_handler(signum, ended.set)
    while not ended.is_set():
        try:
            await asyncio.to_thread(lambda: workspace.read().close())
            return True
        except LogUnavailable:
            with suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), WAIT_SECONDS)
    return False


async def _run_once(workspace: Workspace, orders: Orders, store: Store, *, wait: bool, live: bool) -> int:
    site = ready_site(workspace)
    folder = os.open(workspace.repo.common_dir, os.O_RDONLY | os.O_DIRECTORY)
    ledger = await lead(store, site.seat, wait=wait)
    # Before there is a `daemon`: whoever sees the lease may ask its holder to end. The loop calls these only later.
    daemon: Daemon

    def end(name: str) -> None:
        daemon.end(name)

    loop = asyncio.get_running_loop()
    for signum in _ENDING:
        loop.add_signal_handler(signum, end, signum.name)
    loop.add_signal_handler(signal.SIGUSR1, lambda: loop.create_task(daemon.end_agents()))
    try:
        daemon = make_daemon(workspace, ledger, orders, insight_chores())
        if live:
            await _run_live(daemon, workspace)
        else:
            daemon.news.observe = lambda record: narrate(record, ledger.board)
            daemon.room.say = lambda words: click.echo(words, err=True)
            await daemon.run()
    except Succeeded as succeeded:
        raise PaddockError(succeeded.message, "this one has ended; `paddock status` shows who leads") from None
    except LogUnavailable:
        raise
    except Exception as error:
        if await _is_left(store, error):
            raise
    finally:
        with suppress(LogUnavailable):
            if store.exists():
                ledger.give_up()
    if not store.exists():
        await _require_vanished(workspace)
        ended = _end_orphans(site, folder)
        click.echo(f"`{workspace.top}` is gone: there is nothing left to run{ended}", err=True)
        return 0
    os.close(folder)
    board = ledger.board
    attempts = (board.tasks[name].live_attempt for name in board.live)
    reaches = site.sessions.reaches
    still = [one.id for one in attempts if one is not None and reaches(Host(one.host, one.host_id))]
    if still:
        click.echo(f"still working: {', '.join(still)}; `paddock run` picks them up", err=True)
    if not daemon.ending:
        _tell_who_waits(workspace, board, orders.only)
        for trouble in daemon.given_up:
            click.echo(f"gave up {trouble.title}: {cut(trouble.problem, 200)}", err=True)
    _tell_halt(site, board)
    for line in checkout_lines(workspace):
        click.echo(line, err=True)
    return 130 if daemon.ending else int(bool(daemon.given_up)) or exit_code(board, orders.only)


async def _run_live(daemon: Daemon, workspace: Workspace) -> None:
    """Runs the daemon with a view of it in the terminal, which looks through a store of its own."""
    from paddock.cli.live_view import TerminalView, ViewThread

    view = TerminalView(workspace, footer="Ctrl-C ends Paddock, not the agents", is_daemon=True)
    thread, loop = ViewThread(view), asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGWINCH, view.wake)
    loop.add_signal_handler(signal.SIGTSTP, view.suspend)
    thread.start()
    try:
        await daemon.run()
    finally:
        await thread.end()
        view.print_last()
        if thread.error is not None:
            click.echo(f"the live view has failed: {words_of(thread.error)}", err=True)


async def _is_left(store: Store, error: Exception) -> bool:
    """Whether the repository still exists. One that is being deleted loses the files of its log one by one."""
    give_up_at = time.monotonic() + (VANISH_SECONDS if isinstance(error, LogUnusable) else 0.0)
    while store.exists() and time.monotonic() < give_up_at:
        await asyncio.sleep(0.05)
    return store.exists()


async def _require_vanished(workspace: Workspace) -> None:
    """Raises LogUnusable where only the log is gone, or another is in its place by now: a repository that is being
    deleted loses its files one by one."""
    git_dir = workspace.repo.common_dir
    give_up_at = time.monotonic() + VANISH_SECONDS
    while (git_dir / "HEAD").exists() and (git_dir / "objects").exists():
        if time.monotonic() > give_up_at:
            require_known(workspace.log, workspace.repo)
            raise LogUnusable(
                f"`{workspace.log}` was removed or replaced while the log was open: nothing was written",
                "run it again with the log that is there now, or put the former one back first",
            )
        await asyncio.sleep(0.05)


def _tell_halt(site: Site, board: Board) -> None:
    if (halted := board.halted) is None:
        return
    click.echo(paint(f"merge queue halted: {cut(halted.reason, 200)}", "red"), err=True)
    cures = (f"  {line}" for line in cure_of(halted, time.time()))
    for line in (*cures, f"  `{DETAILS}` has the details", *end_of_run(site, halted.runs[-1:])):
        click.echo(line, err=True)


def _end_orphans(site: Site, folder: int) -> str:
    """Ends the agents of a deleted repository: nothing they do counts, and nobody could find them again.

    A repository that was only moved keeps its agents; the next daemon there picks them up.
    """
    if os.fstat(folder).st_nlink:
        return ""
    site.follow(BY_HAND)  # without a log nobody leads
    ended = len(site.sessions.sweep({process.owner for process in site.sessions.find()}).ended)
    return f"; ended {'1 process' if ended == 1 else f'{ended} processes'} of its agents" if ended else ""


def _tell_who_waits(workspace: Workspace, board: Board, only: frozenset[TaskId] | None) -> None:
    """The fleet is idle and tasks are left: only a person can help them."""
    reasons = read_waiting(workspace.state_dir)
    left = [name for name in board.ready if name in reasons and (only is None or name in only)]
    for name in left[:TOLD]:
        click.echo(f"{name} is waiting: {cut(reasons[name], 160)}", err=True)
    if len(left) > TOLD:
        click.echo(f"and {len(left) - TOLD:,} more; `paddock status` shows why", err=True)
    chosen = (task for task in board.open_tasks() if only is None or task.id in only)
    done = [task.id for task in chosen if task.phase is Phase.APPROVAL]
    if done:
        first = min(done, key=task_number)
        count = "1 task is waiting" if len(done) == 1 else f"{len(done):,} tasks are waiting"
        click.echo(f"{count} for your approval: `paddock diff {first}`, then `paddock land {first}`", err=True)


async def lead(store: Store, seat: LeaderSeat, *, wait: bool) -> Ledger:
    me, told = this_process("daemon"), False
    while True:
        try:
            return take_lead(store, me, seat, is_gone=lambda holder: holder == me or is_certainly_gone(holder))
        except AlreadyRunning as refusal:
            if not wait:
                raise
            if not told:
                click.echo(f"waiting: {refusal.message}", err=True)
                told = True
        await asyncio.sleep(WAIT_SECONDS)


def exit_code(board: Board, only: frozenset[TaskId] | None) -> int:
    """1 if something failed or needs a person's help, the merge queue included."""
    if board.halted is not None:
        return 1
    bad = {Phase.FAILED, Phase.BLOCKED}
    return int(any(task.phase in bad for task in board.open_tasks() if only is None or task.id in only))
