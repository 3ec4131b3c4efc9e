"""`paddock.Fleet`: the fleet of one repository, for Python programs.

    from paddock import Fleet

    with Fleet("~/src/app") as fleet:
        first = fleet.add("Fix the parser", paths=["src/parse/**"])
        fleet.up()
        [task] = fleet.wait(first)
        if task.phase == "approval":
            fleet.land(first)

Each method does what the command of the same name does, through the same requests and views. It prints nothing and
raises `PaddockError`, with a `message` and often a `hint`. Methods and fields are only ever added.
"""

import os
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Self

from paddock.api.access import Access
from paddock.api.planning import Planning
from paddock.api.results import LoggedEvent, Queued, tell_event
from paddock.api.waiting import follow_log, wait_for
from paddock.core.board import Board
from paddock.core.errors import Misuse, PaddockError, read_complaint
from paddock.core.events import Record
from paddock.core.ids import TaskId, parse_task, parse_task_range
from paddock.core.intent.acceptance import make_acceptance
from paddock.core.intent.forks import ForkSpec, fork_task
from paddock.core.intent.landing import reject_task
from paddock.core.intent.messages import send_message
from paddock.core.intent.selection import require_convoy
from paddock.core.intent.tasks import (
    Batch,
    TaskSpec,
    add_tasks,
    added_in,
    cancel_tasks,
    retry_tasks,
    stop_tasks,
)
from paddock.core.plaintext import defuse
from paddock.core.tasks.awaited import Until
from paddock.core.tasks.needs import needs_of
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Role
from paddock.core.wording import split_list
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import Decide, Query
from paddock.views.alerts import AlertView, view_alerts
from paddock.views.results import ResultView
from paddock.views.status import StatusView
from paddock.views.tasks.task import ConvoyView, TaskView, view_convoy, view_task

Tasks = str | Iterable[str]
"""One task (`"t3"`) or several, also as a range or a list (`"t3-t9,t12"`)."""


