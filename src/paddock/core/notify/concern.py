"""What is worth telling a person who is elsewhere, as the board has it.

Everything here is derived from the board, so nothing has to be remembered but what was told already: a daemon that
dies tells no less than one that lives on.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum

from paddock.core.board import Board
from paddock.core.ids import TaskId
from paddock.core.merge.model import Decided, Ending
from paddock.core.money.budget import Amount, limit_of
from paddock.core.money.use import budget_uses
from paddock.core.tasks.needs import Need, need_of, next_command
from paddock.core.tasks.questions import answer_command
from paddock.core.tasks.task import Task
from paddock.core.tasks.vocabulary import Outcome

NEARLY = 0.8
"""How much of a budget is used when people are told that it runs out."""


class ConcernKind(StrEnum):
    """In the order in which they are told: what stops everything comes first. The names are those of
    `[notify] about`; those of alerts are their severities."""

    HALTED = "halted"
    PAGE = "page"
    BUDGET = "budget"
    APPROVAL = "approval"
    ANSWER = "answer"
    BLOCKED = "blocked"
    FAILED = "failed"
    TICKET = "ticket"
    NOTICE = "notice"
    LANDED = "landed"


@dataclass(frozen=True, slots=True)
class Concern:
    """`key` names this thing in this state: nobody is told of it twice. `subject` is a task with its title, or what
    else it is about; `why` and `run` say in one line what is the matter, and what to run."""

    kind: ConcernKind
    key: str
    subject: str
    why: str
    run: str


@dataclass(frozen=True, slots=True)
class Scarcity:
    """A budget that keeps ready tasks from starting, and why."""

    scope: str
    reason: str


_KINDS = {
    Need.APPROVE: ConcernKind.APPROVAL,
    Need.ANSWER: ConcernKind.ANSWER,
    Need.BLOCKED: ConcernKind.BLOCKED,
    Need.FAILED: ConcernKind.FAILED,
}


_TOLD_AS = {"budget-used": ConcernKind.BUDGET}
"""Rules of alerts whose facts are told as something else already, where people are told about that."""
_ORDER = {kind: rank for rank, kind in enumerate(ConcernKind)}
Seen = dict[TaskId, tuple[Task, "Concern | None"]]
"""What was found of each task when it was last looked at, for who looks often: most have not changed since."""


def find_concerns(
    board: Board,
    about: Collection[str],
    now: float,
    since: float = 0.0,
    scarce: Scarcity | None = None,
    seen: Seen | None = None,
) -> list[Concern]:
    """What there is to tell now, the most pressing first. `since` is when somebody began to be told: what landed
    before that is no news."""
    found = [*_halt(board)] if ConcernKind.HALTED in about else []
    if ConcernKind.BUDGET in about:
        found += _budgets(board, now, scarce)
    found += _of_tasks(board, about, {} if seen is None else seen)
    if not board.alert_part.is_nothing:
        found += _alerts(board, about)
    found.sort(key=lambda concern: _ORDER[concern.kind])
    if ConcernKind.LANDED in about:
        landed = (one for one in board.queue.decided if one.outcome is Ending.LANDED and one.at >= since)
        found += [_landed(one) for one in landed]
    return found


def _halt(board: Board) -> Iterator[Concern]:
    if (halted := board.halted) is not None:
        yield Concern(ConcernKind.HALTED, f"halted:{halted.at}", "merge queue", halted.reason, "paddock queue why main")


def _alerts(board: Board, about: Collection[str]) -> Iterator[Concern]:
    """Each once, and once more when it escalates. What somebody has acknowledged needs nobody else."""
    from paddock.core.intent.alerts import open_alerts

    for alert in open_alerts(board):
        kind, told_as = ConcernKind(alert.severity.value), _TOLD_AS.get(alert.rule)
        if kind not in about or (told_as is not None and told_as in about):
            continue
        words = f"{alert.severity.value} {alert.id}"
        yield Concern(kind, f"alert:{alert.id}:{alert.severity.value}", words, alert.title, alert.run)


def _of_tasks(board: Board, about: Collection[str], seen: Seen) -> Iterator[Concern]:
    if len(seen) > 2 * len(board.needy):
        seen.clear()
    for name in board.needy:
        task, known = board.tasks[name], seen.get(name)
        if known is None or known[0] is not task:
            known = seen[name] = task, _task_concern(task, about)
        if known[1] is not None:
            yield known[1]


def _task_concern(task: Task, about: Collection[str]) -> Concern | None:
    need = need_of(task)
    if need is None or _was_left(task):
        return None
    kind = _KINDS[need]
    if kind is ConcernKind.BLOCKED and ConcernKind.BUDGET in about and _is_over_budget(task):
        kind = ConcernKind.BUDGET
    if kind not in about:
        return None
    # `1|2`, as a terminal shows the options, would be a pipe that begins with the first answer where it is pasted.
    chooses = need is Need.ANSWER and task.question and task.options
    run = answer_command(task.id) if chooses else task.unblock or next_command(task)
    return Concern(kind, f"{need}:{task.id}:{_state(task, need)}", f"{task.id} {task.title}", task.reason, run)


def _state(task: Task, need: Need) -> str:
    """A question stays the same one when its agent's turn ends over it."""
    if need is Need.ANSWER and task.question:
        return f"q{task.question}"
    if task.plan_waits:
        return f"p{task.answer_seq}"
    return str(task.since)


def _was_left(task: Task) -> bool:
    """A person has visited it and left it as it was, and so knows how it stands."""
    last = task.last
    visited = last is not None and last.found is not None and last.outcome is Outcome.LEFT
    return visited and last is not None and last.ended == task.since


def _is_over_budget(task: Task) -> bool:
    last = task.worker
    return last is not None and last.outcome is Outcome.OVER_BUDGET and last.ended == task.since


def _landed(change: Decided) -> Concern:
    where = f"landed in {change.commit[:10]}" if change.commit else "landed"
    run = f"paddock show {change.task}" if change.task else "paddock queue"
    return Concern(
        ConcernKind.LANDED, f"landed:{change.id}:{change.at}", f"{change.id} {change.title}".strip(), where, run
    )


def _budgets(board: Board, now: float, scarce: Scarcity | None) -> Iterator[Concern]:
    """A budget is told of when most of it is used, and once more when it keeps work from starting."""
    if board.spending_part.is_nothing:
        return
    ledger = board.spending.ledger
    if scarce is not None and (limit := limit_of(ledger, scarce.scope)) is not None:
        yield _budget(scarce.scope, limit, "full", f"tasks cannot start: {scarce.reason}")
    for use in budget_uses(board, now):
        if use.share >= NEARLY and (scarce is None or scarce.scope != use.scope):
            state = "full" if use.share >= 1.0 else "nearly"
            yield _budget(use.scope, use.limit, state, f"{use.share:.0%} of it is used")


def _budget(scope: str, limit: Amount, state: str, why: str) -> Concern:
    money = f" --usd {2 * limit.money:g}" if limit.money is not None else ""
    tokens = f" --tokens {2 * limit.tokens:.0f}" if limit.tokens is not None else ""
    named = "day" if scope.startswith("day:") else scope
    run = f"paddock budget show, then paddock budget set {named}{money}{tokens}"
    return Concern(
        ConcernKind.BUDGET, f"budget:{scope}:{state}:{limit.money}:{limit.tokens}", f"budget of {scope}", why, run
    )
