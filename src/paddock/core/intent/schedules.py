"""What people ask of schedules, and what follows when one is due: each decided on the board that it is recorded on."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import TypeAlias

from paddock.core.board import Board
from paddock.core.durations import format_duration
from paddock.core.errors import Misuse, NotFound, PaddockError, words_of
from paddock.core.events import ConvoyAdded, Draft, TaskAdded
from paddock.core.ids import branch_slug, printable
from paddock.core.intent.plan import PlanRequest, request_plan
from paddock.core.intent.tasks import Batch, Known, TaskSpec, add_tasks
from paddock.core.schedules import events as se
from paddock.core.schedules.cron import Cron
from paddock.core.schedules.due import Fire, NextStep, Queue, Rewind, Skip, Wait, next_step
from paddock.core.schedules.model import FAILURES_IN_A_ROW, LABEL, MOST_SCHEDULES, Schedule, series_of
from paddock.core.schedules.progress import find_unfinished
from paddock.core.schedules.timetable import DAY, Timetable, timetable_of
from paddock.core.wording import check_brief, check_name, did_you_mean
from paddock.core.workflow import free_convoy

LONGEST_NAME = 60
LONGEST_TEXT = 16 * 1024
"""Characters of a brief or a goal: it is on the board of every reader, and in every firing."""
REASON_CHARS = 500
GAPS_LOOKED_AT = 100
"""Times whose distance is compared with the jitter."""
LEAST_BUDGET, MOST_BUDGET = 0.0, 1e6

Contents: TypeAlias = Batch | PlanRequest
"""What a firing adds. A batch of a workflow has a convoy, whose name is chosen when it is added."""


@dataclass(frozen=True, slots=True)
class ScheduleRequest:
    """`name` is None for one that is derived from the work. `forced` is as `ScheduleAdded` has it."""

    cron: Cron
    zone: str
    work: se.ScheduledWork
    name: str | None = None
    jitter_seconds: float = 0.0
    catch_up: se.CatchUp = se.CatchUp.ONCE
    overlap: se.Overlap = se.Overlap.SKIP
    budget_usd: float | None = None
    forced: str = ""


def add_schedule(board: Board, request: ScheduleRequest, contents: Contents, known: Known) -> list[Draft]:
    """`contents` are what it would add now: what cannot be added today is refused today."""
    if len(board.schedules.by_name) >= MOST_SCHEDULES:
        raise PaddockError(
            f"there are {MOST_SCHEDULES} schedules already, which is the limit", "remove one: `paddock schedule list`"
        )
    name = choose_name(board, request)
    check_request(request)
    check_jitter(request, board.at)
    add_contents(board, name, contents, known)
    added = se.ScheduleAdded(
        name=name,
        cron=request.cron.text,
        zone=request.zone,
        work=request.work,
        jitter_seconds=request.jitter_seconds,
        catch_up=request.catch_up,
        overlap=request.overlap,
        budget_usd=request.budget_usd,
        forced=request.forced,
    )
    return [Draft(added)]


def check_request(request: ScheduleRequest) -> None:
    """Raises Misuse for what is wrong with it, whatever the board is."""
    if not 0 <= request.jitter_seconds <= DAY:
        raise Misuse("the jitter must be between 0 and a day", "e.g. `--jitter 10m`")
    budget = request.budget_usd
    if budget is not None and not (math.isfinite(budget) and LEAST_BUDGET < budget <= MOST_BUDGET):
        raise Misuse(
            f"the budget must be above 0 dollars, and at most {MOST_BUDGET:,.0f}, not {budget:g}", "omit it for none"
        )
    check_brief(request.work.text, f"the {_NOUNS[request.work.sort]}")
    if len(request.work.text) > LONGEST_TEXT:
        raise Misuse(
            f"the {_NOUNS[request.work.sort]} has {len(request.work.text):,} characters; the limit of a schedule's is "
            f"{LONGEST_TEXT:,}",
            "put long material in a file in the repository and name that file, or write a workflow",
        )


def check_jitter(request: ScheduleRequest, now: float) -> None:
    """Raises Misuse where it is longer than the time between two runs: they would not keep their order."""
    if not request.jitter_seconds:
        return
    times = list(islice(timetable_of(request.cron.text, request.zone).after(now), GAPS_LOOKED_AT))
    gap = min((later - time for time, later in pairwise(times)), default=DAY)
    if request.jitter_seconds > gap:
        raise Misuse(
            f"the jitter of {format_duration(request.jitter_seconds)} is longer than the {format_duration(gap)} "
            f"between two times of `{request.cron.text}`",
            f"use at most `--jitter {format_duration(gap)}`",
        )


_NOUNS = {se.WorkSort.WORKFLOW: "workflow", se.WorkSort.PLAN: "goal", se.WorkSort.TASK: "brief"}


def choose_name(board: Board, request: ScheduleRequest) -> str:
    """The name that was given, or one that is free. Raises Misuse, and PaddockError for one that is taken."""
    taken = board.schedules.by_name
    if request.name is None:
        return _free_name(request.work, taken)
    check_name("schedule", request.name)
    if len(request.name) > LONGEST_NAME:
        raise Misuse(f"a schedule's name has at most {LONGEST_NAME} characters", "choose a shorter one")
    if request.name in taken:
        raise PaddockError(
            f"there is a schedule `{request.name}` already",
            f"choose another `--name`, or remove it: `paddock schedule remove {request.name}`",
        )
    return request.name


def _free_name(work: se.ScheduledWork, taken: dict[str, Schedule]) -> str:
    word = work.text if work.sort is se.WorkSort.WORKFLOW else branch_slug(work.title or work.text[:40])
    word = word[:LONGEST_NAME] or work.sort.value
    number, name = 1, word
    while name in taken:
        number += 1
        name = f"{word[: LONGEST_NAME - 4]}-{number}"
    return name


def require_schedule(board: Board, name: str) -> Schedule:
    """Raises NotFound with the nearest name."""
    known = board.schedules.by_name if not board.schedule_part.is_nothing else {}
    if name in known:
        return known[name]
    listed = f"there are {', '.join(known)}" if known else '`paddock schedule add "@daily" --task "…"` adds one'
    raise NotFound(f"there is no schedule `{printable(name, 80)}`", did_you_mean(name, known, listed))


def pause_schedule(board: Board, name: str, reason: str = "") -> list[Draft]:
    schedule = require_schedule(board, name)
    if schedule.paused is not None:
        raise PaddockError(f"schedule `{name}` is paused already", f"`paddock schedule resume {name}` lets it go on")
    return [Draft(se.SchedulePaused(name, printable(reason, REASON_CHARS)))]


def resume_schedule(board: Board, name: str) -> list[Draft]:
    schedule = require_schedule(board, name)
    if schedule.paused is None:
        raise PaddockError(f"schedule `{name}` is not paused", f"`paddock schedule show {name}` tells when it is due")
    return [Draft(se.ScheduleResumed(name))]


def remove_schedule(board: Board, name: str, reason: str = "") -> list[Draft]:
    """Its tasks stay."""
    require_schedule(board, name)
    return [Draft(se.ScheduleRemoved(name, printable(reason, REASON_CHARS)))]


def run_schedule(board: Board, name: str, contents: Contents, known: Known) -> list[Draft]:
    """A person runs it now, whenever it is due. Raises PaddockError where it cannot add its tasks."""
    require_schedule(board, name)
    return _fire(board, name, None, contents, known)


def settle(
    board: Board,
    name: str,
    step: NextStep,
    timetable: Timetable,
    contents: Contents | PaddockError | None,
    known: Known,
    now: float,
) -> list[Draft]:
    """What the daemon records for a step that it decided on; nothing if the board asks for another by now. `contents`
    of a firing may be why there are none."""
    schedule = board.schedules.by_name.get(name)
    if schedule is None or next_step(schedule, timetable, find_unfinished(board, schedule), now) != step:
        return []
    match step:
        case Fire(due=due, missed=missed):
            assert contents is not None
            try:
                if isinstance(contents, PaddockError):
                    raise contents
                return _fire(board, name, due, contents, known, missed)
            except PaddockError as problem:
                return _fail(schedule, due, problem)
        case Queue(dues=dues, why=why):
            return [Draft(se.ScheduleQueued(name, dues, why))]
        case Skip(due=due, why=why, times=times, behind=behind):
            return [Draft(se.ScheduleSkipped(name, due, why, times, behind))]
        case Rewind(to=to):
            return [Draft(se.ScheduleRewound(name, to))]
        case Wait():
            return []


def _fire(board: Board, name: str, due: float | None, contents: Contents, known: Known, missed: int = 0) -> list[Draft]:
    """One transaction: the tasks, and that it fired for this time."""
    added = add_contents(board, name, contents, known)
    tasks = tuple(draft.task for draft in added if isinstance(draft.event, TaskAdded) and draft.task is not None)
    convoy = next((draft.event.name for draft in added if isinstance(draft.event, ConvoyAdded)), None)
    return [*added, Draft(se.ScheduleFired(name, due, tasks, convoy, missed))]


def _fail(schedule: Schedule, due: float, problem: PaddockError) -> list[Draft]:
    reason = printable(words_of(problem), REASON_CHARS)
    failed = [Draft(se.ScheduleFailed(schedule.name, due, reason))]
    in_a_row = 1 + (schedule.failure.in_a_row if schedule.failure is not None else 0)
    if in_a_row < FAILURES_IN_A_ROW:
        return failed
    return [*failed, Draft(se.SchedulePaused(schedule.name, f"it failed {in_a_row} times in a row: {reason}"))]


def add_contents(board: Board, name: str, contents: Contents, known: Known) -> list[Draft]:
    """The tasks of one firing. Raises PaddockError."""
    if isinstance(contents, PlanRequest):
        return request_plan(board, contents, known)
    if contents.convoy is not None:
        contents = replace(contents, convoy=free_convoy(name, board.convoys))
    return add_tasks(board, contents, known)


def contents_of(work: se.ScheduledWork, name: str, workflow: Batch | None, attempts: int) -> Contents:
    """Marked with where they come from. `workflow` are the tasks of a workflow as it is now, None for other work."""
    labels = (*work.labels, f"{LABEL}{name}")
    if workflow is not None:
        return Batch(tuple(_mark(one, name, labels) for one in workflow.tasks), name, workflow.title)
    if work.sort is se.WorkSort.PLAN:
        return PlanRequest(work.text, work.paths, work.agent, work.engine, labels=labels, series=series_of(name))
    spec = TaskSpec(
        brief=work.text,
        title=work.title,
        agent=work.agent,
        engine=work.engine,
        paths=work.paths,
        attempts=attempts,
        kind=work.kind,
        labels=labels,
        series=series_of(name),
    )
    return Batch((spec,))


def _mark(spec: TaskSpec, name: str, labels: Sequence[str]) -> TaskSpec:
    return replace(spec, labels=tuple(dict.fromkeys((*spec.labels, *labels))), series=series_of(name, spec.key or ""))
