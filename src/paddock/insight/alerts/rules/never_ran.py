"""Engines whose agents do not run at all: nothing was asked of a model, again and again."""

from collections.abc import Sequence

from paddock.config.alert_rules import RuleSetting
from paddock.core.alerts.condition import Condition
from paddock.core.alerts.events import AlertSeverity
from paddock.insight.alerts.ended import EndedRun
from paddock.insight.alerts.rules.clusters import attempts_words
from paddock.insight.alerts.scene import Scene, Seen, severity_of

RECENT_SECONDS = 86_400.0


def judge_never_ran(scene: Scene, setting: RuleSetting) -> Seen:
    """Each engine on each host by itself: the last runs, up to the newest that ran. If all of them were at one task,
    it may be the task's own set-up, which pages nobody."""
    conditions, longest = [], 0
    for (engine, host), runs in _streaks(scene).items():
        longest = max(longest, len(runs))
        if len(runs) < setting.limit:
            continue
        tasks = {run.task for run in runs}
        severity = severity_of(setting, AlertSeverity.PAGE if len(tasks) > 1 else AlertSeverity.TICKET)
        where = f" on {host}" if host else ""
        words = scene.causes.of(runs[0]).title
        title = f"the last {len(runs):,} agents of {engine or 'an engine'}{where} never ran: {words}"
        lines = _evidence(scene, runs)
        key = scene.causes.of(runs[0]).key
        run = f"paddock engines check {engine}".strip()
        conditions.append(Condition(key, setting.rule.name, severity, title, engine, lines, run, len(runs)))
    words = f"the longest row of agents that never ran is {longest:,}" if longest else "all agents ran"
    return Seen(words, tuple(conditions))


def _streaks(scene: Scene) -> dict[tuple[str, str], list[EndedRun]]:
    """Newest first. What a person ended tells nothing, nor does what failed for a cause that is gone."""
    streaks: dict[tuple[str, str], list[EndedRun]] = {}
    over: set[tuple[str, str]] = set()
    for run in scene.ended.newest():
        if run.ended < scene.now - RECENT_SECONDS:
            break
        place = run.engine, run.host
        if place in over or scene.causes.is_over(run):
            continue
        if scene.causes.never_ran(run):
            if not scene.causes.is_unsettled(run, scene.now):
                streaks.setdefault(place, []).append(run)
        elif run.judged or run.steps:
            over.add(place)
    return streaks


def _evidence(scene: Scene, runs: Sequence[EndedRun]) -> tuple[str, ...]:
    """What a cause rests on, else what each of them looked like; and which they are."""
    cause = scene.causes.of(runs[0]).cause
    said = cause.evidence if cause is not None else tuple(dict.fromkeys(run.symptom for run in runs))
    return *said[:3], attempts_words(runs[::-1])
