"""What people ask for, turned into events or refused: pure decisions over the board."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec import UNSET
from msgspec.structs import replace

from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.errors import Misuse, PaddockError
from paddock.core.ids import TaskId, printable, task_id
from paddock.core.intent.acceptance import check_acceptance
from paddock.core.intent.obstacles import TaskAction, require_possible
from paddock.core.nodes.labels import read_needs
from paddock.core.routing import AGENT_ROLE, RosterAgent, Route, Work, past_in, route
from paddock.core.tasks.task import Phase, Task
from paddock.core.tasks.vocabulary import Role
from paddock.core.wording import (
    check_brief,
    check_known,
    check_labels,
    check_name,
    check_numbers,
    check_paths,
    check_title,
    derive_title,
    did_you_mean,
)


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """One task to add. `after` names existing tasks (`t3`) or the `key` of another task of the same batch.

    `kind` is the kind of work, `role` what its attempts are for. `inputs` are named like `after`: it waits for them
    too, and is told what came of them. `series` is as `TaskAdded` has it; `needs` are labels, as people write them.
    """

    brief: str
    title: str | None = None
    key: str | None = None
    agent: str | None = None
    engine: str | None = None
    after: tuple[str, ...] = ()
    priority: int = 0
    paths: tuple[str, ...] = ()
    attempts: int = 3
    where: str = ""
    kind: str | None = None
    labels: tuple[str, ...] = ()
    accept: ev.Acceptance | None = None
    role: Role = Role.WORK
    inputs: tuple[str, ...] = ()
    series: str = ""
    needs: tuple[str, ...] = ()

    @property
    def waits_for(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.after, *self.inputs)))


@dataclass(frozen=True, slots=True)
class Known:
    """The agents and engines the configuration knows; `roster` is what the agents declare."""

    agents: frozenset[str] = frozenset()
    engines: frozenset[str] = frozenset()
    roster: tuple[RosterAgent, ...] = ()

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of work that agents take."""
        return frozenset(kind for one in self.roster for kind in one.kinds)


@dataclass(frozen=True, slots=True)
class Batch:
    tasks: tuple[TaskSpec, ...]
    convoy: str | None = None
    title: str = ""


def add_tasks(board: Board, batch: Batch, known: Known) -> list[ev.Draft]:
    """Events for a whole batch, in dependency order, or a refusal for the first thing wrong with it."""
    if not batch.tasks:
        raise Misuse("there is no task to add", 'give a brief: `paddock add "fix the parser"`')
    for spec in batch.tasks:
        _check_spec(spec, known)
    drafts: list[ev.Draft] = []
    if batch.convoy is not None:
        check_name("convoy", batch.convoy)
        if batch.title:
            check_title(batch.title)
        if batch.convoy not in board.convoys:
            drafts.append(ev.Draft(ev.ConvoyAdded(batch.convoy, batch.title)))
    keys = _keys(batch.tasks)
    ids: dict[str, TaskId] = {}
    for offset, index in enumerate(_dependency_order(batch.tasks, keys)):
        spec = batch.tasks[index]
        new = task_id(board.next_task + offset)
        after, inputs = (
            tuple(dict.fromkeys(_resolve(board, spec, name, ids) for name in names))
            for names in (spec.waits_for, spec.inputs)
        )
        if spec.key is not None:
            ids[spec.key] = new
        added = replace(_added(board, spec, batch.convoy, known), after=after, inputs=inputs)
        drafts.append(ev.Draft(added, task=new))
    return drafts


def added_in(records: Iterable[ev.Record]) -> list[str]:
    """The ids of the tasks that were added."""
    return [str(record.task) for record in records if isinstance(record.event, ev.TaskAdded)]


def choose_agent_for(board: Board, work: Work, known: Known) -> Route:
    """Who would get it. Raises Misuse where such a task would be refused."""
    _check_spec(TaskSpec("anything", agent=work.agent, paths=work.paths, kind=work.kind, labels=work.labels), known)
    return choose_agent(board, work, known)


def choose_agent(board: Board, work: Work, known: Known) -> Route:
    """Who gets a task like this."""
    return route(work, known.roster, past_in(board, work.kind))


def cancel_tasks(board: Board, tasks: Iterable[TaskId], reason: str) -> list[ev.Draft]:
    drafts = []
    for name in dict.fromkeys(tasks):
        require_possible(board, board.task(name), TaskAction.CANCEL)
        drafts.append(ev.Draft(ev.TaskCancelled(reason), task=name))
    return drafts


