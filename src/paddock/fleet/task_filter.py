"""A filter as a person types it, with what the daemon tells of the agents at work."""

from paddock.core.errors import Misuse
from paddock.core.filter.tasks import Signs, TaskFilter
from paddock.core.filter.tree import EVERYTHING
from paddock.fleet.glance import Glance, read_glance
from paddock.fleet.workspace import Workspace


def read_filter(workspace: Workspace, text: str, now: float) -> TaskFilter:
    """Raises FilterError, and Misuse for an empty one: a variable of a script that is not set must not mean every
    task."""
    found = TaskFilter.parse(text, now, signs_of(read_glance(workspace.state_dir, now)))
    if found.tree == EVERYTHING:
        raise Misuse("the filter is empty", 'say which tasks, such as "phase=blocked and age>2h"')
    return found


def signs_of(glance: Glance) -> dict[str, Signs]:
    return {name: Signs(one.step, one.stuck, one.cost_usd) for name, one in glance.agents.items()}
