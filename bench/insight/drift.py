"""How often drift is seen where there is none, and how often where there is some.

False alarms: runs of the same agent and model at the same tasks, divided at random or by the run of the benchmark they
belong to. Power: 20 tasks at which another agent was at work, and 20 tasks at which runs were changed by us as a change
of model changes them.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, count

import numpy as np

from bench.insight.changes import CHANGES
from bench.insight.data import Data
from bench.insight.targets import Measured
from paddock.insight.drift.judge import judge_drift
from paddock.insight.drift.report import Verdict
from paddock.insight.drift.self_test import binomial_limits
from paddock.insight.paths import Symbols, keep
from paddock.insight.trace import KeptTrace, Trace

TASKS = 20
SPLITS, QUICK_SPLITS = 400, 20
SWAPS = 200
FEWEST_STEPS = 3
ALPHA, POWER = 0.05, 0.90
_KEYS = count(1)

Sides = tuple[list[KeptTrace], list[KeptTrace]]


@dataclass(frozen=True, slots=True)
class Cohort:
    """Runs of one agent and model by task; each task has more than one."""

    name: str
    tasks: dict[str, list[KeptTrace]]
    symbols: Symbols
    traces: dict[int, Trace] = field(default_factory=dict)

    def some_tasks(self, draw: np.random.Generator, others: "Cohort | None" = None) -> list[str]:
        names = sorted(self.tasks if others is None else self.tasks.keys() & others.tasks.keys())
        return [names[at] for at in draw.permutation(len(names))[:TASKS]]


def measure(data: Data, *, quick: bool) -> list[Measured]:
    if quick:
        return _false_alarms(_cohort("synthetic", data.synthetic()), QUICK_SPLITS)
    agents = _agents(data)
    cohorts = [
        _cohort("SWE-agent", data.swe_agent()),
        _cohort("tau-bench", data.tau_bench()),
        _cohort("mini-SWE-agent", data.mini_swe_agent()),
        *agents,
    ]
    rows = [row for cohort in cohorts for row in _false_alarms(cohort, SPLITS)]
    swaps = [(agents[at], agents[to]) for at, to in ((0, 1), (1, 2), (0, 2))]
    rows += [_agent_swap(*swap, 5, POWER) for swap in swaps] + [_agent_swap(*swap, 1, None) for swap in swaps]
    rows += _model_swaps(data.claude_code())
    return rows + [row for cohort in cohorts[:2] for row in _changes(cohort)]


def _cohort(name: str, traces: Sequence[Trace]) -> Cohort:
    symbols, tasks = Symbols(), defaultdict[str, list[KeptTrace]](list)
    kept = [keep(trace, next(_KEYS), symbols) for trace in traces]
    for run in kept:
        tasks[run.trace.task].append(run)
    several = {task: runs for task, runs in tasks.items() if len(runs) > 1}
    return Cohort(name, several, symbols, {run.key: trace for run, trace in zip(kept, traces, strict=True)})


def _agents(data: Data) -> list[Cohort]:
    engines = defaultdict[str, list[Trace]](list)
    for trace in data.terminal_bench():
        engines[trace.engine].append(trace)
    return [_cohort(f"Terminal-Bench {engine.partition('_')[0]}", engines[engine]) for engine in sorted(engines)]


def _false_alarms(cohort: Cohort, splits: int) -> list[Measured]:
    def pairs(draw: np.random.Generator) -> Sides:
        shuffled = [_shuffled(cohort.tasks[task], draw) for task in cohort.some_tasks(draw)]
        return [runs[0] for runs in shuffled], [runs[1] for runs in shuffled]

    def halves(draw: np.random.Generator) -> Sides:
        shuffled = [_shuffled(cohort.tasks[task], draw) for task in cohort.some_tasks(draw)]
        cut = [(runs, len(runs) // 2) for runs in shuffled]
        return [run for runs, half in cut for run in runs[:half]], [run for runs, half in cut for run in runs[half:]]

    def by_label(draw: np.random.Generator) -> Sides:
        labels = _shuffled(sorted({run.trace.label for runs in cohort.tasks.values() for run in runs}), draw)
        runs = [run for task in cohort.some_tasks(draw) for run in cohort.tasks[task]]
        first, second = ([run for run in runs if run.trace.label == label] for label in labels[:2])
        return first, second

    ways: tuple[tuple[str, Callable[[np.random.Generator], Sides]], ...] = (
        ("one run a side", pairs),
        ("all runs in halves", halves),
        ("label against label", by_label),
    )
    return [_false_alarm_rate(f"false alarms, {cohort.name}", how, cohort, way, splits) for how, way in ways]


def _false_alarm_rate(
    name: str, how: str, cohort: Cohort, way: Callable[[np.random.Generator], Sides], splits: int
) -> Measured:
    verdicts = _verdicts(way, cohort.symbols, splits)
    judged = sum(verdict is not Verdict.TOO_LITTLE for verdict in verdicts)
    alarms = sum(verdict is Verdict.DRIFT for verdict in verdicts)
    limit = binomial_limits(judged, ALPHA)[1] / judged if judged else 0.0
    told = f"{how} at {TASKS} tasks, {judged} of {splits} splits with enough data"
    return Measured(name, alarms / max(1, judged), high=limit, how=told)


def _agent_swap(first: Cohort, second: Cohort, runs: int, target: float | None) -> Measured:
    """Of one run each only an outcome is known, which cannot tell two agents apart at 20 tasks."""

    def swap(draw: np.random.Generator) -> Sides:
        tasks = first.some_tasks(draw, second)
        batch, baseline = (
            [run for task in tasks for run in _shuffled(cohort.tasks[task], draw)[:runs]] for cohort in (first, second)
        )
        return batch, baseline

    verdicts = _verdicts(swap, first.symbols, SWAPS)
    short = second.name.removeprefix("Terminal-Bench ")
    rate = sum(verdict is Verdict.DRIFT for verdict in verdicts) / SWAPS
    how = f"{TASKS} tasks, {runs} {'run' if runs == 1 else 'runs'} a side at each, results without steps"
    return Measured(f"power, {first.name} to {short}", rate, low=target, how=how)


def _model_swaps(traces: Sequence[Trace]) -> Iterator[Measured]:
    """Sessions of one CLI, whatever they were about: there are no tasks in common."""
    symbols, models = Symbols(), defaultdict[str, list[KeptTrace]](list)
    for run in (keep(trace, next(_KEYS), symbols) for trace in traces if len(trace.steps) >= FEWEST_STEPS):
        models[run.trace.model].append(run)
    chosen = [model for model in sorted(models) if len(models[model]) >= TASKS]
    for first, second in combinations(chosen, 2):

        def swap(draw: np.random.Generator, first: str = first, second: str = second) -> Sides:
            batch, baseline = (_shuffled(models[model], draw)[:TASKS] for model in (first, second))
            return batch, baseline

        rate = sum(verdict is Verdict.DRIFT for verdict in _verdicts(swap, symbols, SWAPS)) / SWAPS
        name = " to ".join("-".join(model.split("-")[1:4])[:10] for model in (first, second))
        how = f"Claude Code, {TASKS} sessions a side without a common task"
        yield Measured(f"power, {name}", rate, how=how)


def _changes(cohort: Cohort) -> list[Measured]:
    rows = []
    for name, change in CHANGES.items():

        def changed(draw: np.random.Generator, change: Callable[..., Trace] = change) -> Sides:
            told = [run for runs in cohort.tasks.values() for run in runs if run.step_count]
            tasks = defaultdict[str, list[KeptTrace]](list)
            for run in told:
                tasks[run.trace.task].append(run)
            names = [task for task in sorted(tasks) if len(tasks[task]) > 1]
            chosen = [_shuffled(tasks[names[at]], draw)[:2] for at in draw.permutation(len(names))[:TASKS]]
            batch = [keep(change(cohort.traces[one.key], draw), one.key, cohort.symbols) for one, _ in chosen]
            return batch, [other for _, other in chosen]

        verdicts = _verdicts(changed, cohort.symbols, SWAPS)
        rate = sum(verdict is Verdict.DRIFT for verdict in verdicts) / SWAPS
        how = f"{TASKS} tasks, one run a side, the batch's changed by us"
        rows.append(Measured(f"power, {cohort.name}: {name}", rate, how=how))
    return rows


def _verdicts(way: Callable[[np.random.Generator], Sides], symbols: Symbols, times: int) -> list[Verdict]:
    draw = np.random.default_rng(11)
    return [judge_drift(*way(draw), symbols).verdict for _ in range(times)]


def _shuffled(items: Sequence[KeptTrace] | Sequence[str], draw: np.random.Generator) -> list:  # type: ignore[type-arg]
    return [items[at] for at in draw.permutation(len(items))]
