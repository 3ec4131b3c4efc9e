"""Whether agents do what they are for, and whether they get what they need: two goals, each watched over windows.

A window burns when failures use up what the goal leaves room for so many times as fast as it lasts. Both a long and
a short window must burn: the long one so that a few failures do not count, the short one so that it is not over
already. The factors are those of Google's SRE workbook, made for goals above 99%; where a goal leaves so much room
that a factor could not be reached, nine failures of ten are enough.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from paddock.config.alert_rules import RuleSetting
from paddock.core.alerts.condition import Condition
from paddock.core.alerts.events import AlertSeverity
from paddock.core.durations import format_duration
from paddock.insight.alerts.chance import at_least
from paddock.insight.alerts.ended import EndedRun
from paddock.insight.alerts.scene import CALM, Scene, Seen, nothing, severity_of

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
MOST_SHARE = 0.9
FEWEST_LONG, FEWEST_SHORT = 10, 5
"""Fewer runs in a long window say nothing; a short window has at least the last few of the long one."""
CHANCE = {AlertSeverity.PAGE: 1e-5, AlertSeverity.TICKET: 1e-4}
"""Less likely than this while the goal is met. At every look the question is asked again, some 10,000 times a week."""
SAME_CAUSE = 0.6
"""If so many of the failures have one cause, the alert is about that cause."""
COUNT_WINDOWS_SECONDS = 6 * HOUR


@dataclass(frozen=True, slots=True)
class Burn:
    """`factor` is how many times as fast; windows in seconds, or in runs."""

    long: float
    short: float
    factor: float
    severity: AlertSeverity
    in_runs: bool = False

    @property
    def words(self) -> str:
        return f"the last {self.long:.0f} attempts" if self.in_runs else f"the last {format_duration(self.long)}"


BURNS = (
    Burn(HOUR, 5 * MINUTE, 14.4, AlertSeverity.PAGE),
    Burn(6 * HOUR, 30 * MINUTE, 6.0, AlertSeverity.PAGE),
    Burn(50, 10, 6.0, AlertSeverity.PAGE, in_runs=True),
    Burn(3 * DAY, 6 * HOUR, 1.0, AlertSeverity.TICKET),
)

Scored = tuple[EndedRun, bool]
Bad = Callable[[EndedRun], bool | None]
"""None for a run that does not count."""


@dataclass(frozen=True, slots=True)
class Goal:
    name: str
    missed: str
    bad: Bad


def judge_success(scene: Scene, setting: RuleSetting) -> Seen:
    """Runs that did not get what they need are nobody's failures here, and those whose cause is gone are over."""

    def bad(run: EndedRun) -> bool | None:
        causes = scene.causes
        if not run.judged or causes.is_unsettled(run, scene.now) or causes.is_over(run) or causes.lacked(run):
            return None
        return run.failed

    return _judge(scene, setting, Goal("success", "failed", bad))


def judge_infrastructure(scene: Scene, setting: RuleSetting) -> Seen:
    def bad(run: EndedRun) -> bool | None:
        if scene.causes.is_unsettled(run, scene.now) or scene.causes.is_over(run):
            return None
        return scene.causes.lacked(run)

    return _judge(scene, setting, Goal("infrastructure", "did not get what they need to work", bad))


def _judge(scene: Scene, setting: RuleSetting, goal: Goal) -> Seen:
    room = 1.0 - setting.limit
    runs = [(run, is_bad) for run in scene.ended.since(scene.now - 3 * DAY) if (is_bad := goal.bad(run)) is not None]
    for burn in BURNS:
        long, short = _windows(runs, burn, scene.now)
        found = [run for run, is_bad in long if is_bad]
        if len(long) < FEWEST_LONG or len(short) < FEWEST_SHORT or not found:
            continue
        key = _key(scene, goal, found)
        share = min(MOST_SHARE, burn.factor * room) * (CALM if scene.stands(key) else 1.0)
        if len(found) < share * len(long) or sum(is_bad for _, is_bad in short) < share * len(short):
            continue
        if scene.stands(key) is None and at_least(len(found), len(long), room) > CHANCE[burn.severity]:
            continue
        return _raise(scene, setting, goal, burn, key, len(long), found)
    day = _since(runs, scene.now - DAY)
    return nothing(f"{sum(is_bad for _, is_bad in day):,} of {len(day):,} attempts of the last day {goal.missed}")


def _windows(runs: Sequence[Scored], burn: Burn, now: float) -> tuple[Sequence[Scored], Sequence[Scored]]:
    if burn.in_runs:
        recent = _since(runs, now - COUNT_WINDOWS_SECONDS)
        return recent[-int(burn.long) :], recent[-int(burn.short) :]
    long = _since(runs, now - burn.long)
    short = _since(long, now - burn.short)
    return long, short if len(short) >= FEWEST_SHORT else long[-FEWEST_SHORT:]


def _since(runs: Sequence[Scored], at: float) -> Sequence[Scored]:
    return runs[bisect_left(runs, at, key=lambda scored: scored[0].ended) :]


def _key(scene: Scene, goal: Goal, found: Sequence[EndedRun]) -> str:
    """A goal that was missed for many reasons stays that as long as it stands."""
    own = f"{goal.name}:fleet"
    return own if scene.stands(own) else main_cause(scene, found) or own


def main_cause(scene: Scene, failed: Sequence[EndedRun]) -> str:
    """The key of the cause that most of them have; empty if there is none."""
    if not failed:
        return ""
    key, count = Counter(scene.causes.of(run).key for run in failed).most_common(1)[0]
    return key if count >= SAME_CAUSE * len(failed) else ""


def _raise(
    scene: Scene,
    setting: RuleSetting,
    goal: Goal,
    burn: Burn,
    key: str,
    among: int,
    found: Sequence[EndedRun],
) -> Seen:
    severity = severity_of(setting, burn.severity)
    allowed = f"the goal allows {100 * (1 - setting.limit):.3g}%"
    title = f"{len(found):,} of {among:,} attempts of {burn.words} {goal.missed}; {allowed}"
    kinds = Counter(scene.causes.of(run).title for run in found)
    evidence = tuple(f"{count:,} × {words}" for words, count in kinds.most_common(4))
    condition = Condition(
        key, setting.rule.name, severity, title, "", evidence, "paddock failures --since 6h", len(found)
    )
    return Seen(title, (condition,))
