"""Repeats of what failed, each with one thing changed, as far as this fleet has something to change."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace

from paddock.config.schema import Config
from paddock.core.board import Board
from paddock.core.causes.model import Cause
from paddock.core.causes.probing import PROBE, Repeat
from paddock.core.causes.tasks import find_attempt
from paddock.core.errors import PaddockError
from paddock.core.ids import TaskId, printable, task_of
from paddock.core.intent.causes import probe_cause, require_probeable
from paddock.core.intent.tasks import TaskSpec
from paddock.core.tasks.task import Attempt, Task
from paddock.engines.registry import engine_names
from paddock.fleet.attempts.prompts import read_brief
from paddock.fleet.workspace import Workspace

TITLE_CHARS = 100


@dataclass(frozen=True, slots=True)
class Probed:
    """`tasks` by what each of them changes; `skipped` says what could not be tried, and why."""

    cause: str
    attempt: str
    tasks: dict[Repeat, TaskId]
    skipped: tuple[str, ...]


def probe_failure(workspace: Workspace, name: str) -> Probed:
    """Adds the tasks; once they have ended, the cause is settled or left open. Raises PaddockError where that would
    tell nothing."""
    board = workspace.board()
    cause = require_probeable(board, name)
    task, attempt = _failed(board, cause)
    with closing(workspace.read()) as store:
        brief = read_brief(store, task)
    plain = TaskSpec(
        brief,
        title=printable(f"Probe {cause.id}: {task.title}", TITLE_CHARS),
        agent=task.agent,
        engine=attempt.engine,
        paths=task.paths,
        attempts=1,
        kind=task.kind,
        role=task.role,
        priority=task.priority,
        needs=task.needs,
    )
    repeats = {Repeat.UNCHANGED: plain}
    skipped = [f"another host: this fleet runs its agents on one, {attempt.host or 'this one'}"]
    other = _other_account(workspace, attempt)
    if other is not None:
        repeats[Repeat.ACCOUNT] = replace(plain, engine=other)
    else:
        like = f"no other engine in paddock.toml is like {attempt.engine} and has another account"
        skipped.append(f"another account: {like}")
    specs = [replace(spec, labels=(PROBE, repeat.label)) for repeat, spec in repeats.items()]
    records = workspace.record(lambda fresh: probe_cause(fresh, cause.id, specs, skipped, workspace.known))
    added = [record.task for record in records if record.task is not None]
    return Probed(cause.id, attempt.id, dict(zip(repeats, added, strict=True)), tuple(skipped))


def _failed(board: Board, cause: Cause) -> tuple[Task, Attempt]:
    """The latest of its attempts that the board still knows."""
    for name in reversed(cause.runs):
        task = board.tasks[task_of(name)]
        attempt = find_attempt(task, name)
        if attempt is not None and attempt.role is task.role:
            return task, attempt
    raise PaddockError(
        f"cause `{cause.id}` cannot be probed: none of its attempts is there to be repeated",
        f"if you know what it is, run `paddock failures settle {cause.id} CLASS`",
    )


def _other_account(workspace: Workspace, attempt: Attempt) -> str | None:
    site = workspace.site
    mine = attempt.account or site.account_of(attempt.engine)
    return next((one for one in _alike(workspace.config, attempt.engine) if site.account_of(one) != mine), None)


def _alike(config: Config, engine: str) -> Iterator[str]:
    """The other engines that are the same program."""
    kind = _program(config, engine)
    for name in dict.fromkeys((*config.engines, *engine_names())):
        if name != engine and _program(config, name) == kind:
            yield name


def _program(config: Config, engine: str) -> tuple[str, ...]:
    settings = config.engines.get(engine)
    if settings is None:
        return (engine,)
    return settings.command or settings.acp or (settings.like or engine,)
