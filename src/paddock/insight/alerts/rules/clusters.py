"""Failures by their cause: one that nobody has seen before, one that strikes many at the same time, and one that is
not the agents' doing and has begun to make much of the failures."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from paddock.config.alert_rules import RuleSetting
from paddock.core.alerts.condition import Condition
from paddock.core.causes.vocabulary import FailureCause
from paddock.core.durations import format_duration
from paddock.insight.alerts.chance import arrivals
from paddock.insight.alerts.ended import REMEMBERED_SECONDS, EndedRun
from paddock.insight.alerts.known_causes import CauseOfRun
from paddock.insight.alerts.scene import Scene, Seen, nothing

ALIKE_RUNS = 3
FEWEST_BEFORE = 20
"""Of fewer runs nobody knows what is usual."""
DAY = 86_400.0
OVERLAP = 2.0
"""Windows that slide are asked more often than those that follow each other: as if there were so many times as many."""
FEWEST_SHARED, FEWEST_FAILURES = 5, 10
SWITCH_CHANCE = 1e-4
STANDING_TIMES = 100.0
"""What stands may be so many times as likely before it is gone."""
SHOWN = 8
GOES_ON_SECONDS = 1800.0
"""What has struck nobody for so long is over, however many it struck before."""
_STEADY = frozenset({FailureCause.TASK, FailureCause.MODEL, FailureCause.UNKNOWN})


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that failed for one cause within the window, and those before it."""

    cause: CauseOfRun
    runs: Sequence[EndedRun]
    before: int

    @property
    def tasks(self) -> set[str]:
        return {run.task for run in self.runs}

    @property
    def hosts(self) -> set[str]:
        return {run.host for run in self.runs}

    @property
    def evidence(self) -> tuple[str, ...]:
        cause = self.cause.cause
        lines = cause.evidence[:3] if cause is not None else ()
        return (*lines, attempts_words(self.runs))


def attempts_words(runs: Sequence[EndedRun]) -> str:
    """Which they are, the latest last. Rules that see the same say it in the same words, so that it stands once."""
    many = len({run.task for run in runs})
    tasks = "1 task" if many == 1 else f"{many:,} tasks"
    return f"{len(runs):,} attempts at {tasks}: {', '.join(run.run for run in runs[-SHOWN:])}"


def judge_new_failures(scene: Scene, setting: RuleSetting) -> Seen:
    """Nobody can say what is new before there is something old."""
    groups, _, before = _group(scene, setting.window)
    found = [group for group in groups if len(group.runs) >= setting.limit and _is_new(scene, group, setting.window)]
    words = f"causes of failures within {format_duration(setting.window)}: {len(groups):,}, new ones: {len(found):,}"
    if before < FEWEST_BEFORE:
        found = [group for group in found if len(group.tasks) > 1]
    within = format_duration(setting.window)
    conditions = [
        _condition(setting, group, f"new: {len(group.runs):,} attempts failed within {within}: {group.cause.title}")
        for group in found
    ]
    return Seen(words, tuple(conditions))


def judge_alike(scene: Scene, setting: RuleSetting) -> Seen:
    """The chance is that of a whole day, however many causes there are and however often somebody looks."""
    groups, all_in_window, before = _group(scene, setting.window)
    if before < FEWEST_BEFORE:
        return nothing(f"{before:,} attempts before: too few to say what is usual")
    questions = max(1.0, DAY / setting.window) * OVERLAP * max(1, len(groups))
    conditions, least = [], 1.0
    for group in groups:
        if len(group.runs) < ALIKE_RUNS or (len(group.tasks) < 2 and len(group.hosts) < 2):
            continue
        usual = (group.before + 0.5) / (before + 1.0)
        chance = arrivals(len(group.runs), usual * all_in_window)
        least = min(least, chance * questions)
        allowed = setting.limit * (STANDING_TIMES if scene.stands(group.cause.key) is not None else 1.0)
        if chance * questions < allowed:
            title = (
                f"{len(group.runs):,} of {all_in_window:,} attempts failed alike within "
                f"{format_duration(setting.window)}, usually {usual:.1%}: {group.cause.title}"
            )
            conditions.append(_condition(setting, group, title))
    chance_words = f"{100 * min(1.0, least):.2g}%"
    words = f"causes: {len(groups):,}; the least likely would come by chance on {chance_words} of all days"
    return Seen(words, tuple(conditions))


def judge_cause_share(scene: Scene, setting: RuleSetting) -> Seen:
    """Only one that is not usual: what has always been so is no switch."""
    groups, all_in_window, before = _group(scene, setting.window)
    failures = sum(len(group.runs) for group in groups)
    conditions, largest = [], 0.0
    for group in groups:
        if group.cause.cause is None or group.cause.of in _STEADY:
            continue
        if group.runs[-1].ended < scene.now - GOES_ON_SECONDS:
            continue
        share = len(group.runs) / failures
        largest = max(largest, share)
        if share <= scene.limit(group.cause.key, setting.limit) or len(group.runs) < FEWEST_SHARED:
            continue
        expected = (group.before + 0.5) / (before + 1.0) * all_in_window
        stands = scene.stands(group.cause.key) is not None
        if failures >= FEWEST_FAILURES and (stands or arrivals(len(group.runs), expected) < SWITCH_CHANCE):
            title = (
                f"{group.cause.of.value} makes up {share:.0%} of {failures:,} failures within "
                f"{format_duration(setting.window)}: {group.cause.title}"
            )
            conditions.append(_condition(setting, group, title))
    within = format_duration(setting.window)
    words = f"of {failures:,} failures within {within} one outside cause makes up {largest:.0%}"
    return Seen(words if failures else "no failures", tuple(conditions))


def _group(scene: Scene, window: float) -> tuple[list[Group], int, int]:
    """The causes of the window with their runs, the largest first; and how many runs ended within it and before."""
    begin = scene.now - window
    here: dict[str, list[EndedRun]] = defaultdict(list)
    causes: dict[str, CauseOfRun] = {}
    before: dict[str, int] = defaultdict(int)
    within = earlier = 0
    for run in scene.ended.since(scene.now - REMEMBERED_SECONDS):
        if run.ended < begin:
            earlier += 1
            if run.failed:
                before[scene.causes.of(run).key] += 1
        elif not scene.causes.is_unsettled(run, scene.now):
            within += 1
            if run.failed and not scene.causes.is_over(run):
                cause = scene.causes.of(run)
                causes[cause.key] = cause
                here[cause.key].append(run)
    groups = [Group(causes[key], runs, before[key]) for key, runs in here.items()]
    return sorted(groups, key=lambda group: (-len(group.runs), group.cause.key)), within, earlier


def _is_new(scene: Scene, group: Group, window: float) -> bool:
    """A cause that is recorded was first found then; of others the runs that are remembered tell."""
    if group.cause.cause is not None:
        return group.cause.cause.found >= scene.now - 2 * window and group.before == 0
    return group.before == 0


def _condition(setting: RuleSetting, group: Group, title: str) -> Condition:
    cause = group.cause.cause
    subject = cause.id if cause is not None else ""
    run = "paddock failures --since 1h"
    return Condition(
        *(group.cause.key, setting.rule.name, setting.severity, title, subject, group.evidence, run),
        count=len(group.runs),
    )
