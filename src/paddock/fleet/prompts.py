"""The prompt of each turn, put together from the task, its agent and what was said since."""

from dataclasses import dataclass

from paddock.core.errors import PaddockError
from paddock.core.events import MessageSent, TaskAdded, TaskEdited, TaskRejected
from paddock.core.ids import branch_name, recordable
from paddock.core.task import Attempt, Task
from paddock.engines.prompt import Assignment, Progress, first_prompt, next_prompt
from paddock.fleet.site import Site
from paddock.git.furnish import Worktree
from paddock.git.rescue import dirty_files
from paddock.store.protocol import Store

NEXT_TASK = """\
That task is done. What follows is another one, with a working tree and a branch of its own: your working \
directory is now `{worktree}`. Work only there, and touch nothing in the directory you worked in before."""


@dataclass(frozen=True, slots=True)
class TurnPlan:
    """`session` is the conversation to resume, None for a new one."""

    prompt: str
    task_text: str
    session: str | None


def assignment_of(site: Site, store: Store, task: Task) -> Assignment:
    agent = site.agent_of(task)
    return Assignment(
        task=task.id,
        text=read_brief(store, task),
        branch=task.branch or branch_name(task.id, task.title),
        brief=agent.brief,
        title=task.title,
        paths=tuple(dict.fromkeys((*task.paths, *agent.owns))),
    )


def read_brief(store: Store, task: Task) -> str:
    event = store.record(task.brief_seq).event
    assert isinstance(event, TaskAdded | TaskEdited)
    return event.brief if isinstance(event.brief, str) else ""


def read_messages(store: Store, seqs: tuple[int, ...]) -> str:
    texts = []
    for seq in seqs:
        event = store.record(seq).event
        if isinstance(event, MessageSent):
            texts.append(event.text)
        elif isinstance(event, TaskRejected):
            texts.append(f"Your change was not accepted: {event.message}")
    return "\n\n".join(texts)


def plan_turn(site: Site, store: Store, task: Task, attempt: Attempt, worktree: Worktree, messages: str) -> TurnPlan:
    """A first turn gets the whole assignment, a later one only what is new, if the engine remembers the rest."""
    assignment = assignment_of(site, store, task)
    engine = site.engine(attempt.engine)
    begins = attempt.turn <= 1 and attempt.continues is None
    if begins:
        moved = NEXT_TASK.format(worktree=worktree.path) if attempt.inlined else ""
        parts = (moved, first_prompt(assignment), lease_skill(site), messages)
        warm = attempt.session if attempt.inlined and engine.capabilities.resume else None
        return TurnPlan("\n\n".join(part for part in parts if part), assignment.text, warm)
    session = attempt.session if engine.capabilities.resume else None
    so_far = None if session else _progress(site, attempt, worktree)
    return TurnPlan(next_prompt(assignment, messages, so_far), assignment.text, session)


def preview_prompt(site: Site, store: Store, task: Task) -> str:
    """What a first turn is told."""
    parts = (first_prompt(assignment_of(site, store, task)), lease_skill(site))
    return "\n\n".join(part for part in parts if part)


def lease_skill(site: Site) -> str:
    """How to share things other agents use too; nothing where the repository declares none."""
    resources = site.config.leases.resources
    if not resources:
        return ""
    names = ", ".join(f"`{name}`" for name in resources)
    return (
        f"# Shared things\nOther agents work on this machine. Before you use {names}, take a lease: "
        f"`paddock with-lease NAME -- COMMAND` runs one command under it; "
        f"`paddock lease acquire NAME --wait 5m` and `paddock lease release NAME` hold it longer."
    )


def _progress(site: Site, attempt: Attempt, worktree: Worktree) -> Progress:
    try:
        log = site.repo.git("log", "--format=%s", "-20", f"{attempt.base}..refs/heads/{attempt.branch}", check=False)
        dirty = dirty_files(worktree.path).paths
    except (OSError, PaddockError):
        return Progress()
    commits = log.lines if log.ok else ()
    return Progress(commits=tuple(map(recordable, commits)), changed_files=tuple(map(recordable, dirty)))
