"""Schedules that did not run when they were due, and those that cost more than they may."""

from dataclasses import dataclass
from datetime import UTC, datetime

from paddock.config.alert_rules import RuleSetting
from paddock.core.alerts.condition import Condition
from paddock.core.money.spending import day_of
from paddock.core.schedules.events import WhySkipped
from paddock.core.schedules.model import Schedule
from paddock.insight.alerts.scene import Scene, Seen, nothing

DAY = 86_400.0
BLOCKED_TIMES = 3
"""So many times in a row may a schedule wait for its own tasks before somebody should look."""


def judge_missed(scene: Scene, setting: RuleSetting) -> Seen:
    schedules = _schedules(scene)
    if not schedules:
        return nothing("there are no schedules")
    found = [(one, missed) for one in schedules if (missed := _missed(one, scene.now)) is not None]
    name = setting.rule.name
    conditions = [
        Condition(
            *(f"{name}:{one.name}", name, setting.severity, f"schedule {one.name} {missed.words}", one.name),
            evidence=(f"{one.cron} ({one.zone})", _last_words(one)),
            run=missed.run,
            count=missed.times,
        )
        for one, missed in found
    ]
    return Seen(f"{len(found):,} of {len(schedules):,} schedules did not run when they were due", tuple(conditions))


def judge_overspent(scene: Scene, setting: RuleSetting) -> Seen:
    today, name = day_of(scene.now), setting.rule.name
    begin = scene.now - scene.now % DAY
    limited = [one for one in _schedules(scene) if one.budget_usd is not None]
    conditions, parts = [], []
    for one in limited:
        runs = [run for run in scene.ended.since(begin) if one.label in run.labels]
        spent, budget = sum(run.cost or 0.0 for run in runs), one.budget_usd or 0.0
        parts.append(f"{one.name} ${spent:,.2f} of ${budget:,.2f}")
        if spent > budget:
            title = f"schedule {one.name} has cost ${spent:,.2f} today; its budget is ${budget:,.2f}"
            lines = (f"{len(runs):,} attempts: {', '.join(run.run for run in runs[-5:])}",)
            key, run = f"{name}:{one.name}:{today}", "paddock schedule forecast"
            conditions.append(Condition(key, name, setting.severity, title, one.name, lines, run))
    return Seen(", ".join(parts) or "no schedule has a budget of its own", tuple(conditions))


def _schedules(scene: Scene) -> list[Schedule]:
    return [] if scene.board.schedule_part.is_nothing else list(scene.board.schedules.by_name.values())


@dataclass(frozen=True, slots=True)
class _Missed:
    words: str
    run: str
    times: int = 1


def _missed(one: Schedule, now: float) -> _Missed | None:
    """What went wrong since it last fired."""
    look = f"paddock schedule show {one.name}"
    fired = one.last.at if one.last is not None else 0.0
    if one.failure is not None and one.failure.at > fired:
        often = f" {one.failure.in_a_row} times in a row" if one.failure.in_a_row > 1 else ""
        stopped = ", and is paused" if one.paused is not None else ""
        return _Missed(f"failed{often}{stopped}: {one.failure.reason}", look, one.failure.in_a_row)
    skipped = one.skipped
    if one.paused is not None or skipped is None or skipped.due <= fired or now - skipped.due > DAY:
        return None
    if skipped.why is WhySkipped.MISSED:
        return _Missed(f"did not run at {_clock(skipped.due)}: no daemon was running", look)
    if skipped.in_a_row < BLOCKED_TIMES:
        return None
    behind = "tasks of an earlier firing are" if skipped.behind is None else f"{skipped.behind} of an earlier firing is"
    run = look if skipped.behind is None else f"paddock show {skipped.behind}"
    return _Missed(f"was skipped {skipped.in_a_row:,} times in a row: {behind} unfinished", run, skipped.in_a_row)


def _last_words(one: Schedule) -> str:
    return f"last fired at {_clock(one.last.at)}" if one.last is not None else "it has not fired yet"


def _clock(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")
