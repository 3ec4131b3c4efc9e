"""Queues changes: a ref keeps them first, then they are recorded, so approved commits cannot be lost."""

from collections.abc import Sequence

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import ChangeRevised, Draft, TaskApproved
from paddock.core.ids import TaskId, attempt_number, branch_change, change_folder, recordable
from paddock.core.intent.landing import head_to_land
from paddock.core.intent.obstacles import TaskAction, require_possible
from paddock.core.merge.changes import known_version
from paddock.core.merge.model import Change, Member, Queue
from paddock.core.tasks.task import SATISFIED, Phase, Task
from paddock.fleet.landing.examination import Examined, Subject, examine
from paddock.fleet.landing.lineage import Lineage
from paddock.fleet.site import Site
from paddock.git.landing.held import Held, NotHeld, hold_change
from paddock.git.sandboxes.ci import CiDefinition, define_ci


def ci_of(site: Site) -> CiDefinition:
    """Raises PaddockError when nothing would test what lands."""
    definition = define_ci(site.config.land, site.config.land.keep)
    if definition is None:
        raise PaddockError(
            "no CI command is configured, so nothing would test what lands", 'set `[land] ci = "make test"`'
        )
    if not definition.gates:
        raise PaddockError(
            "every check is in quarantine, so nothing would test what lands",
            "remove `quarantine` from at least one of the `[[land.checks]]`",
        )
    return definition


def main_ref(site: Site) -> str:
    land = site.config.land
    branch = site.config.landing_branch
    return f"refs/remotes/{land.remote}/{branch}" if land.remote else f"refs/heads/{branch}"


def landable_head(site: Site, board: Board, task: Task) -> str:
    """The commit `land` would take: the judged one, or what a person has committed on the branch since."""
    require_possible(board, task, TaskAction.APPROVE)
    tip = site.repo.resolve(f"refs/heads/{task.branch}")
    if tip is None and task.lost and task.head is not None:
        tip = site.repo.resolve(task.head)  # branches of landed tasks may be deleted; their commits are held
    in_main = tip is not None and site.repo.is_ancestor(tip, main_ref(site))
    return head_to_land(board, task, tip, in_main=in_main)


def open_needs(board: Board, task: Task) -> tuple[TaskId, ...]:
    return tuple(other for other in task.after if board.tasks[other].phase not in SATISFIED)


def look_at(site: Site, subject: Subject) -> Examined:
    """What a person should know before it lands. Raises PaddockError without a CI or a main."""
    return examine(site, ci_of(site), main_tip(site), subject)


def hold_task(site: Site, queue: Queue, task: Task, head: str, needs: tuple[TaskId, ...], examined: Examined) -> Change:
    """The change as the queue will know it. Raises PaddockError when its bytes cannot be held."""
    definition = ci_of(site)
    attempt = task.worker
    assert attempt is not None
    version = max(next_version(site, queue, task.id, head), attempt_number(attempt.id))
    held = _hold(site, Member(task.id, version, head))
    return Change(
        id=task.id,
        version=version,
        head=head,
        base=held.base,
        task=task.id,
        author=task.agent or attempt.engine,
        title=task.title,
        priority=task.priority,
        depends_on=needs,
        paths=held.paths,
        touches_ci=definition.touched_by(held.paths),
        concerns=examined.concerns,
        undoes=tuple(one.words for one in examined.reversals),
        may_undo=bool(examined.reversals) and not examined.unwanted,
        accept=task.accept_seq,
    )


def branch_head(site: Site, branch: str) -> str:
    """The commit `land --branch` would take. Raises PaddockError when it could not be queued."""
    if branch == site.config.landing_branch:
        raise PaddockError(
            f"`{branch}` is the branch that changes land on; it cannot land on itself",
            f"put your commits on a branch of their own: `git branch NAME {branch}`, then `paddock land --branch NAME`",
        )
    head = site.repo.resolve(f"refs/heads/{branch}") if "\0" not in branch else None  # no command can name such a one
    if head is None:
        raise PaddockError(f"there is no branch `{branch}`", "`git branch` lists them")
    if branch != recordable(branch):
        raise PaddockError(f"the name of branch `{branch}` is not UTF-8", "rename it with `git branch -m`")
    return head


def hold_branch(site: Site, board: Board, branch: str, author: str) -> Change:
    """Any branch, also one a person wrote."""
    definition = ci_of(site)
    head = branch_head(site, branch)
    name = branch_change(branch)
    version = next_version(site, board.queue, name, head)
    held = _hold(site, Member(name, version, head))
    touches_ci = definition.touched_by(held.paths)
    examined = look_at(site, Subject(name, head))
    title = recordable(site.repo.git("log", "-1", "--format=%s", head).text)
    return Change(
        id=name,
        version=version,
        head=head,
        base=held.base,
        author=author,
        title=title or branch,
        paths=held.paths,
        touches_ci=touches_ci,
        branch=branch,
        concerns=examined.concerns,
        undoes=tuple(one.words for one in examined.reversals),
    )


def lineage_of(site: Site) -> Lineage:
    return Lineage(site, main_tip(site))


def queue_change(board: Board, change: Change, lineage: Lineage, note: str = "") -> Sequence[Draft]:
    """The events of an approval. Raises PaddockError when the change would wait for itself."""
    queued = lineage.queue(board.queue, change, "" if change.task else note)
    if change.task is None:
        return queued
    task = board.task(TaskId(change.task))
    drafts = []
    if task.phase is not Phase.APPROVAL or task.head != change.head:
        drafts.append(Draft(ChangeRevised(change.head, change.base), task=task.id))
    return [*drafts, Draft(TaskApproved(change.head, note), task=task.id), *queued]


def _hold(site: Site, member: Member) -> Held:
    main = main_tip(site)
    held = hold_change(site.repo, member, main, site.checkpoint)
    if isinstance(held, NotHeld):
        raise PaddockError(f"`{member.id}` cannot be queued: {held.reason}")
    return held


def main_tip(site: Site) -> str:
    """Main as it is now. Raises PaddockError if there is none."""
    remote, branch = site.config.land.remote, site.config.landing_branch
    main = site.repo.resolve(main_ref(site)) if remote else site.repo.branch_tip(branch)
    if main is None and remote:
        main = site.repo.fetch(remote, branch).sha
    if main is None:
        hint = f"`git push {remote} {branch}` puts it there" if remote else "set `main` in paddock.toml"
        raise PaddockError(f"there is no `{main_ref(site)}` to land on", hint)
    return main


def next_version(site: Site, queue: Queue, change: str, head: str) -> int:
    """Above every version the queue knows or a ref holds; one that was held and never queued is used again."""
    known = known_version(queue, change)
    folder = f"{change_folder(change)}/v"
    refs = site.repo.refs(change_folder(change))
    versions = {ref: ref.removeprefix(folder) for ref in refs}
    # Agents can write refs too: only ours stand for versions.
    held = {int(number): refs[ref] for ref, number in versions.items() if number.isdecimal()}
    last = max(held, default=0)
    return last if last > known and held[last] == head else max(known, last) + 1
