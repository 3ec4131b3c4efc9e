"""What came of tasks, read from the log, from git and from what their agents said."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace

from paddock.core.errors import PaddockError
from paddock.core.events import PlanProposed, ReportGiven
from paddock.core.ids import TaskId, recordable
from paddock.core.review.events import FindingHeld, FindingReported, ReviewGiven
from paddock.core.tasks.results import TaskResult, results_section
from paddock.core.tasks.task import Task
from paddock.core.tasks.vocabulary import Role
from paddock.core.trace import Text
from paddock.fleet.attempts.evidence import turn_entries
from paddock.fleet.site import Site
from paddock.store.protocol import Ask, Query, Store

MOST_COMMITS = 50
MOST_FILES = 200
LAST_BYTES = 256 * 1024
"""Of an agent's output, for its last words: a task may build on hundreds of others."""


def tell_inputs(site: Site, store: Store, task: Task) -> str:
    """The section of its first prompt; empty for a task that builds on no other."""
    return results_section(read_results(site, store, task.inputs))


async def hear_inputs(site: Site, store: Store, task: Task, others: Sequence[TaskId] = ()) -> str:
    """The same, for those that must not wait for git: only the log is read by whoever calls. `others` are told of,
    too."""
    tasks = [store.board().task(name) for name in dict.fromkeys((*others, *task.inputs))]
    logged = [(one, read_answer(store.records, one)) for one in tasks]
    if not logged:
        return ""
    return results_section(await asyncio.to_thread(lambda: [_with_work(site, *one) for one in logged]))


def read_results(site: Site, store: Store, names: Iterable[TaskId]) -> list[TaskResult]:
    """Blocks on git and on files; what is gone is left out."""
    tasks = [store.board().task(name) for name in names]
    return [_with_work(site, task, read_answer(store.records, task)) for task in tasks]


def read_answer(ask: Ask, task: Task) -> TaskResult:
    """What came of it as far as the log tells: all that comes of a task that only reads."""
    result = TaskResult(task.id, task.title, task.role, task.phase, task.reason)
    at = task.answer_seq
    match next((record.event for record in ask(Query(after=at - 1, until=at))), None) if at else None:
        case ReportGiven(text=text):
            return replace(result, words=text)
        case PlanProposed(plan=plan):
            return replace(result, plan=plan)
        case _:
            return _with_findings(ask, task, result) if task.role is Role.REVIEW else result


def _with_findings(ask: Ask, task: Task, result: TaskResult) -> TaskResult:
    """Of its newest attempt, and the summary that gave."""
    if (worker := task.worker) is None:
        return result
    summary, claims, held = "", {}, dict[str, None]()
    for kind in ("finding.*", ReviewGiven.kind):
        for record in ask(Query(task=task.id, kind=kind)):
            own = record.attempt == worker.id
            match record.event:
                case FindingReported(id=name, claim=claim):
                    claims[name] = claim
                    held.update({name: None} if own else {})
                case FindingHeld(id=name) if own:
                    held[name] = None
                case ReviewGiven(summary=words) if own:
                    summary = words
    return replace(result, words=summary, findings=tuple(claims[name] for name in held if name in claims))


def _with_work(site: Site, task: Task, result: TaskResult) -> TaskResult:
    """Of a task that works: its commits, its files and the last words of its agent, as far as they are still there."""
    if task.role.only_reads:
        return result
    commits, files = _changes(site, task)
    return replace(result, words=_last_words(site, task), commits=commits, files=files)


def _last_words(site: Site, task: Task) -> str:
    worker = task.worker
    if worker is None or not worker.turn:
        return ""
    said = ""
    try:
        for entry in turn_entries(site, worker, worker.turn, LAST_BYTES):
            if isinstance(entry, Text) and entry.text.strip():
                said = entry.text
    except (PaddockError, OSError):
        return ""
    return said


def _changes(site: Site, task: Task) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if task.base is None or task.head is None:
        return (), ()
    span = f"{task.base}..{task.head}"
    log = site.repo.git("log", "--format=%s", f"-{MOST_COMMITS}", "--reverse", span, check=False)
    words = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", task.base, task.head)
    names = site.repo.git(*words, check=False)
    return (
        tuple(map(recordable, log.lines)) if log.ok else (),
        tuple(map(recordable, names.records[:MOST_FILES])) if names.ok else (),
    )
