"""What a forecast is made from, looked up: schedules, what they would add now, and what tasks have used before."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paddock.core.board import Board
from paddock.core.economics.estimates import PRIOR
from paddock.core.errors import PaddockError, words_of
from paddock.core.events import TaskAdded
from paddock.core.ids import TaskId
from paddock.core.intent.schedules import Contents, add_contents
from paddock.core.money.prices import ASSUMED, cost_of, find_price
from paddock.core.money.spending import day_of
from paddock.core.schedules.model import Schedule
from paddock.core.schedules.timetable import timetable_of
from paddock.core.tasks.task import Phase, Task
from paddock.fleet.dispatch.pricing import typical_usage
from paddock.fleet.schedules.contents import prepare_contents
from paddock.insight.costs.runs import RunCost, cost_of_run
from paddock.insight.dataset.dataset import Dataset
from paddock.insight.dataset.headers import FLEET
from paddock.insight.dataset.location import dataset_path
from paddock.insight.dataset.trouble import DatasetUnusable
from paddock.insight.forecast.evidence import Evidence, Wanted, find_evidence
from paddock.insight.forecast.past import (
    MOST_TASKS,
    PastWork,
    SortOfWork,
    latest_tasks,
    past_of_fleet,
    past_of_runs,
)
from paddock.insight.forecast.starts import Plan
from paddock.insight.forecast.warmth import CloseStart, find_close_starts, observed_warmth
from paddock.insight.selection import Selection

if TYPE_CHECKING:
    from paddock.fleet.site import Site
    from paddock.fleet.workspace import Workspace

GUESS_TOKENS = PRIOR.work_tokens.median + PRIOR.spawn_tokens.median
"""What admission expects of an attempt before it has seen any."""


@dataclass(frozen=True, slots=True)
class Plans:
    """Of the schedules that are not paused. `problems` says by name what keeps one from being forecast: then it could
    not fire, either."""

    plans: tuple[Plan, ...] = ()
    problems: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Past:
    """What tasks of the fleet have used, imported runs, and how starts of the fleet found their caches."""

    fleet: list[PastWork]
    imported: list[PastWork]
    close_starts: list[CloseStart]


@dataclass
class Forecaster:
    """What tasks have used is read once, when it is first asked for."""

    workspace: "Workspace"
    board: Board
    now: float
    _past: Past | None = None
    _found: dict[Wanted, Evidence] = field(default_factory=dict)

    def plans(self, wanted: Callable[[Schedule], bool] = lambda one: one.paused is None) -> Plans:
        plans, problems = list[Plan](), dict[str, str]()
        if self.board.schedule_part.is_nothing:
            return Plans()
        workspace = self.workspace
        for schedule in filter(wanted, self.board.schedules.by_name.values()):
            name = schedule.name
            try:
                timetable = timetable_of(schedule.cron, schedule.zone)
                contents = prepare_contents(
                    workspace.repo, workspace.config, workspace.known, schedule.work, schedule.name
                )
                plans.append(Plan(name, timetable, self.evidence_of(name, contents)))
            except PaddockError as problem:
                problems[name] = words_of(problem)
        return Plans(tuple(plans), problems)

    def evidence_of(self, name: str, contents: Contents) -> tuple[Evidence, ...]:
        """For each task that a firing would add. Raises PaddockError where it could not."""
        drafts = add_contents(self.board, name, contents, self.workspace.known)
        return tuple(
            self._find(self._wanted(name, draft.event)) for draft in drafts if isinstance(draft.event, TaskAdded)
        )

    def _wanted(self, name: str, added: TaskAdded) -> Wanted:
        site = self.workspace.site
        task = Task(
            TaskId("t0"), added.title, 0, Phase.READY, self.now, self.now, added.attempts,
            agent=added.agent, engine=added.engine, kind=added.task_kind, role=added.role,
        )  # fmt: skip
        engine = _engine_of(site, task, name)
        sort = SortOfWork(
            engine,
            added.agent or "",
            site.model_of(task, engine),
            added.task_kind or "",
            added.role,
            added.series,
        )
        most = site.attempt_usd(task) * added.attempts
        return Wanted(
            sort,
            guess_usd=_guess_usd(site, sort.model, self.now),
            guess_tokens=GUESS_TOKENS,
            most_usd=most or None,
            is_free=site.capabilities_of(engine).free,
            warmth=observed_warmth(sort, self._known_past().close_starts),
        )

    def _find(self, wanted: Wanted) -> Evidence:
        past = self._known_past()
        if wanted not in self._found:
            self._found[wanted] = find_evidence(wanted, past.fleet, past.imported)
        return self._found[wanted]

    def _known_past(self) -> Past:
        if self._past is None:
            prices = self.workspace.site.prices
            traces, imported = self._read_traces()
            self._past = Past(
                past_of_fleet(self.board, traces, prices),
                past_of_runs(imported, prices),
                find_close_starts(latest_tasks(self.board), traces),
            )
        return self._past

    def _read_traces(self) -> tuple[dict[str, RunCost], list[RunCost]]:
        """Nothing where no transcript was taken in yet: the log alone tells what tasks cost."""
        prices = self.workspace.site.prices
        try:
            with Dataset.open(dataset_path(self.workspace.state_dir)) as dataset:
                labels = [one.label for one in dataset.labels()]
                own = dataset.runs(Selection(label=FLEET), limit=MOST_TASKS) if FLEET in labels else []
                others = [
                    kept
                    for label in labels
                    if label != FLEET
                    for kept in dataset.runs(Selection(label=label), limit=MOST_TASKS)
                ]
        except DatasetUnusable:
            return {}, []
        imported = sorted((cost_of_run(kept.trace, prices) for kept in others), key=_time_of)
        return {kept.trace.run: cost_of_run(kept.trace, prices) for kept in own}, list(imported[-MOST_TASKS:])


def _time_of(run: RunCost) -> float:
    return run.at or 0.0


def _engine_of(site: "Site", task: Task, name: str) -> str:
    """Raises PaddockError in words for a schedule: the task that it would add has no id that could be edited."""
    try:
        return site.engine_name(task)
    except PaddockError as problem:
        raise PaddockError(
            f"no engine is set for what schedule `{name}` adds",
            "set `engine` in paddock.toml, or name one with `paddock schedule add … --engine NAME`",
        ) from problem


def _guess_usd(site: "Site", model: str, now: float) -> float:
    price = (find_price(site.prices, model, day_of(now)) if model else None) or ASSUMED
    return cost_of(price, typical_usage(GUESS_TOKENS))