def retry_tasks(board: Board, tasks: Iterable[TaskId], attempts: int, reason: str) -> list[ev.Draft]:
    check_numbers(attempts=attempts)
    drafts = []
    for name in dict.fromkeys(tasks):
        task = board.task(name)
        require_possible(board, task, TaskAction.RETRY)
        drafts.append(ev.Draft(ev.TaskRetried(attempts, reason, review=task.in_review), task=name))
    return drafts


def edit_task(board: Board, name: TaskId, edit: ev.TaskEdited, known: Known) -> list[ev.Draft]:
    task = board.task(name)
    require_possible(board, task, TaskAction.EDIT)
    if edit == ev.TaskEdited():
        raise Misuse(f"nothing to change in `{name}`", "say what: --title, --brief, --after, --priority, …")
    live = task.live_attempt
    if live is not None and (edit.brief, edit.agent, edit.engine, edit.task_kind) != (UNSET,) * 4:
        raise PaddockError(
            f"task `{name}` {task.phase.words}: brief, agent, engine and kind are fixed until `{live.id}` ends",
            f"run `paddock stop {name}` first, or send a follow-up with `paddock message {name} …`",
        )
    if task.phase is Phase.QUEUED and edit.accept is not UNSET:
        raise PaddockError(
            f"task `{name}` is in the merge queue: what it must pass is fixed there",
            f"take it out first: `paddock queue cancel {name}`",
        )
    _check_edit(board, task, edit, known)
    if (agent := _newly_chosen(board, task, edit, known)) is not None:
        edit = replace(edit, agent=agent)
    if edit.needs is not UNSET:
        edit = replace(edit, needs=read_needs(edit.needs))
    return [ev.Draft(edit, task=name)]


def _newly_chosen(board: Board, task: Task, edit: ev.TaskEdited, known: Known) -> str | None:
    """A new kind brings its agent. Paths and labels bring one to a task that has none yet."""
    if edit.agent is not UNSET or task.live_attempt is not None:
        return None
    brings = bool(edit.task_kind) or (task.agent is None and (edit.paths, edit.labels) != (UNSET, UNSET))
    if not brings:
        return None
    paths = task.paths if edit.paths is UNSET else edit.paths
    labels = task.labels if edit.labels is UNSET else edit.labels
    kind = task.kind if edit.task_kind is UNSET else edit.task_kind
    return choose_agent(board, Work(paths, kind, labels, role=AGENT_ROLE[task.role]), known).agent


def stop_tasks(board: Board, tasks: Iterable[TaskId], reason: str) -> list[ev.Draft]:
    drafts = []
    for name in dict.fromkeys(tasks):
        task = board.task(name)
        require_possible(board, task, TaskAction.STOP)
        live = task.live_attempt
        if live is not None and live.stop_requested is None:
            drafts.append(ev.Draft(ev.StopRequested(reason), task=name, attempt=live.id))
    return drafts


def _check_spec(spec: TaskSpec, known: Known) -> None:
    try:
        check_brief(spec.brief, "the brief")
        if spec.title is not None:
            check_title(spec.title)
        check_numbers(attempts=spec.attempts, priority=spec.priority)
        check_paths(spec.paths)
        check_labels(spec.labels)
        read_needs(spec.needs)
        if spec.agent is not None:
            check_known("agent", spec.agent, known.agents)
        if spec.engine is not None:
            check_known("engine", spec.engine, known.engines)
        if spec.kind is not None:
            _check_kind(spec.kind, known)
        if spec.accept is not None:
            check_acceptance(spec.accept, spec.role)
    except Misuse as refusal:
        if not spec.where:
            raise
        raise Misuse(f"{spec.where}: {refusal.message}", refusal.hint) from None


def _check_kind(kind: str, known: Known) -> None:
    """Any word, until agents declare which kinds they take: then an unknown one is a typo."""
    check_name("kind", kind)
    if known.kinds:
        check_known("kind", kind, known.kinds)


def _added(board: Board, spec: TaskSpec, convoy: str | None, known: Known) -> ev.TaskAdded:
    work = Work(spec.paths, spec.kind, spec.labels, spec.agent, AGENT_ROLE[spec.role])
    return ev.TaskAdded(
        title=spec.title if spec.title is not None else derive_title(spec.brief),
        brief=spec.brief,
        agent=choose_agent(board, work, known).agent,
        engine=spec.engine,
        convoy=convoy,
        priority=spec.priority,
        paths=spec.paths,
        attempts=spec.attempts,
        task_kind=spec.kind,
        accept=spec.accept,
        role=spec.role,
        labels=spec.labels,
        series=spec.series,
        needs=read_needs(spec.needs),
    )


