"""The tasks that findings become, whoever decides so: the review loop, an audit, or a person."""

from collections.abc import Callable
from typing import TypeAlias

from paddock.core.events import Draft, TaskAdded
from paddock.core.ids import TaskId
from paddock.core.review.events import Claim, FindingRouted
from paddock.core.review.wording import brief_for_owner, title_of
from paddock.core.tasks.task import Task

ReadClaim: TypeAlias = Callable[[str], Claim]
"""What a finding says in full, which stays in the log."""


def file_finding(
    about: Task, name: str, claim: Claim, *, new: TaskId, agent: str | None, priority: int = 0
) -> list[Draft]:
    """`new` is the id of the task to be, `about` the one whose change or audit the finding is of."""
    added = TaskAdded(
        title_of(name, claim),
        brief_for_owner(name, claim, about.id, about.title),
        agent=agent,
        convoy=about.convoy,
        priority=priority,
        paths=(claim.path,) if claim.path else (),
    )
    return [Draft(added, task=new), Draft(FindingRouted(name, new), task=about.id)]
