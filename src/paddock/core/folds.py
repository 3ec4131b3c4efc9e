"""What each event makes of the board, chosen by its class. Everything is computed before anything is changed."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec.structs import replace

from paddock.core import events as ev
from paddock.core.alerts import events as al
from paddock.core.board import DAEMON_LEASE, NODE_LEASES, Board, Convoy, SettingsChange
from paddock.core.causes import events as ce
from paddock.core.causes.tasks import find_attempt
from paddock.core.given import Given
from paddock.core.ids import TaskId, attempt_number, task_id
from paddock.core.merge import events as qe
from paddock.core.review import events as rv
from paddock.core.tasks.landing import LandingEvent, tasks_concerned
from paddock.core.tasks.life import AttemptEvent, PersonsEvent, TaskEvent, begin, evolve, settle
from paddock.core.tasks.task import DECIDED, FINISHED, Phase, Task, illegal
from paddock.core.tasks.vocabulary import USEFUL, Role

if TYPE_CHECKING:
    from paddock.core.leases.lease import LeaseEvent, LeaseGranted
    from paddock.core.money.spending import Spending
    from paddock.core.nodes.events import NodeEvent
    from paddock.core.schedules.events import ScheduleEvent

KEPT_SETTINGS = 16

Fold: TypeAlias = Callable[[Board, ev.Record, Any], None]
Spend: TypeAlias = "Callable[[Spending, Task, Task, ev.Record], Spending]"
"""The spending after an event that has made of the first task the second."""


def fold_of(event: type[ev.Event]) -> Fold:
    """What leases, money and the queue need is imported with the first event that needs it."""
    if event in _FOLDS:
        return _FOLDS[event]
    if event.kind.startswith("schedule."):
        return _fold_schedule
    if event.kind.startswith("node."):
        return _fold_node
    from paddock.core.leases.lease import LEASE_EVENTS, LeaseGranted

    assert event in LEASE_EVENTS, event
    return partial(_fold_and_count, fold=_fold_lease, given=_generation) if event is LeaseGranted else _fold_lease


def _fold_and_count(
    board: Board, record: ev.Record, event: Any, *, fold: Fold, given: Callable[[ev.Record, Any], Given]
) -> None:
    """For an event that gives a number."""
    fold(board, record, event)
    board.numbers = board.numbers.raised(given(record, event))


def _attempt(record: ev.Record, _event: ev.AttemptStarted) -> Given:
    return Given(attempts=attempt_number(record.attempt) if record.attempt else 0)


def _run(_record: ev.Record, event: qe.RunStarted) -> Given:
    number = event.run[1:]
    return Given(runs=int(number) if number.isdecimal() else 0)


def _version(_record: ev.Record, event: qe.ChangeQueued) -> Given:
    return Given(versions=event.change.version)


def _finding(_record: ev.Record, event: rv.FindingReported) -> Given:
    number = event.id[1:]
    return Given(findings=int(number) if number.isdecimal() else 0)


def _generation(_record: ev.Record, event: "LeaseGranted") -> Given:
    return Given(generations=event.generation)


def _fold_task(board: Board, record: ev.Record, event: TaskEvent) -> None:
    before = _find(board, record)
    _put(board, _changed(board, before, record, event), before, record.at)


def _fold_persons_word(board: Board, record: ev.Record, event: ev.TaskRetried | ev.TaskRejected) -> None:
    """A person has sent it back, or has its review tried again: that begins again. Who has it tried again says that
    what kept its engine from running is fixed."""
    _fold_task(board, record, event)
    last = board.tasks[record.task].last if record.task is not None and isinstance(event, ev.TaskRetried) else None
    if last is not None and not last.live and last.outcome not in USEFUL:
        _forget_stop(board, last.engine, record.at)
    again = isinstance(event, ev.TaskRetried) and event.review
    known = not board.review_part.is_nothing and record.task in board.reviews.tasks
    if record.task is not None and (again or known):
        from paddock.core.review.evolve import begin_again

        board.review_part.put(begin_again(board.reviews, record.task, record.at))


def _fold_review(board: Board, record: ev.Record, event: rv.ReviewEvent) -> None:
    """Its task may refuse it, and so may what is known of its review."""
    from paddock.core.review.evolve import evolve as evolve_reviews

    before = _find(board, record)
    reviews = evolve_reviews(board.reviews, event, record)
    if isinstance(event, rv.ReviewStep):
        _put(board, _changed(board, before, record, event), before, record.at)
    board.review_part.put(reviews)


def _fold_attempt(board: Board, record: ev.Record, event: AttemptEvent, spend: "Spend | None" = None) -> None:
    """What a replaced daemon, or the replaced deputy of a node, still writes is in the log, but has no effect."""
    if _is_late(board, record):
        return
    before = _find(board, record)
    task = _changed(board, before, record, event)
    spending = spend(board.spending, before, task, record) if spend is not None else None
    _put(board, task, before, record.at)
    if spending is not None:
        board.spending_part.put(spending)


def _is_late(board: Board, record: ev.Record) -> bool:
    if not record.generation:
        return False
    if record.actor.startswith(NODE_LEASES):
        from paddock.core.nodes.tenure import is_superseded

        return is_superseded(board.leases, record.actor, record.generation)
    return record.generation < board.daemon_generation


def _fold_end(board: Board, record: ev.Record, event: ev.AttemptEnded) -> None:
    """What a review has cost is its reviewer's."""
    _fold_attempt(board, record, event, _book_end)
    attempt = board.tasks[record.task].last if record.task is not None else None
    if attempt is not None and attempt.role is Role.REVIEW and attempt.id == record.attempt and attempt.agent:
        from paddock.core.review.evolve import add_cost

        board.review_part.put(add_cost(board.reviews, attempt.agent, attempt.cost_usd or 0.0))
    if attempt is not None and attempt.id == record.attempt and not board.cause_part.is_nothing:
        from paddock.core.causes.evolve import note_end

        board.cause_part.put(note_end(board.causes, attempt))


