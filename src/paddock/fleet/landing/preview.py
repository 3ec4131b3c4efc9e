"""What would land if a task's change landed now: main, and the tree that main would become."""

from dataclasses import dataclass

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.ids import some_names
from paddock.core.merge.model import Ending, Member, RefusalCause
from paddock.core.tasks.task import Attempt, Phase, Task
from paddock.fleet.landing.entrance import main_ref
from paddock.fleet.site import Site
from paddock.git.landing.compose import Composed, DoesNotMerge, Unit, compose
from paddock.git.landing.messages import NamedMember
from paddock.git.landing.workbench import open_workbench
from paddock.git.worktrees.delivery import glimpse


@dataclass(frozen=True, slots=True)
class Preview:
    """Two commits or trees to compare. `note` says what else a reader must know; empty when this is what lands."""

    before: str
    after: str
    note: str = ""


def preview(site: Site, board: Board, task: Task, *, own: bool = False) -> Preview:
    """Of what has landed, what that was. With `own`, what its agents did since they started, wherever main is.

    Raises PaddockError if there is no work to show.
    """
    base, head = _own_range(site, task)
    main = site.repo.resolve(main_ref(site))
    if own or main is None:
        return Preview(base, head)
    if task.phase is Phase.LANDED:
        return _landed(site, board, task) or Preview(base, head)
    if site.repo.is_ancestor(head, main):
        note = f"{site.config.landing_branch} has it already; this is what it changed" if base != head else ""
        return Preview(base, head, note)
    member = NamedMember(Member(task.id, 1, head), task.title)
    result = compose(open_workbench(site.repo), Unit(main, (member,)))
    return _result(site, main, result, Preview(base, head))


def _result(site: Site, main: str, result: Composed | DoesNotMerge, own: Preview) -> Preview:
    if isinstance(result, Composed):
        return Preview(main, result.tree)
    if result.cause is RefusalCause.EMPTY:
        return Preview(main, main)
    branch = site.config.landing_branch
    where = f" in {some_names(result.paths)}" if result.paths else ""
    words = f"it conflicts with {branch}{where}"
    return Preview(own.before, own.after, f"{words}; this is what it changed since it started")


def _landed(site: Site, board: Board, task: Task) -> Preview | None:
    """The commit that brought it, if it brought nothing else."""
    ends = [end for end in board.queue.decided if end.task == task.id and end.outcome is Ending.LANDED]
    run = board.queue.ended.get(ends[-1].runs[-1]) if ends and ends[-1].runs else None
    if run is None or len(run.members) > 1 or site.repo.resolve(run.commit) is None:
        return None
    return Preview(run.base, run.commit)


def _own_range(site: Site, task: Task) -> tuple[str, str]:
    last = task.worker
    if last is None:
        raise PaddockError(f"task `{task.id}` has had no agent yet", "`paddock run` starts one when it is ready")
    judged = task.head if task.phase not in (Phase.BLOCKED, Phase.FAILED) else None
    head = judged or _so_far(site, last) or site.repo.resolve(f"refs/heads/{last.branch}") or task.head or last.head
    if head is None:
        raise PaddockError(f"`{last.id}` left no commits", f"see what it did: `paddock tail {task.id}`")
    return site.repo.merge_base(last.base, head) or last.base, head


def _so_far(site: Site, attempt: Attempt) -> str | None:
    """What an attempt that is still at work has committed by now."""
    seen = glimpse(site.root, attempt.id) if attempt.live else None
    return seen.head if seen is not None and seen.head != attempt.base else None