class Fleet(Planning):
    """`repo` is a folder inside the repository. `settings` are `key=value` words that win over its `paddock.toml`.

    Inside an attempt it has the rights of that attempt's agent, as every `paddock` command has there.
    """

    def __init__(self, repo: str | os.PathLike[str] = ".", *, settings: Sequence[str] = ()) -> None:
        self._access = Access.at(Path(repo).expanduser(), tuple(settings))

    @classmethod
    def through(cls, access: Access) -> "Fleet":
        """For other edges, which know who asks."""
        fleet = cls.__new__(cls)
        fleet._access = access
        return fleet

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is held open between two calls: this is for programs that like to write `with`."""

    # -- what there is --------------------------------------------------------------------------------------

    def status(self, convoy: str | None = None, *, where: str | None = None) -> StatusView:
        """Counts, convoys and tasks, what needs a person, the daemon, the queue. `where` is a filter over the tasks."""
        from paddock.fleet.landing.unseen_loss import tell_lost_work
        from paddock.fleet.outlook import look_around
        from paddock.views.notices import find_notices
        from paddock.views.status import view_status

        workspace = self._access.open("status")
        board = workspace.board()
        among = _chosen(workspace, board, convoy, where)
        tell_lost_work(workspace, board)
        outlook = look_around(workspace, board, time.time())
        needy, notices = needs_of(board, None if among is None else set(among)), find_notices(board, outlook)
        return view_status(workspace, board, outlook, needy=needy, notices=notices, convoy=convoy, only=among)

    def tasks(self, *, phase: str | None = None, convoy: str | None = None, where: str | None = None) -> list[TaskView]:
        """All tasks, or those in a phase, of a convoy or that match a filter (`"phase=blocked and age>2h"`), oldest
        first."""
        workspace = self._access.open("status")
        board = workspace.board()
        wanted = _phase(phase) if phase is not None else None
        names = _chosen(workspace, board, convoy, where)
        found = (board.tasks[name] for name in (board.tasks if names is None else names))
        return [view_task(task, board) for task in found if wanted in (None, task.phase)]

    def task(self, task: str) -> TaskView:
        board = self._access.open("show", [task]).board()
        return view_task(board.task(parse_task(task)), board)

    def brief(self, task: str) -> str:
        """What the task says is to be done."""
        from paddock.fleet.attempts.prompts import read_brief

        workspace = self._access.open("show", [task])
        with closing(workspace.read()) as store:
            return read_brief(store, store.board().task(parse_task(task)))

    def convoys(self) -> list[ConvoyView]:
        board = self._access.open("convoy list").board()
        return [view_convoy(board, name) for name in board.convoys]

    def alerts(self, *, show_all: bool = False) -> list[AlertView]:
        """Those that wait for somebody, then those that somebody has acknowledged; with `show_all` older ones."""
        return view_alerts(self._access.open("alerts list").board(), show_all=show_all).alerts

    def results(self, convoy: str) -> list[ResultView]:
        """What came of each task of a convoy: a report, findings, a plan, or a change; the first of very many."""
        from paddock.views.results import results_of_convoy

        workspace = self._access.open("results")
        board = workspace.board()
        require_convoy(board, convoy)
        return results_of_convoy(workspace, board, convoy)

    def diff(self, task: str, *, own: bool = False) -> str:
        """The patch from main to what main would become; with `own`, what its agent did since it started."""
        from paddock.fleet.landing.preview import preview

        workspace = self._access.open("diff", [task])
        board = workspace.board()
        shown = preview(workspace.site, board, board.task(parse_task(task)), own=own)
        words = ("--no-ext-diff", "--no-textconv", "--no-color", "-p", shown.before, shown.after)
        return defuse(workspace.repo.git("diff", *words).stdout).decode("utf-8", "replace")

    def events(
        self,
        since: int = 0,
        *,
        follow: bool = False,
        task: str | None = None,
        kind: str | None = None,
        where: str | None = None,
        timeout: float | None = None,
    ) -> Iterator[LoggedEvent]:
        """The records of the log after the number `since`. With `follow` also those to come, for `timeout` seconds
        or for ever. `kind` may end in `*`. With a filter `where`, only those of tasks that match
        when it is called."""
        workspace = self._access.open("log")
        query = Query(since, task=parse_task(task) if task is not None else None, kind=kind)
        records = follow_log(workspace, query, timeout) if follow else workspace.records(query)
        names = None if where is None else set(_chosen(workspace, workspace.board(), None, where) or ())
        return (tell_event(record) for record in records if names is None or record.task in names)

    # -- what to do -----------------------------------------------------------------------------------------

    def add(
        self,
        brief: str,
        *,
        title: str | None = None,
        agent: str | None = None,
        engine: str | None = None,
        kind: str | None = None,
        convoy: str | None = None,
        after: Iterable[str] = (),
        priority: int = 0,
        paths: Iterable[str] = (),
        attempts: int | None = None,
        labels: Iterable[str] = (),
        inputs: Iterable[str] = (),
        role: str = "work",
        accept: Iterable[str] = (),
        accept_files: Mapping[str, str] | None = None,
        needs: Iterable[str] = (),
    ) -> str:
        """One task; returns its id. `inputs` are tasks whose results it is told; `needs` are labels of the machine that
        it must run on; `role` is work, review, plan or
        report; `accept` are commands that must pass with `accept_files`, texts by path, laid over its change."""
        workspace = self._access.open("add")
        spec = TaskSpec(
            brief=brief,
            title=title,
            agent=agent,
            engine=engine,
            after=tuple(after),
            priority=priority,
            paths=tuple(paths),
            attempts=workspace.config.limits.attempts if attempts is None else attempts,
            kind=kind,
            labels=tuple(labels),
            inputs=tuple(inputs),
            role=_role(role),
            accept=make_acceptance(accept, accept_files or {}),
            needs=tuple(needs),
        )
        return _added(workspace, Batch((spec,), convoy))[0]

    def add_file(self, file: str | os.PathLike[str], *, convoy: str | None = None) -> list[str]:
        """The tasks of a .yaml, .json or .md file in one transaction; returns their ids."""
        from paddock.config.taskfile import parse_task_file

        workspace = self._access.open("add")
        batch = parse_task_file(Path(file).read_text("utf-8"), str(file), attempts=workspace.config.limits.attempts)
        return _added(workspace, Batch(batch.tasks, convoy or batch.convoy, batch.title))

    def fork(
        self,
        task: str,
        brief: str,
        *,
        title: str | None = None,
        agent: str | None = None,
        engine: str | None = None,
        convoy: str | None = None,
        after: Iterable[str] = (),
        attempts: int | None = None,
    ) -> str:
        """A new task from the branch and the conversation of another, which keeps its own; returns its id. What is not
        given is as in the other."""
        workspace = self._access.open("fork")
        allowed = workspace.config.limits.attempts if attempts is None else attempts
        spec = ForkSpec(brief, title, agent, engine, convoy=convoy, after=tuple(after), attempts=allowed)
        name, known = parse_task(task), workspace.known
        return added_in(workspace.record(lambda board: fork_task(board, name, spec, known)))[0]

    def message(self, tasks: Tasks, text: str, *, now: bool = False) -> list[int]:
        """A follow-up, or the answer to a question, delivered as the agents' next turn, or while they work where their
        engine allows it; with `now` the running turn is interrupted for it. Returns its record numbers."""
        names, workspace = _names(tasks), self._access.open("message")
        by_agent = workspace.worker is not None
        records = workspace.record(lambda board: send_message(board, names, text, now=now, by_agent=by_agent))
        return [record.seq for record in records]

    def stop(self, tasks: Tasks, reason: str = "") -> None:
        """Ends the agents at work on the tasks. What they have committed stays."""
        names = _names(tasks)
        self._record("stop", lambda board: stop_tasks(board, names, reason))

    def cancel(self, tasks: Tasks, reason: str = "") -> None:
        names = _names(tasks)
        self._record("cancel", lambda board: cancel_tasks(board, names, reason))

    def retry(self, tasks: Tasks, *, attempts: int = 1, reason: str = "") -> None:
        names = _names(tasks)
        self._record("retry", lambda board: retry_tasks(board, names, attempts, reason))

    def approve(self, tasks: Tasks, message: str = "", *, head: str | None = None) -> list[Queued]:
        """Puts the changes into the merge queue; they land when their tests pass. With `head`, only that version of one
        task. Of several that cannot all be queued, the others are, and the first refusal is raised."""
        from paddock.fleet.landing.approval import ApprovalRequest, approve

        names = _names(tasks)
        if head is not None and len(names) != 1:
            raise Misuse("`head` needs exactly one task", "approve them one by one")
        workspace = self._access.open("approve")
        expected = {names[0]: head} if head is not None else {}
        done = approve(workspace, ApprovalRequest(names, message=message, expected=expected))
        if done.refused:
            raise done.refused[0].error
        return [Queued(one.id, one.version, one.head, tuple(done.waits_on.get(one.id, ()))) for one in done.changes]

    def land(self, tasks: Tasks, message: str = "", *, head: str | None = None) -> list[Queued]:
        """The same as `approve`: whoever approves a change lets it land."""
        return self.approve(tasks, message, head=head)

    def reject(self, task: str, message: str = "", *, head: str | None = None) -> None:
        """Its agent tries again, with the message."""
        name = parse_task(task)
        self._record("reject", lambda board: reject_task(board, name, message, head))

    def revert(self, change: str, message: str = "") -> str:
        """Queues the reverse of a landed task or branch, approved; returns the branch it is on."""
        from paddock.fleet.landing.reverts import revert

        return revert(self._access.open("revert"), change, message).branch

    # -- the fleet ------------------------------------------------------------------------------------------

    def wait(
        self,
        tasks: Tasks = (),
        *,
        convoy: str | None = None,
        until: str = "settled",
        timeout: float | None = None,
    ) -> list[TaskView]:
        """Until each of the tasks, or of the convoy's, is `settled` (nothing more happens without a person) or
        `finished`. Raises `WaitTimedOut` after `timeout` seconds. Something has to run the fleet: `up` or `run`."""
        workspace = self._access.open("status")
        names = _names(tasks) if tasks else []
        if convoy is not None:
            names += _members(workspace.board(), convoy)
        if not names:
            raise Misuse("there is nothing to wait for", "name tasks, or a convoy")
        try:
            wanted = Until(until)
        except ValueError:
            raise Misuse(f"`{until}` is nothing to wait for", "use `settled` or `finished`") from None
        board = wait_for(workspace, names, wanted, timeout)
        return [view_task(board.task(name), board) for name in names]

    def acknowledge(self, alerts: str | Sequence[str], note: str = "") -> None:
        """Somebody knows of them (`"a7"`), and nobody is told any more."""
        from paddock.core.intent.alerts import acknowledge_alerts

        names = (alerts,) if isinstance(alerts, str) else tuple(alerts)
        self._record("alerts ack", lambda board: acknowledge_alerts(board, names, note))

    def run(self, *, only: Tasks = (), max_agents: int | None = None, timeout: float | None = None) -> bool:
        """Runs agents until nothing is left to do, as `paddock run --until-idle` does, in a process of its own.
        Whether nothing has failed. Agents outlive the `timeout`, and the next daemon picks them up."""
        from paddock.fleet.service.background import command_line

        workspace = self._access.open("run")
        words = ["run", "--until-idle", *(word for name in _names(only) for word in ("--only", name))]
        words += ["--max", str(max_agents)] if max_agents is not None else []
        try:
            done = subprocess.run(
                command_line(workspace.top, words),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise PaddockError(f"the fleet is not idle after {timeout:g}s", "`paddock status` shows why") from None
        said = done.stderr.decode("utf-8", "replace")
        if done.returncode and said.startswith("error: "):
            raise read_complaint(said)
        return done.returncode == 0

    def up(self, *, max_agents: int | None = None) -> None:
        """Starts the fleet in the background, unless it is there already."""
        from paddock.fleet.service.background import find_daemon
        from paddock.fleet.service.control import await_daemon, require_startable, start_daemon

        workspace = self._access.open("up")
        if find_daemon(workspace.board()) is None:
            require_startable(workspace)
            start_daemon(workspace, max_agents)
            await_daemon(workspace)

    def down(self, *, now: bool = False) -> None:
        """Ends the daemon; with `now`, every agent too."""
        from paddock.fleet.service.control import end_fleet

        end_fleet(self._access.open("down"), agents_too=now)

    def _record(self, command: str, decide: Decide) -> list[Record]:
        return self._access.open(command).record(decide)


def _names(tasks: Tasks) -> list[TaskId]:
    said = [tasks] if isinstance(tasks, str) else tasks
    parts = (part for one in said for part in split_list(one) or (one,))
    return list(dict.fromkeys(name for part in parts for name in parse_task_range(part)))


def _members(board: Board, convoy: str) -> list[TaskId]:
    require_convoy(board, convoy)
    return board.members[convoy]


def _chosen(workspace: Workspace, board: Board, convoy: str | None, where: str | None) -> list[TaskId] | None:
    """None for all tasks."""
    members = _members(board, convoy) if convoy is not None else None
    if where is None:
        return members
    from paddock.fleet.task_filter import read_filter

    return read_filter(workspace, where, time.time()).pick(board, members)


def _phase(word: str) -> Phase:
    try:
        return Phase(word)
    except ValueError:
        raise Misuse(f"`{word}` is not a phase", f"phases are {', '.join(Phase)}") from None


def _role(word: str) -> Role:
    try:
        return Role(word)
    except ValueError:
        raise Misuse(f"`{word}` is not a role", f"roles are {', '.join(Role)}") from None


def _added(workspace: Workspace, batch: Batch) -> list[str]:
    known = workspace.known
    records = workspace.record(lambda board: add_tasks(board, batch, known))
    return added_in(records)