def _find(board: Board, record: ev.Record) -> Task:
    try:
        return board.tasks[record.task or TaskId("")]
    except KeyError:
        raise illegal(record.task or "nothing", "unknown", record.event) from None


def _changed(board: Board, before: Task, record: ev.Record, event: TaskEvent) -> Task:
    task = evolve(before, event, record)
    if task.after is not before.after:
        _require_tasks(board, task.after, event)
    elif task.phase is not Phase.READY:
        return task
    return settle(task, board.tasks, record.at)


def _put(board: Board, task: Task, before: Task, at: float) -> None:
    if task.after is not before.after:
        _relink(board, task, before.after)
    board.put(task, before)
    if task.phase is not before.phase and (task.phase in DECIDED or before.phase in DECIDED):
        for name in board.dependents.get(task.id, ()):
            dependent = board.tasks[name]
            board.put(settle(dependent, board.tasks, at), dependent)
    finishes = task.phase in FINISHED and before.phase not in FINISHED
    if finishes and not board.review_part.is_nothing and task.id in board.reviews.tasks:
        from paddock.core.review.evolve import forget

        board.review_part.put(forget(board.reviews, task.id))


def _require_tasks(board: Board, names: tuple[TaskId, ...], event: ev.Event) -> None:
    for name in names:
        if name not in board.tasks:
            raise illegal(name, "unknown", event)


def _relink(board: Board, task: Task, before: tuple[TaskId, ...]) -> None:
    for other in dict.fromkeys(before):
        if other not in task.after:
            board.dependents[other].remove(task.id)
    for other in dict.fromkeys(task.after):
        if other not in before:
            board.dependents.setdefault(other, []).append(task.id)


def _add_task(board: Board, record: ev.Record, event: ev.TaskAdded) -> None:
    if record.task is None or record.task != task_id(board.next_task):
        raise illegal(record.task or "nothing", "already used", event)
    if event.convoy is not None and event.convoy not in board.convoys:
        raise illegal(event.convoy, "not a convoy", event)
    task = begin(record.task, event, record)
    if event.after:
        _require_tasks(board, event.after, event)
        task = settle(task, board.tasks, record.at)
        _relink(board, task, ())
    board.add(task)


def _add_convoy(board: Board, record: ev.Record, event: ev.ConvoyAdded) -> None:
    if event.name in board.convoys:
        raise illegal(event.name, "there already", event)
    board.convoys[event.name] = Convoy(event.name, event.title, record.at)
    board.members[event.name] = []
    board.convoy_counts[event.name] = {}


def _fold_queue(board: Board, record: ev.Record, event: qe.QueueEvent) -> None:
    from paddock.core.merge.evolve import evolve as evolve_queue

    board.queue_part.put(evolve_queue(board.queue, event, record.at))