def _keys(specs: Sequence[TaskSpec]) -> dict[str, int]:
    keys: dict[str, int] = {}
    for index, spec in enumerate(specs):
        if spec.key is None:
            continue
        if spec.key in keys:
            raise Misuse(
                f"{spec.where or 'a task'}: the key `{printable(spec.key)}` is used twice", "give each task its own key"
            )
        keys[spec.key] = index
    return keys


def _dependency_order(specs: Sequence[TaskSpec], keys: dict[str, int]) -> list[int]:
    """Indexes so that every task follows what it depends on; file order otherwise. Refuses a cycle."""
    order: list[int] = []
    state = [0] * len(specs)
    for start in range(len(specs)):
        stack = [start]
        while stack:
            index = stack[-1]
            if state[index] == 2:
                stack.pop()
                continue
            state[index] = 1
            ahead = [keys[name] for name in specs[index].waits_for if name in keys and state[keys[name]] != 2]
            if cycle := [other for other in ahead if state[other] == 1]:
                raise Misuse(_describe_cycle(specs, stack, cycle[0]), "remove one of these dependencies")
            if ahead:
                stack.append(ahead[0])
            else:
                state[index] = 2
                order.append(stack.pop())
    return order


def _describe_cycle(specs: Sequence[TaskSpec], stack: Sequence[int], back_to: int) -> str:
    names = [str(specs[index].key) for index in [*stack[stack.index(back_to) :], back_to]]
    return f"the dependencies form a cycle: {' → '.join(printable(name, 40) for name in names)}"


def _resolve(board: Board, spec: TaskSpec, name: str, ids: dict[str, TaskId]) -> TaskId:
    if name in ids:
        return ids[name]
    if TaskId(name) in board.tasks:
        return TaskId(name)
    where = f"{spec.where}: " if spec.where else ""
    raise Misuse(
        f"{where}it depends on `{printable(name, 80)}`, which is neither a task nor a key in this batch",
        did_you_mean(name, [*ids, *board.tasks], "`paddock status --all` lists the tasks"),
    )


def _check_edit(board: Board, task: Task, edit: ev.TaskEdited, known: Known) -> None:
    if edit.title is not UNSET:
        check_title(edit.title)
    if edit.brief is not UNSET:
        check_brief(edit.brief, "the brief")
    if edit.agent is not UNSET and edit.agent is not None:
        check_known("agent", edit.agent, known.agents)
    if edit.engine is not UNSET and edit.engine is not None:
        check_known("engine", edit.engine, known.engines)
    if edit.task_kind is not UNSET and edit.task_kind is not None:
        _check_kind(edit.task_kind, known)
    check_numbers(
        attempts=task.allowed if edit.attempts is UNSET else edit.attempts,
        priority=0 if edit.priority is UNSET else edit.priority,
    )
    if edit.paths is not UNSET:
        check_paths(edit.paths)
    if edit.accept is not UNSET and edit.accept is not None:
        check_acceptance(edit.accept, task.role)
    if edit.labels is not UNSET:
        check_labels(edit.labels)
    if edit.needs is not UNSET:
        read_needs(edit.needs)
    if edit.after is not UNSET:
        _check_no_cycle(board, task, edit.after)


def _check_no_cycle(board: Board, task: Task, after: tuple[TaskId, ...]) -> None:
    came_from: dict[TaskId, TaskId] = {}
    stack = list(after)
    for other in after:
        board.task(other)
        came_from[other] = task.id
    while stack:
        name = stack.pop()
        if name == task.id:
            raise Misuse(
                f"`{task.id}` would wait for itself: {_path_back(task.id, came_from)}",
                "omit one of them from --after; `--after ''` removes all dependencies",
            )
        for other in board.tasks[name].after:
            if other not in came_from:
                came_from[other] = name
                stack.append(other)


def _path_back(task: TaskId, came_from: dict[TaskId, TaskId]) -> str:
    names = [task]
    while (names[-1] != task or len(names) == 1) and names[-1] in came_from:
        names.append(came_from[names[-1]])
    return " → ".join(reversed(names))
