"""Whether agents behave as before: batches that differ, and single cases of what none may do."""

from collections import defaultdict
from collections.abc import Collection

from paddock.config.alert_rules import RuleSetting
from paddock.core.alerts.condition import Condition
from paddock.core.alerts.model import AlertState
from paddock.core.alerts.policy import LATELY_SECONDS
from paddock.insight.alerts.rules.success import main_cause
from paddock.insight.alerts.scene import Scene, Seen, unknown
from paddock.insight.drift.report import HardCase, HardRule, Verdict

SHOWN = 5
OUTCOME = "outcome"
MISSED_GOAL = "success:fleet"


def judge_drift(scene: Scene, setting: RuleSetting) -> Seen:
    """Batches that differ in the same way, each and as one: by chance some test finds something in one of twenty."""
    if scene.verdicts is None:
        return unknown(scene.why_none)
    judged = [one for one in scene.verdicts if one.verdict is not Verdict.TOO_LITTLE]
    if not judged:
        return Seen(f"{len(scene.verdicts):,} batches, too little data in any of them")
    words = f"{len(judged):,} batches; the last, {judged[-1].name}: {judged[-1].verdict.value}"
    last = judged[-int(setting.limit) :]
    if len(last) < setting.limit or any(one.verdict is not Verdict.DRIFT for one in last):
        return Seen(words)
    alike = set.intersection(*(set(one.significant) for one in last))
    alike &= set(scene.sure) if len(last) > 1 else alike
    if not alike:
        return Seen(words)
    tests = ", ".join(test for test in last[-1].significant if test in alike)
    key = _key(scene, setting, sum(one.runs for one in last), alike)
    if not key:
        return Seen(words)
    many = f"{len(last)} batches in a row behave" if len(last) > 1 else "the last batch behaves"
    title = f"{many} differently from those before: {tests}"
    lines = tuple(f"{one.name}: {', '.join(one.significant)} ({one.pairs:,} pairs)" for one in reversed(last))
    name = setting.rule.name
    return Seen(words, (Condition(key, name, setting.severity, title, "", lines, "paddock drift"),))


def _key(scene: Scene, setting: RuleSetting, runs: int, alike: Collection[str]) -> str:
    """Where only their results are others, they failed: that is what other rules see, and sooner. Empty if one of them
    has told of it lately, and it is over."""
    if not all(test.startswith(OUTCOME) for test in alike):
        return f"{setting.rule.name}:fleet"
    failed = [run for run in scene.ended.last(runs) if run.failed]
    keys = [MISSED_GOAL, *filter(None, (main_cause(scene, failed),))]
    standing = [key for key in keys if scene.stands(key) is not None]
    return standing[0] if standing else "" if _was_told(scene, keys) else keys[-1]


def _was_told(scene: Scene, keys: Collection[str]) -> bool:
    ended = () if scene.board.alert_part.is_nothing else scene.board.alerts.ended
    return any(one.key in keys and scene.now - one.ended < LATELY_SECONDS for one in ended)


def judge_hard_rules(scene: Scene, setting: RuleSetting) -> Seen:
    """Of each agent, each rule is one alert. What a person has acknowledged is settled: only what came later counts."""
    groups: dict[tuple[HardRule, str], list[tuple[float, HardCase]]] = defaultdict(list)
    for ended, case in scene.hard_cases:
        run = scene.ended.find(case.run)
        who = (run.agent or run.engine) if run is not None else ""
        groups[case.rule, who].append((ended, case))
    conditions = []
    for (rule, who), cases in groups.items():
        key = f"{setting.rule.name}:{rule.name.lower().replace('_', '-')}:{who}"
        settled = _acknowledged(scene, key)
        new = [case for ended, case in cases if ended > settled]
        if not new:
            continue
        by = f" by {who}" if who else ""
        title = f"{rule.value}{by}: {', '.join(case.run for case in new[-SHOWN:])}"
        lines = tuple(f"{case.run}: {case.evidence}" for case in new[-SHOWN:])
        look = f"paddock show {new[-1].run.partition('.')[0]}"
        what = (key, setting.rule.name, setting.severity, title, who, lines, look, len(new))
        conditions.append(Condition(*what, lasting=True))
    return Seen(f"{len(scene.hard_cases):,} cases within a day", tuple(conditions))


def _acknowledged(scene: Scene, key: str) -> float:
    """When somebody last did, 0 for never."""
    alert = scene.stands(key)
    if alert is not None:
        return alert.acknowledged if alert.state is AlertState.ACKNOWLEDGED else 0.0
    if scene.board.alert_part.is_nothing:
        return 0.0
    return max((one.acknowledged for one in scene.board.alerts.ended if one.key == key), default=0.0)
