"""Where a person sits: in this terminal, in a window of the tmux they are in, or in a session of its own."""

import asyncio
import contextlib
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import click

from paddock.cli.terminal.complaint import complain
from paddock.core.board import Board
from paddock.core.errors import Misuse, PaddockError
from paddock.core.ids import TaskId, branch_slug, task_number, task_of
from paddock.core.intent.forks import needs_follow_up
from paddock.core.tasks.task import Attempt
from paddock.core.tasks.vocabulary import Outcome
from paddock.fleet.service.presence import ABSENT, look_for_daemon
from paddock.fleet.visits.ending import await_leaving
from paddock.fleet.visits.handover import drop_handover, write_handover
from paddock.fleet.visits.program import Company
from paddock.fleet.visits.visit import SeatedVisit, Visited
from paddock.fleet.workspace import Workspace
from paddock.sessions.seats import seat_pid
from paddock.sessions.terminal import size_of
from paddock.sessions.tmux import Pane, Tmux

SMALLEST = (40, 10)
HANDOVER = "--take-over"


def require_terminal(task: str) -> None:
    """Raises Misuse where nobody could sit."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Misuse(
            "this needs a terminal, and there is none",
            f"`paddock message {task} …` tells its agent something, `paddock exec {task} -- …` runs a command there",
        )


def warn_if_small() -> None:
    columns, rows = size_of(sys.stdin.fileno())
    if columns and rows and (columns < SMALLEST[0] or rows < SMALLEST[1]):
        _say(f"warning: this terminal has {columns}x{rows}; most agents' screens need {SMALLEST[0]}x{SMALLEST[1]}")


def sit_here(workspace: Workspace, task: TaskId, company: Company) -> Visited:
    """In this terminal, until they leave. Raises PaddockError."""

    async def sit() -> Visited:
        return await SeatedVisit(workspace, task, company, sys.stdin.fileno(), _say).run()

    visited = asyncio.run(sit())
    _be_deaf_to_ctrl_c()
    _say(told_of(workspace, visited))
    return visited


def told_of(workspace: Workspace, visited: Visited) -> str:
    """What happens next."""
    task = task_of(visited.attempt)
    board = workspace.board()
    is_led = look_for_daemon(board, workspace.site.clock.now()).presence not in ABSENT
    left = f"left {visited.attempt} ({visited.why})" if visited.why else f"left {visited.attempt}"
    if visited.handed_back:
        return f"{left}: its agent goes on" if is_led else f"{left}: `paddock up` lets its agent go on"
    judged = "the fleet judges it" if is_led else "no daemon is running, `paddock up` judges it"
    told = f"{left}: {judged}, `paddock show {task}` tells"
    worker = board.task(task).worker
    was_interrupted = worker is not None and worker.found is None
    return f"{told}\n`paddock handback {task}` gives it back to its agent" if was_interrupted else told


@dataclass(frozen=True, slots=True)
class PaneSeat:
    """A pane for a task; `options` are those of the command that runs in it."""

    workspace: Workspace
    tmux: Tmux
    task: TaskId
    options: tuple[str, ...]

    def open(self) -> int:
        """Sits down there; tmux's exit status. Raises PaddockError."""
        if not self.tmux.inside and (pane := self.tmux.find_session(self._name())) is not None:
            return attend(self.workspace, self.tmux, self.task, pane)  # it tells what went wrong there
        handover = write_handover(self.workspace.state_dir, os.environ)
        argv = self._argv(handover)
        try:
            if self.tmux.inside:
                self.tmux.open_window(self.task, self.workspace.top, argv)
                return 0
            pane = self.tmux.open_session(
                self._name(), self.task, self.workspace.top, size_of(sys.stdin.fileno()), argv
            )
        except PaddockError:
            drop_handover(handover)
            raise
        with contextlib.suppress(PaddockError):
            self.tmux.describe(pane, f"{self.task}: {self.tmux.prefix()} d detaches, and it stays held ")
        try:
            return attend(self.workspace, self.tmux, self.task, pane)
        finally:
            drop_handover(handover)

    def _argv(self, handover: Path) -> tuple[str, ...]:
        said = tuple(word for setting in self.workspace.settings for word in ("--set", setting))
        place = ("-C", str(self.workspace.top))
        own = ("connect", self.task, "--here", HANDOVER, str(handover), *self.options)
        return (sys.executable, "-P", "-m", "paddock", *place, *said, *own)

    def _name(self) -> str:
        return f"paddock-{branch_slug(self.workspace.top.name) or 'repository'}-{self.task}"


def attend(workspace: Workspace, tmux: Tmux, name: TaskId, pane: Pane) -> int:
    """Shows the pane until they detach or leave, then says what happens next; tmux's exit status."""
    _be_deaf_to_ctrl_c()
    code = tmux.show(pane)
    if tmux.inside:
        return code
    name = goes_on_in(workspace.board(), name)
    live = workspace.board().task(name).live_attempt
    if live is not None and live.held is not None:
        if any(one.id == pane.id for one in tmux.panes()):
            _say(
                f"detached: {live.id} stays held by you; `paddock connect {name}` comes back, "
                f"`paddock handback {name}` lets its agent go on"
            )
            return code
        asyncio.run(await_leaving(workspace, name, live.held))  # it is still ending what ran there
    _say(_how_it_ended(workspace, name))
    return code


def _how_it_ended(workspace: Workspace, name: TaskId) -> str:
    worker = workspace.board().task(name).worker
    assert worker is not None
    if worker.held is not None:
        return f"leaving {worker.id}: what ran there has not ended yet, `paddock show {name}` tells more"
    if not worker.live:
        if worker.outcome is Outcome.LEFT:
            return f"left {worker.id}: nothing is new there, `paddock show {name}` tells more"
        return f"left {worker.id}, which was judged: {worker.outcome}, `paddock show {name}` tells more"
    return told_of(workspace, Visited(worker.id, 0, handed_back=not worker.left_by))


def _be_deaf_to_ctrl_c() -> None:
    """For the rest of the command. Pressed once more than it takes to leave an agent, it comes here, and was not meant
    for what is said now."""
    signal.signal(signal.SIGINT, lambda *_: None)


def pane_of(tmux: Tmux | None, attempt: Attempt) -> Pane | None:
    """The pane in which whoever holds the attempt sits; None if that is elsewhere."""
    pid = seat_pid(attempt.held) if attempt.held is not None else None
    return tmux.find_pane(pid) if tmux is not None and pid is not None else None


def show_to_the_end(error: PaddockError) -> None:
    """In a pane that closes with us: nobody could read it otherwise."""
    complain(error.message, error.hint)
    with contextlib.suppress(OSError, EOFError, KeyboardInterrupt):
        click.echo("\npress Enter to close this", err=True)
        sys.stdin.readline()


def say_in_tmux(tmux: Tmux | None, words: str) -> None:
    if tmux is not None and tmux.inside:
        with contextlib.suppress(PaddockError):
            tmux.say(words.replace("\n", " · "))


def goes_on_in(board: Board, name: TaskId) -> TaskId:
    """The newest task in which a person went on from one that has landed or was cancelled, if there is one."""
    if not needs_follow_up(board.task(name)):
        return name
    followers = (task.id for task in board.tasks.values() if task.forks is not None and task_of(task.forks) == name)
    return max(followers, key=task_number, default=name)


def held_attempt(board: Board, task: TaskId) -> Attempt | None:
    live = board.task(task).live_attempt
    return live if live is not None and live.held is not None else None


def _say(words: str) -> None:
    """The terminal may be gone."""
    with contextlib.suppress(OSError):
        click.echo(words, err=True)