def _fold_landing(board: Board, record: ev.Record, event: LandingEvent) -> None:
    """The queue may refuse it, and so may each task it is about."""
    from paddock.core.merge.evolve import evolve as evolve_queue

    if isinstance(event, qe.ChangeQueued):
        _require_unblocked(board, event)
    queue = evolve_queue(board.queue, event, record.at)
    concerned = [board.tasks[name] for name in tasks_concerned(board.queue, event) if name in board.tasks]
    moved = [(_changed(board, before, record, event), before) for before in concerned]
    board.queue_part.put(queue)
    for task, before in moved:
        _put(board, task, before, record.at)


def _require_unblocked(board: Board, event: qe.ChangeQueued) -> None:
    """No version enters the queue with an open blocking finding, whoever approved it."""
    if board.review_part.is_nothing:
        return
    if blocking := board.reviews.blocking_of(TaskId(event.change.task or "")):
        raise illegal(str(event.change.task), f"held by {', '.join(one.id for one in blocking)}", event)


def _fold_alert(board: Board, record: ev.Record, event: al.AlertEvent) -> None:
    from paddock.core.alerts.evolve import evolve as evolve_alerts

    board.alert_part.put(evolve_alerts(board.alerts, event, record))


def _fold_lease(board: Board, record: ev.Record, event: "LeaseEvent") -> None:
    from paddock.core.leases import lease

    board.lease_part.put(lease.evolve(board.leases, event, record.at))
    if isinstance(event, lease.LeaseGranted) and event.name == DAEMON_LEASE:
        board.daemon_generation = event.generation


def _fold_schedule(board: Board, record: ev.Record, event: "ScheduleEvent") -> None:
    from paddock.core.schedules.events import ScheduleFired
    from paddock.core.schedules.evolve import evolve as evolve_schedules
    from paddock.core.schedules.progress import is_unfinished

    if isinstance(event, ScheduleFired):
        _require_tasks(board, event.tasks, event)
    board.schedule_part.put(evolve_schedules(board.schedules, event, record, partial(is_unfinished, board)))


def _fold_node(board: Board, record: ev.Record, event: "NodeEvent") -> None:
    from paddock.core.nodes.drains import evolve_drains

    board.drains = evolve_drains(board.drains, event, record.actor, record.at)


def _fold_found_cause(board: Board, record: ev.Record, event: ce.CauseFound) -> None:
    """Its task may refuse it, and so may what is known of the cause."""
    from paddock.core.causes.evolve import evolve as evolve_causes

    before = _find(board, record)
    task = _changed(board, before, record, event)
    causes = evolve_causes(board.causes, event, record, find_attempt(before, record.attempt))
    _put(board, task, before, record.at)
    board.cause_part.put(causes)


def _fold_probe(board: Board, record: ev.Record, event: ce.CauseProbed | ce.CauseLeftOpen) -> None:
    from paddock.core.causes.evolve import evolve as evolve_causes

    board.cause_part.put(evolve_causes(board.causes, event, record))


def _fold_cause(board: Board, record: ev.Record, event: ce.CauseSettled | ce.CauseCleared) -> None:
    """The tasks that it was found in, and those that it blocks, which may be older than all that it knows of."""
    from paddock.core.causes.evolve import evolve as evolve_causes

    causes = evolve_causes(board.causes, event, record)
    cause = board.causes.find(event.id)
    blocked = [name for name in board.needy if board.tasks[name].cause == event.id]
    concerned = dict.fromkeys((*(cause.tasks if cause is not None else ()), *blocked))
    found = [board.tasks[name] for name in concerned]
    for task, before in [(_changed(board, before, record, event), before) for before in found]:
        _put(board, task, before, record.at)
    board.cause_part.put(causes)


def _reset_limits(board: Board, record: ev.Record, event: ev.LimitsReset) -> None:
    _forget_stop(board, event.name, record.at)


def _forget_stop(board: Board, name: str, at: float) -> None:
    """Of an engine, or of an account."""
    from paddock.core.causes.evolve import forget_streaks

    board.cause_part.put(forget_streaks(board.causes, name, at))


def _fold_budget(board: Board, _record: ev.Record, event: ev.BudgetSet) -> None:
    from paddock.core.money.spending import set_budget

    board.spending_part.put(set_budget(board.spending, event))


