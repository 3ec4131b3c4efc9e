"""`paddock wait`: for scripts, until tasks are where they should be. The exit status tells."""

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from paddock.api.waiting import boards
from paddock.cli.options import DURATION, prints_json
from paddock.cli.selection import parse_tasks, takes_where
from paddock.cli.terminal.text import cut, plural, print_json
from paddock.cli.workspace import open_workspace
from paddock.core.board import Board
from paddock.core.errors import Misuse, PaddockError
from paddock.core.ids import TaskId
from paddock.core.intent.selection import Selection, pick_tasks
from paddock.core.tasks.awaited import Goal, GoalStanding, WaitStatus, parse_goal, standings_of, status_of
from paddock.core.tasks.task import Phase, Task
from paddock.core.wording import split_lists
from paddock.fleet.service.presence import ABSENT, look_for_daemon
from paddock.views.tasks.awaited import view_awaited

if TYPE_CHECKING:
    from paddock.core.filter.tasks import TaskFilter


@click.command("wait")
@click.argument("tasks", nargs=-1)
@click.option("--convoy", help="Wait for the tasks of this convoy, also for those that are added meanwhile.")
@takes_where
@click.option(
    "--until",
    multiple=True,
    metavar="PHASE[,PHASE]",
    help="Wait for these phases. Default: finished, waiting for approval, or in need of a person.",
)
@click.option("--timeout", type=DURATION, help="Give up after this long, e.g. 10m.")
@click.option("--any", "any_of_them", is_flag=True, help="One of them is enough.")
@prints_json
@click.pass_context
def wait_command(
    ctx: click.Context,
    tasks: tuple[str, ...],
    convoy: str | None,
    where: "TaskFilter | None",
    until: tuple[str, ...],
    timeout: float | None,
    any_of_them: bool,
    as_json: bool,
) -> None:
    """Wait until TASKS have come to rest, or are where --until says.

    The exit status is 0 if each of them got there (with --any: one of them), 1 if one ended elsewhere (failed,
    cancelled, blocked), needs a person for more than approval or, without --until, waits for a task that needs a
    person; 124 if the time ran out, 2 for wrong arguments.
    """
    workspace = open_workspace(ctx)
    named = tuple(dict.fromkeys(parse_tasks(tasks)))
    wanted = Selection(named, convoy=convoy, where=where)
    if bool(named) == wanted.in_bulk:
        raise Misuse("say what to wait for: tasks, --convoy or --where, one of them", "e.g. `paddock wait t3 t4`")
    goal = parse_goal(split_lists(until))
    people_approve = workspace.site.config.land.approval == "human"
    wait = _Wait(goal, wanted, any_of_them, patient=timeout is not None, people_approve=people_approve)
    for board in boards(workspace, timeout):
        if (status := wait.look(board)) is not None:
            break
    else:
        status = WaitStatus.TIMED_OUT
    found = [(task, wait.standings[name]) for name, task in wait.seen.items()]
    if as_json:
        print_json(view_awaited(status, found))
    else:
        click.echo("\n".join(_told(task, standing) for task, standing in found))
    if status is WaitStatus.TIMED_OUT:
        late = sum(standing is GoalStanding.UNDER_WAY for _, standing in found)
        warn(f"the time ran out: {plural(late, 'task')} still under way")
    ctx.exit(status)


class _Wait:
    """What was seen so far. A filter is asked once: what it matches changes while it is waited for."""

    def __init__(
        self, goal: Goal, wanted: Selection, any_of_them: bool, *, patient: bool, people_approve: bool
    ) -> None:
        self.seen: dict[TaskId, Task] = {}
        self.standings: dict[TaskId, GoalStanding] = {}
        self._goal = goal
        self._wanted = wanted
        self._any = any_of_them
        self._patient = patient
        self._people_approve = people_approve
        self._before: dict[TaskId, Task] = {}
        self._warned = False

    def look(self, board: Board) -> WaitStatus | None:
        names = self._names(board)
        for name in names:
            self._before.setdefault(name, board.task(name))
        self.standings = standings_of(self._goal, board.tasks, names, self._before, people_approve=self._people_approve)
        self._tell_moves(board, names)
        self.seen = {name: board.task(name) for name in names}
        status = status_of(self.standings.values(), any_of_them=self._any)
        if status is None:
            self._ask_for_daemon(board)
        return status

    def _names(self, board: Board) -> list[TaskId]:
        if self._wanted.convoy is None and self.seen:
            return list(self.seen)
        names = pick_tasks(board, self._wanted)
        if not names:
            raise PaddockError("no task matches: there is nothing to wait for", "`paddock status --all` lists tasks")
        return names

    def _tell_moves(self, board: Board, names: Sequence[TaskId]) -> None:
        if not sys.stderr.isatty():
            return
        for name in names:
            task, before = board.task(name), self.seen.get(name)
            if before is not None and before.phase is not task.phase:
                click.echo(f"{name}  {before.phase.value} → {task.phase.value}", err=True)

    def _ask_for_daemon(self, board: Board) -> None:
        """Without one nothing moves. Who has said how long to wait may be about to start it."""
        if look_for_daemon(board, time.time()).presence not in ABSENT:
            return
        late = [name for name, standing in self.standings.items() if standing is GoalStanding.UNDER_WAY]
        words = f"no daemon is running, and {plural(len(late), 'task')} cannot move without one"
        if not self._patient:
            raise PaddockError(words, "`paddock up` starts one; with --timeout this command waits for it")
        if not self._warned:
            warn(f"{words}: `paddock up` starts one")
            self._warned = True


def warn(words: str) -> None:
    click.echo(f"warning: {words}", err=True)


def _told(task: Task, standing: GoalStanding) -> str:
    words = "" if standing is GoalStanding.REACHED and task.phase is not Phase.APPROVAL else cut(task.reason, 100)
    if task.phase is Phase.WAITING and standing is GoalStanding.ELSEWHERE:
        words += ": that waits for a person, see `paddock status`"
    note = f"  {words}" if words else ""
    return f"{task.id:<5} {task.phase.value:<9} {cut(task.title, 60)}{note}"
