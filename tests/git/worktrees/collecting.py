"""Worktrees looked at, judged and swept, without a fleet around them."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from paddock.core.errors import PaddockError
from paddock.core.tasks.conversations import NOWHERE, Homes
from paddock.core.upkeep.findings import Leftover, RemoveWorktree
from paddock.core.upkeep.judge import collect
from paddock.git.worktrees.slots import WorktreeRoot
from paddock.git.worktrees.upkeep import look_at_worktrees, measure_worktree, sweep_worktree


@dataclass
class Removed:
    """`spared` with the reason, `rescued` are refs that now hold what was found."""

    removed: list[Leftover] = field(default_factory=list)
    spared: list[tuple[Leftover, str]] = field(default_factory=list)
    rescued: list[str] = field(default_factory=list)


def find_waste(
    root: WorktreeRoot, live: Collection[str] = (), idle: int = 0, *, homes: Homes = NOWHERE, force: bool = False
) -> list[Leftover]:
    return collect(look_at_worktrees(root), live, idle, homes, force=force)


def sizes(root: WorktreeRoot, found: Sequence[Leftover]) -> int:
    remedies = [one.remedy for one in found if isinstance(one.remedy, RemoveWorktree)]
    return sum(measure_worktree(root, remedy) for remedy in remedies)


def remove(
    root: WorktreeRoot, found: Sequence[Leftover], checkpoint: Callable[[str], None] = lambda _name: None
) -> Removed:
    done = Removed()
    for one in found:
        assert isinstance(one.remedy, RemoveWorktree)
        try:
            done.rescued += sweep_worktree(root, one.remedy, checkpoint)
            done.removed.append(one)
        except PaddockError as error:
            done.spared.append((one, error.message))
        checkpoint("item-done")
    return done


def remove_waste(root: WorktreeRoot, live: Collection[str] = (), *, force: bool = False) -> Removed:
    return remove(root, find_waste(root, live, force=force))
