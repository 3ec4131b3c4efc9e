"""Claiming ready tasks: what is recorded when the dispatcher has decided to start them."""

from collections.abc import Sequence

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import AttemptStarted, Draft, TaskBlocked
from paddock.core.ids import TaskId, attempt_id, branch_name
from paddock.core.outcome import CONTINUES
from paddock.core.task import Attempt, Phase, Task
from paddock.fleet.site import Site


def claim_tasks(site: Site, board: Board, names: Sequence[TaskId], tip: str) -> list[Draft]:
    """An attempt for each task that is still ready, or a block for one that nobody can run."""
    drafts = []
    for name in names:
        task = board.task(name)
        if task.phase is not Phase.READY or task.live_attempt is not None:
            continue
        try:
            drafts.append(_claim(site, task, tip))
        except PaddockError as error:
            block = TaskBlocked(error.message, unblock=f"paddock edit {name} --engine …, then paddock retry {name}")
            drafts.append(Draft(block, task=name))
    return drafts


def _claim(site: Site, task: Task, tip: str) -> Draft:
    engine = site.engine_name(task)
    site.engine(engine)
    continued = continued_attempt(task, engine)
    event = AttemptStarted(
        engine=engine,
        base=continued.base if continued else tip,
        branch=task.branch or branch_name(task.id, task.title),
        agent=task.agent,
        model=site.agent_of(task).model or None,
        host=site.host,
        continues=continued.id if continued else None,
        session=continued.session if continued and continued.engine == engine else None,
    )
    return Draft(event, task=task.id, attempt=attempt_id(task.id, task.started + 1))


def continued_attempt(task: Task, engine: str) -> Attempt | None:
    """The attempt whose branch and conversation the next one goes on with, None for a fresh start."""
    last = task.last
    if last is None:
        return None
    if task.inbox:
        return last
    same = last.engine == engine and last.turn > 0
    return last if same and last.outcome in CONTINUES else None
