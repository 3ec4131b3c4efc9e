"""A planner at work, from the command that waits for its plan: by the daemon that runs, or by a fleet of our own."""

import asyncio
import signal
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress

import click

from paddock.cli.terminal.text import cut
from paddock.core.board import Board
from paddock.core.durations import rough_duration
from paddock.core.errors import PaddockError
from paddock.core.ids import TaskId
from paddock.core.intent.tasks import cancel_tasks
from paddock.core.lead import Succeeded
from paddock.core.tasks.task import Phase, Task
from paddock.fleet.daemon import Daemon, Orders
from paddock.fleet.dispatch.refusals import read_waiting
from paddock.fleet.glance import read_glance
from paddock.fleet.ledger import AlreadyRunning, take_lead
from paddock.fleet.service.foreground import make_daemon, ready_site
from paddock.fleet.service.presence import Presence, look_for_daemon
from paddock.fleet.workspace import Workspace
from paddock.sessions.host import this_process

TICK_SECONDS = 0.25
UNDER_WAY = frozenset({Phase.WAITING, Phase.READY, Phase.RUNNING})


class Interrupted(PaddockError):
    """A person did not want to wait any longer; nothing is lost."""

    exit_code = 130


class ProgressLine:
    """What the planner is doing, on one line of a terminal; nothing elsewhere."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr.isatty()
        self._last = ""

    def show(self, words: str) -> None:
        if self._is_shown and words != self._last:
            sys.stderr.write(f"\r\x1b[K{words}")
            sys.stderr.flush()
            self._last = words

    def clear(self) -> None:
        if self._last:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._last = ""


def await_planner(workspace: Workspace, name: TaskId) -> Task:
    """Waits until the planner has delivered, or cannot. Raises Interrupted, and PaddockError where no plan came."""
    line = ProgressLine()
    try:
        while _is_under_way(workspace.board(), name):
            if look_for_daemon(workspace.board(), time.time()).presence is Presence.RUNNING:
                _follow(workspace, name, line)
            elif not _run_fleet(workspace, name, line):
                break
    except KeyboardInterrupt:
        line.clear()
        _leave_or_cancel(workspace, name)
    finally:
        line.clear()
    return _require_plan(workspace, name)


def _require_plan(workspace: Workspace, name: TaskId) -> Task:
    task = workspace.board().task(name)
    if task.phase is Phase.DONE:
        return task
    if task.phase in UNDER_WAY:
        why = read_waiting(workspace.state_dir).get(name, task.reason) or "its planner did not start"
        hint = f"`paddock up` goes on with it; then `paddock plan --show {name}`"
        raise PaddockError(f"task `{name}` {task.phase.words}: {cut(why, 300)}", hint)
    looks = f"`paddock show {name}` and `paddock tail {name}` tell more"
    again = f"; then `{task.unblock}`" if task.unblock else f'; `paddock message {name} "…"` lets it try again'
    raise PaddockError(f"there is no plan: task `{name}` {task.phase.words}: {cut(task.reason, 1000)}", looks + again)


def _follow(workspace: Workspace, name: TaskId, line: ProgressLine) -> None:
    """Until it is no longer under way, or the daemon is gone."""
    with closing(workspace.read()) as store, store.listen() as listener:
        while _is_under_way(board := store.board(), name):
            line.show(describe_progress(workspace, board.task(name)))
            if look_for_daemon(board, time.time()).presence is not Presence.RUNNING:
                return
            listener.wait(TICK_SECONDS * 4)


def _is_under_way(board: Board, name: TaskId) -> bool:
    task = board.task(name)
    return task.phase in UNDER_WAY or task.live_attempt is not None


def _leave_or_cancel(workspace: Workspace, name: TaskId) -> None:
    """The daemon goes on with it, unless that is not wanted."""
    leave = True
    if sys.stdin.isatty():
        with suppress(click.Abort):
            leave = click.confirm(f"\nleave {name} to the daemon?", default=True, err=True)
    if not leave:
        workspace.record(lambda board: cancel_tasks(board, [name], "interrupted"))
        raise Interrupted(f"cancelled `{name}`", f"`paddock retry {name}` has it planned after all")
    raise Interrupted(
        f"`{name}` is left to the daemon", f"`paddock plan --show {name}` shows its plan; `paddock up` starts a daemon"
    )


def _run_fleet(workspace: Workspace, name: TaskId, line: ProgressLine) -> bool:
    """Runs a fleet that does this task alone, as far as it can. True if another daemon goes on with it."""
    own = Workspace(workspace.repo, workspace.settings)
    try:
        ended_by = asyncio.run(_run(own, name, line))
    except AlreadyRunning:
        return True
    except Succeeded as succeeded:
        line.clear()
        click.echo(f"another daemon goes on: {succeeded.message}", err=True)
        return True
    line.clear()
    if ended_by == signal.SIGINT.name:
        raise Interrupted(f"cancelled `{name}`", f"`paddock retry {name}` has it planned after all")
    if ended_by:
        raise Interrupted(f"ended by {ended_by}", f"`paddock up` goes on with it; then `paddock plan --show {name}`")
    return False


async def _run(workspace: Workspace, name: TaskId, line: ProgressLine) -> str:
    """The name of the signal that ended it, if one did."""
    store = workspace.write()
    ledger = take_lead(store, this_process("daemon"), ready_site(workspace).seat)
    ended_by: list[str] = []
    daemon: Daemon

    def interrupt() -> None:
        """First the task is cancelled, which ends its agent; whoever insists leaves the agent to the next daemon."""
        if not ended_by:
            ended_by.append(signal.SIGINT.name)
            with suppress(PaddockError):
                workspace.record(lambda board: cancel_tasks(board, [name], "interrupted"))
        else:
            daemon.end(signal.SIGINT.name)

    def end(signum: signal.Signals) -> None:
        ended_by.append(signum.name)
        daemon.end(signum.name)

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, interrupt)
    for signum in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(signum, end, signum)
    try:
        daemon = make_daemon(workspace, ledger, Orders(until_idle=True, only=frozenset({name})))
        watch = loop.create_task(_watch(daemon, workspace, name, line.show))
        try:
            await daemon.run()
        finally:
            watch.cancel()
    finally:
        if store.exists():
            ledger.give_up()
        store.close()
    return ended_by[0] if ended_by else ""


async def _watch(daemon: Daemon, workspace: Workspace, name: TaskId, show: Callable[[str], None]) -> None:
    """Shows what happens, and ends the fleet once the task is settled and nobody works on it: what else there is to do
    was not asked for."""
    while True:
        board = daemon.ledger.board
        if not _is_under_way(board, name) and name not in daemon.attempts.by_task:
            daemon.end("planned")
            return
        show(describe_progress(workspace, board.task(name)))
        await asyncio.sleep(TICK_SECONDS)


def describe_progress(workspace: Workspace, task: Task) -> str:
    """One line about a planner at work."""
    attempt = task.live_attempt
    if attempt is None:
        why = read_waiting(workspace.state_dir).get(task.id, "")
        return cut(f"{task.id} is waiting to start" + (f": {why}" if why else ""), _room())
    now = read_glance(workspace.state_dir).agents.get(attempt.id)
    facts = [f"{attempt.id} is planning with {attempt.engine}", rough_duration(time.time() - attempt.started)]
    if attempt.answers_refused:
        facts.append(f"asked again {attempt.answers_refused}×")
    if now is not None and now.cost_usd is not None:
        facts.append(f"${now.cost_usd:.2f}")
    if now is not None and now.step:
        facts.append(now.step)
    return cut(" · ".join(facts), _room())


def _room() -> int:
    import shutil

    return max(20, shutil.get_terminal_size((100, 24)).columns - 1)
