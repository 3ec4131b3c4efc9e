"""All rules, asked about one scene."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from paddock.config.alert_rules import RuleSetting, setting_of
from paddock.core.alerts import catalogue as known
from paddock.core.alerts.condition import Condition, Observation, one_per_cause
from paddock.core.errors import PaddockError, words_of
from paddock.insight.alerts.rules import (
    behaviour,
    blindness,
    budget,
    clusters,
    never_ran,
    schedules,
    stuck,
    success,
)
from paddock.insight.alerts.scene import Scene, Seen, nothing, unknown

Judge: TypeAlias = Callable[[Scene, RuleSetting], Seen]

JUDGES: Mapping[str, Judge] = MappingProxyType(
    {
        known.SUCCESS.name: success.judge_success,
        known.INFRASTRUCTURE.name: success.judge_infrastructure,
        known.NEVER_RAN.name: never_ran.judge_never_ran,
        known.NEW_FAILURE.name: clusters.judge_new_failures,
        known.ALIKE.name: clusters.judge_alike,
        known.CAUSE_SHARE.name: clusters.judge_cause_share,
        known.DRIFT.name: behaviour.judge_drift,
        known.HARD_RULE.name: behaviour.judge_hard_rules,
        known.STUCK.name: stuck.judge_stuck,
        known.BUDGET_FORECAST.name: budget.judge_budget_forecast,
        known.BUDGET_BURN.name: budget.judge_budget_burn,
        known.BUDGET_USED.name: budget.judge_budget_used,
        known.TELEMETRY.name: blindness.judge_telemetry,
        known.OTHER_STEPS.name: blindness.judge_other_steps,
        known.UNPRICED.name: blindness.judge_unpriced,
        known.USAGE_RATIO.name: blindness.judge_usage_ratio,
        known.KEEPER.name: blindness.judge_keeper,
        known.MISSED.name: schedules.judge_missed,
        known.OVERSPENT.name: schedules.judge_overspent,
    }
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one rule sees; `problem` is why it could not be asked."""

    setting: RuleSetting
    seen: Seen
    problem: str = ""


def judge_all(scene: Scene) -> list[Judgement]:
    """In the order of the catalogue, whose last rule is about the others. One that fails keeps no other from being
    asked."""
    others = [_judge(scene, setting_of(scene.config, rule)) for rule in known.RULES if rule is not known.BLIND]
    return [*others, _judge_blindness(others, setting_of(scene.config, known.BLIND))]


def _judge(scene: Scene, setting: RuleSetting) -> Judgement:
    if not setting.on:
        return Judgement(setting, nothing("it is turned off"))
    try:
        return Judgement(setting, JUDGES[setting.rule.name](scene, setting))
    except PaddockError as error:
        return Judgement(setting, unknown(words_of(error)), words_of(error))
    except Exception as error:  # its mistake must not blind the others
        words = f"{type(error).__name__}: {error}"
        return Judgement(setting, unknown(f"it has failed: {words}"), words)


def _judge_blindness(others: Sequence[Judgement], setting: RuleSetting) -> Judgement:
    if not setting.on:
        return Judgement(setting, nothing("it is turned off"))
    failed = [one for one in others if one.problem]
    names = ", ".join(one.setting.rule.name for one in failed)
    words = f"cannot be asked: {names}" if failed else "all other rules can be asked"
    return Judgement(setting, Seen(words, tuple(_blind(setting, one) for one in failed)))


def _blind(setting: RuleSetting, failed: Judgement) -> Condition:
    mine, name = setting.rule.name, failed.setting.rule.name
    title = f"the rule {name} cannot be asked: {failed.problem}"
    return Condition(f"{mine}:{name}", mine, setting.severity, title, name, run="paddock alerts test")


def observation_of(judgements: Sequence[Judgement]) -> Observation:
    found = [one for judgement in judgements for one in judgement.seen.conditions]
    judged = frozenset(one.setting.rule.name for one in judgements if one.setting.on and one.seen.can_tell)
    off = frozenset(one.setting.rule.name for one in judgements if not one.setting.on)
    return Observation(one_per_cause(found), judged, off)
