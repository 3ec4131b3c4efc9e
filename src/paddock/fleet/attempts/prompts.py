"""The prompt of each turn, put together from the task, its agent and what was said since."""

from dataclasses import dataclass
from pathlib import Path

from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import MessageSent, QuestionAsked, TaskAdded, TaskEdited, TaskRejected
from paddock.core.ids import branch_name, printable, recordable
from paddock.core.review.events import ReviewSentBack
from paddock.core.tasks.conversations import origin_of
from paddock.core.tasks.task import Attempt, Phase, Task
from paddock.core.tasks.vocabulary import Outcome
from paddock.engines.prompt import (
    Assignment,
    EarlierWork,
    first_prompt,
    next_prompt,
    nothing_committed,
    strayed_outside,
)
from paddock.fleet.results import tell_inputs
from paddock.fleet.site import Site
from paddock.git.worktrees.furnish import Worktree
from paddock.store.protocol import Store

NEXT_TASK = """\
That task is done, and its commits are safe on its own branch. What follows is another one. You are in the same \
folder, `{worktree}`, which is now on branch `{branch}`: it begins at main, without the work of the task before."""
MOVED = """\
Your working directory is now `{worktree}`. Work only there, and touch nothing in `{before}`, where you were before."""

FORKED = """\
You have worked on task {origin} so far: {title}. That task stays as it is, with its branch and its folder. What \
follows is another one, in which you go on with what you know. Your working directory is now `{worktree}`, on branch \
`{branch}`, which begins {begins}. Work only there{before}."""


@dataclass(frozen=True, slots=True)
class TurnPlan:
    """`session` is the conversation to resume, None for a new one; `messages` are those that the prompt tells."""

    prompt: str
    task_text: str
    session: str | None
    messages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnContext:
    """What the turn is to answer, and the agent's last words where its engine does not remember them. `results` are
    told with the assignment."""

    messages: str = ""
    last_words: str = ""
    results: str = ""


def assignment_of(site: Site, store: Store, task: Task, results: str = "") -> Assignment:
    agent = site.agent_of(task)
    return Assignment(
        task=task.id,
        text=read_brief(store, task),
        branch=task.branch or branch_name(task.id, task.title, site.label),
        brief=agent.brief,
        title=task.title,
        paths=site.paths_of(task),
        results=results,
    )


def read_brief(store: Store, task: Task) -> str:
    event = store.record(task.brief_seq).event
    assert isinstance(event, TaskAdded | TaskEdited)
    return event.brief if isinstance(event.brief, str) else ""


def read_question(store: Store, task: Task) -> str:
    """What the task's agent has asked and nobody has answered; empty if there is nothing."""
    event = store.record(task.question).event if task.question else None
    return event.text if isinstance(event, QuestionAsked) else ""


def dialog_of(store: Store, question: int) -> str:
    """The engine's own name for what it asked in that record; empty if its agent did."""
    event = store.record(question).event
    return event.request if isinstance(event, QuestionAsked) else ""


def read_messages(store: Store, seqs: tuple[int, ...]) -> str:
    return "\n\n".join(text for seq in seqs if (text := words_of_message(store, seq)))


def words_of_message(store: Store, seq: int) -> str:
    """As an agent is told it; empty for a record of another kind, and for what only its engine was waiting for."""
    match store.record(seq).event:
        case MessageSent(text=text, answers=question):
            return "" if question and dialog_of(store, question) else text
        case TaskRejected(message=message):
            return f"Your change was not accepted: {message}"
        case ReviewSentBack(message=message):
            return message
        case _:
            return ""


def plan_turn(
    site: Site, store: Store, task: Task, attempt: Attempt, worktree: Worktree, said: TurnContext
) -> TurnPlan:
    """A first turn gets the whole assignment, a later one only what is new, if the engine remembers the rest."""
    assignment = assignment_of(site, store, task, said.results)
    session = attempt.session if site.engine(attempt.engine).capabilities.resume else None
    moved = attempt.moved_from if session else ""
    there = MOVED.format(worktree=worktree.path, before=moved) if moved else ""
    if attempt.turn <= 1 and attempt.continues is None:
        if attempt.inlined and session:
            there = NEXT_TASK.format(worktree=worktree.path, branch=attempt.branch) + (f"\n{there}" if there else "")
        if attempt.fork and session:
            there = _tell_fork(store.board(), task, attempt, worktree.path)
        failed = _what_went_wrong(assignment, task, attempt)
        parts = (there, first_prompt(assignment), lease_skill(site), failed, said.messages)
        return TurnPlan("\n\n".join(part for part in parts if part), assignment.text, session)
    so_far = None if session else _progress(site, attempt, said.last_words)
    message = _join_words(_what_went_wrong(assignment, task, attempt), said.messages)
    skill = "" if session else lease_skill(site)
    prompt = "\n\n".join(part for part in (there, next_prompt(assignment, message, so_far), skill) if part)
    return TurnPlan(prompt, assignment.text, session)


def _tell_fork(board: Board, task: Task, attempt: Attempt, worktree: Path) -> str:
    """The beginning of the first prompt, for an agent that remembers the other task."""
    origin = origin_of(board, task)
    if origin is None:
        return ""
    there = origin.worker.worktree if origin.worker is not None else ""
    landed = origin.phase is Phase.LANDED
    return FORKED.format(
        origin=origin.id,
        title=printable(origin.title, 200),
        worktree=worktree,
        branch=attempt.branch,
        begins="at main, which has that work" if landed else "at what was committed there",
        before=f", and touch nothing in `{there}`, where you were before" if there not in ("", str(worktree)) else "",
    )


def _what_went_wrong(assignment: Assignment, task: Task, attempt: Attempt) -> str:
    """What the first turn is told about the attempt before: it committed nothing, or changed what it must not."""
    before = next((one for one in reversed(task.attempts) if one.id != attempt.id and one.role is task.role), None)
    if attempt.turn > 1 or before is None:
        return ""
    if before.outcome is Outcome.STRAYED:
        return strayed_outside(before.outside, before.base)
    return nothing_committed(assignment) if before.outcome is Outcome.EMPTY else ""


def _join_words(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def preview_work(site: Site, store: Store, task: Task) -> str:
    """What a first turn of a worker is told."""
    parts = (first_prompt(assignment_of(site, store, task, tell_inputs(site, store, task))), lease_skill(site))
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


def _progress(site: Site, attempt: Attempt, last_words: str) -> EarlierWork:
    try:
        commits, dirty = site.ground.progress(attempt)
    except (OSError, PaddockError):
        return EarlierWork(last_words=last_words)
    return EarlierWork(tuple(map(recordable, commits)), tuple(map(recordable, dirty)), last_words)