def _fold_settings(board: Board, record: ev.Record, event: ev.SettingsInForce) -> None:
    """A daemon that starts with what was in force before changes nothing."""
    if not board.settings or board.settings[-1].digest != event.digest:
        change = SettingsChange(record.at, event.digest, event.changes)
        board.settings = (*board.settings, change)[-KEPT_SETTINGS:]


def _set_version(board: Board, _record: ev.Record, event: ev.LogCreated | ev.LogUpgraded) -> None:
    board.version = event.version


def _create(board: Board, record: ev.Record, event: ev.LogCreated) -> None:
    _set_version(board, record, event)
    board.identity, board.label = event.identity, event.label


def _accept_loss(board: Board, _record: ev.Record, event: ev.LogLossAccepted) -> None:
    """Counts on above what was given; lost tasks are added again by events of their own, to be seen as such."""
    from paddock.core.leases.lease import skip_generations
    from paddock.core.merge.runs import skip_lost

    given = event.given
    leases, queue = skip_generations(board.leases, given.generations), skip_lost(board.queue, given)
    behind = [task for name in board.tasks if (task := board.tasks[name]).newest < given.attempts]
    for task in behind:
        board.put(replace(task, skipped=given.attempts - task.started), task)
    board.lease_part.put(leases)
    board.queue_part.put(queue)
    board.numbers = board.numbers.raised(given)


def _skip_unknown(board: Board, _record: ev.Record, event: ev.Unknown) -> None:
    board.unknown[event.name] = board.unknown.get(event.name, 0) + 1


def _note(_board: Board, _record: ev.Record, _event: ev.Event) -> None:
    """Recorded for people to read; changes nothing."""


def _book_start(spending: "Spending", before: Task, _task: Task, record: ev.Record) -> "Spending":
    assert isinstance(record.event, ev.AttemptStarted)
    from paddock.core.money.spending import start

    return start(spending, before, record, record.event)


def _book_extension(spending: "Spending", before: Task, _task: Task, record: ev.Record) -> "Spending":
    assert isinstance(record.event, ev.AttemptExtended)
    from paddock.core.money.spending import extend

    return extend(spending, before, record.attempt or "", record.event)


def _book_end(spending: "Spending", _before: Task, task: Task, record: ev.Record) -> "Spending":
    assert task.last is not None
    from paddock.core.money.spending import end

    return end(spending, task, task.last, record.at)


_FOLDS: dict[type[ev.Event], Fold] = {
    ev.LogCreated: _create,
    ev.LogLossAccepted: _accept_loss,
    ev.LogUpgraded: _set_version,
    ev.Unknown: _skip_unknown,
    ev.ConvoyAdded: _add_convoy,
    ev.TaskAdded: _add_task,
    **dict.fromkeys(PersonsEvent.__args__, _fold_task),
    **dict.fromkeys(AttemptEvent.__args__, _fold_attempt),
    ev.AttemptStarted: partial(_fold_and_count, fold=partial(_fold_attempt, spend=_book_start), given=_attempt),
    ev.AttemptExtended: partial(_fold_attempt, spend=_book_extension),
    ev.AttemptEnded: _fold_end,
    ev.BudgetSet: _fold_budget,
    ev.TaskRetried: _fold_persons_word,
    ev.TaskRejected: _fold_persons_word,
    **dict.fromkeys(rv.ReviewEvent.__args__, _fold_review),
    rv.FindingReported: partial(_fold_and_count, fold=_fold_review, given=_finding),
    **dict.fromkeys(qe.QueueEvent.__args__, _fold_queue),
    **dict.fromkeys(LandingEvent.__args__, _fold_landing),
    qe.RunStarted: partial(_fold_and_count, fold=_fold_queue, given=_run),
    qe.ChangeQueued: partial(_fold_and_count, fold=_fold_landing, given=_version),
    **dict.fromkeys(al.AlertEvent.__args__, _fold_alert),
    ev.WorktreeRemoved: _note,
    ev.Swept: _note,
    ev.DaemonTroubled: _note,
    ev.SettingsAdopted: _note,
    ev.SettingsInForce: _fold_settings,
    ev.LimitsReset: _reset_limits,
    ce.CauseFound: _fold_found_cause,
    **dict.fromkeys((ce.CauseProbed, ce.CauseLeftOpen), _fold_probe),
    **dict.fromkeys((ce.CauseSettled, ce.CauseCleared), _fold_cause),
}
