"""What would make the other rules blind: nothing is heard, steps are of no known sort, models have no price, numbers
do not add up, or the dataset is behind the log."""

from collections import defaultdict
from statistics import median

from paddock.config.alert_rules import RuleSetting
from paddock.core.alerts.condition import Condition
from paddock.core.durations import format_duration, rough_duration
from paddock.core.money.prices import canonical_model, find_price
from paddock.core.money.spending import day_of
from paddock.insight.alerts.scene import Scene, Seen, nothing

DAY = 86_400.0
FEWEST_SILENT = 2
SURE_SILENT = 5
"""So many agents that are all silent need no other explanation; of fewer, each may be at something that takes long."""
FEWEST_STEPS = 200
FEWEST_RATIOS, LAST_RATIOS = 5, 10
SHOWN = 5


def is_all_silent(scene: Scene, window: float) -> bool:
    busy = [run for run in scene.working.all() if not run.is_excused]
    if len(busy) < FEWEST_SILENT:
        return False
    if len(busy) >= SURE_SILENT:
        return all(scene.now - run.heard >= window for run in busy)
    activities = ((run, run.last.activity if run.last is not None else "") for run in busy)
    return all(scene.now - run.heard >= scene.gaps.patience(activity, window) for run, activity in activities)


def may_be_silent(scene: Scene, window: float) -> bool:
    """Whether all are, or will be before long unless one of them is heard: then none of them is stuck by itself."""
    busy = [run for run in scene.working.all() if not run.is_excused]
    return len(busy) >= FEWEST_SILENT and all(scene.now - run.heard >= window / 2 for run in busy)


def judge_telemetry(scene: Scene, setting: RuleSetting) -> Seen:
    busy = [run for run in scene.working.all() if not run.is_excused]
    if not busy:
        return nothing("no agent is at work")
    newest = max(run.heard for run in busy)
    words = f"{len(busy):,} agents at work; the last was heard {rough_duration(scene.now - newest)} ago"
    if not is_all_silent(scene, setting.window):
        return nothing(words)
    title = f"nothing was heard of any of {len(busy):,} agents at work for {rough_duration(scene.now - newest)}"
    lines = tuple(
        f"{run.run}: {run.steps:,} steps, silent for {rough_duration(scene.now - run.heard)}" for run in busy[:SHOWN]
    )
    name = setting.rule.name
    return Seen(words, (Condition(f"{name}:fleet", name, setting.severity, title, "", lines, "paddock doctor"),))


def judge_other_steps(scene: Scene, setting: RuleSetting) -> Seen:
    """Each engine by itself: its tools are in one table."""
    odd: dict[str, int] = defaultdict(int)
    steps: dict[str, int] = defaultdict(int)
    for run in scene.ended.since(scene.now - DAY):
        odd[run.engine] += run.odd
        steps[run.engine] += run.steps
    name, conditions = setting.rule.name, []
    for engine, total in steps.items():
        key = f"{name}:{engine}"
        if total >= FEWEST_STEPS and odd[engine] > scene.limit(key, setting.limit) * total:
            title = f"{odd[engine] / total:.0%} of the steps of {engine} are of no known sort"
            lines = (f"{odd[engine]:,} of {total:,} steps of the last day are {'OTHER'}",)
            conditions.append(Condition(key, name, setting.severity, title, engine, lines, "paddock traces list"))
    every = sum(steps.values())
    words = f"{sum(odd.values()) / every:.1%} of {every:,} steps of the last day" if every else "no steps"
    return Seen(words, tuple(conditions))


def judge_unpriced(scene: Scene, setting: RuleSetting) -> Seen:
    """The newest run of each model that used any tokens tells whether it has a price; a price that somebody has set
    since counts."""
    today = day_of(scene.now)
    models: dict[str, list[str]] = defaultdict(list)
    priced: set[str] = set()
    for run in scene.ended.newest():
        if run.ended < scene.now - DAY:
            break
        if not run.tokens:
            continue
        model = canonical_model(run.model)
        if not run.unpriced and model not in models:
            priced.add(model)
        elif run.unpriced and model not in priced:
            models[model].append(run.run)
    name, conditions = setting.rule.name, []
    for model, runs in models.items():
        if model and find_price(scene.prices, model, today) is not None:
            continue
        shown = f"`{model}`" if model else "a model without a name"
        attempts = f"{len(runs):,} attempts of the last day" if len(runs) > 1 else "an attempt of the last day"
        title = f"{shown} has no price: nobody knows what {attempts} cost"
        lines = (f"attempts: {', '.join(runs[:SHOWN])}",)
        key = f"{name}:{model}"
        conditions.append(Condition(key, name, setting.severity, title, model, lines, "paddock costs", len(runs)))
    return Seen(f"{len(models):,} models without a price", tuple(conditions))


def judge_usage_ratio(scene: Scene, setting: RuleSetting) -> Seen:
    """By the median of the last runs, each engine by itself."""
    engines: dict[str, list[float]] = defaultdict(list)
    for one in scene.ratios:
        engines[one.engine].append(one.ratio)
    name, conditions, parts = setting.rule.name, [], []
    for engine, ratios in engines.items():
        if len(ratios) < FEWEST_RATIOS:
            continue
        middle, key = median(ratios[-LAST_RATIOS:]), f"{name}:{engine}"
        parts.append(f"{engine} {middle:.2f}")
        if max(middle, 1.0 / max(middle, 1e-9)) > scene.limit(key, setting.limit - 1.0) + 1.0:
            title = f"the calls of {engine} add up to {middle:.2f} times the total that it reports"
            lines = (f"the median of the last {len(ratios[-LAST_RATIOS:]):,} attempts; it should be 1",)
            conditions.append(Condition(key, name, setting.severity, title, engine, lines, "paddock costs"))
    words = f"calls against totals: {', '.join(parts)}" if parts else "too few attempts to compare"
    return Seen(words, tuple(conditions))


def judge_keeper(scene: Scene, setting: RuleSetting) -> Seen:
    late = [name for name, since in scene.working.pending.items() if scene.now - since >= setting.window]
    waiting = len(scene.working.pending)
    words = f"{waiting:,} ended attempts are on their way into the dataset" if waiting else "the dataset is up to date"
    if not late:
        return nothing(words)
    title = f"the dataset has not taken in {len(late):,} attempts that ended over {format_duration(setting.window)} ago"
    name, lines = setting.rule.name, (", ".join(late[:SHOWN]),)
    condition = Condition(
        f"{name}:dataset", name, setting.severity, title, "", lines, "paddock traces rebuild", len(late)
    )
    return Seen(words, (condition,))
