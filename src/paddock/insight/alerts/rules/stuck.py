"""Agents that do nothing although they could, and agents that do the same wrong thing again and again.

Each is an alert of its own, unless several are stuck in the same way: those are one.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from paddock.config.alert_rules import RuleSetting, setting_of
from paddock.core.alerts.catalogue import TELEMETRY
from paddock.core.alerts.condition import Condition
from paddock.core.durations import rough_duration
from paddock.insight.alerts.rules.blindness import may_be_silent
from paddock.insight.alerts.scene import Scene, Seen, nothing, unknown
from paddock.insight.alerts.working import WorkingRun

ALONE = 2
"""Up to so many that are stuck in the same way are told each for itself."""


@dataclass(frozen=True, slots=True)
class Stuck:
    """`alike` is the same for those that are stuck in the same way; `words` say how, of one, and `many` of several."""

    run: WorkingRun
    alike: str
    words: str
    many: str


def judge_stuck(scene: Scene, setting: RuleSetting) -> Seen:
    busy = [run for run in scene.working.all() if not run.is_excused]
    if not busy:
        return nothing("no agent is at work")
    telemetry = setting_of(scene.config, TELEMETRY)
    if telemetry.on and may_be_silent(scene, telemetry.window):
        return unknown("little is heard of any agent: that may be nothing of their own")
    found = [one for run in busy if (one := _silent(scene, setting, run) or _repeating(setting, run)) is not None]
    words = f"{len(found):,} of {len(busy):,} agents at work are stuck" if found else f"{len(busy):,} agents at work"
    return Seen(words, tuple(_conditions(scene, setting, found)))


def _silent(scene: Scene, setting: RuleSetting, run: WorkingRun) -> Stuck | None:
    activity = run.last.activity if run.last is not None else ""
    silent = scene.now - run.heard
    if silent < scene.gaps.patience(activity, setting.window):
        return None
    since = f"after {activity} {run.last.target}".strip() if run.last is not None else "since it began"
    words = f"{run.run} has done nothing for {rough_duration(silent)}, {since}"
    return Stuck(run, f"silent:{run.engine}", words, f"agents of {run.engine} do nothing")


def _repeating(setting: RuleSetting, run: WorkingRun) -> Stuck | None:
    repeated = run.repeated(among=2 * int(setting.limit))
    if repeated is None or repeated.times < setting.limit:
        return None
    what = f"{repeated.activity} {repeated.target}".strip()
    error = repeated.error or "it fails"
    words = f"{run.run} has met the same error {repeated.times} times: {what}: {error}"
    digest = sha256(f"{repeated.activity}\0{repeated.error}".encode()).hexdigest()[:8]
    return Stuck(run, f"error:{digest}", words, f"agents meet the same error again and again: {what}: {error}")


def _conditions(scene: Scene, setting: RuleSetting, found: Sequence[Stuck]) -> Iterable[Condition]:
    """One that is told already stays what it is."""
    ways: dict[str, list[Stuck]] = defaultdict(list)
    for one in found:
        ways[one.alike].append(one)
    name = setting.rule.name
    for alike, members in ways.items():
        key = f"{name}:{alike}"
        is_one = len(members) > ALONE or scene.stands(key) is not None
        alone = [one for one in members if not is_one or scene.stands(f"{name}:{one.run.run}") is not None]
        for one in alone:
            told = (f"engine {one.run.engine}, {one.run.steps:,} steps",)
            run = f"paddock tail {one.run.task}"
            yield Condition(f"{name}:{one.run.run}", name, setting.severity, one.words, one.run.run, told, run)
        rest = [one for one in members if one not in alone]
        if rest:
            title = f"{len(rest):,} {rest[0].many}"
            lines = tuple(one.words for one in rest)
            yield Condition(key, name, setting.severity, title, alike, lines, "paddock status", len(rest))
