"""The rules that raise alerts as readers get them: as they are set, and what each sees now."""

from collections.abc import Iterable, Sequence

import msgspec

from paddock.config.alert_rules import RuleSetting, setting_of
from paddock.config.schema import Config
from paddock.core.alerts.catalogue import RULES, Threshold, Unit
from paddock.core.alerts.condition import Condition
from paddock.core.board import Board
from paddock.core.durations import format_duration
from paddock.core.ids import printable
from paddock.insight.alerts.evaluate import Judgement
from paddock.views.document import Document


class ThresholdView(msgspec.Struct, frozen=True, kw_only=True):
    """What is set, what it is unless somebody sets it, and the bounds. `unit` is `share`, `count`, `times`, `chance` or
    `seconds`; `words` say it with its unit."""

    value: float
    default: float
    least: float
    most: float
    unit: str
    words: str


class AlertRuleView(msgspec.Struct, frozen=True, kw_only=True):
    """`about` says when it raises an alert, as it is set. `changed`: it is not as Paddock ships it."""

    name: str
    on: bool
    severity: str
    about: str
    changed: bool
    limit: ThresholdView | None
    window: ThresholdView | None


class AlertRulesView(Document, frozen=True, kw_only=True):
    rules: list[AlertRuleView]


class ConditionView(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule would raise an alert about; `alert` is the one that stands for it already, with its `state`."""

    key: str
    severity: str
    title: str
    evidence: tuple[str, ...]
    run: str
    count: int
    alert: str | None
    state: str


class RuleTrialView(msgspec.Struct, frozen=True, kw_only=True):
    """`verdict` is `raises`, `quiet`, `cannot tell` or `off`; `sees` says what it rests on."""

    rule: str
    verdict: str
    sees: str
    conditions: list[ConditionView]


class AlertsTrialView(Document, frozen=True, kw_only=True):
    """`runs` are how many that have ended the rules looked at."""

    runs: int
    rules: list[RuleTrialView]


def view_rules(config: Config) -> AlertRulesView:
    return AlertRulesView(rules=[view_rule(setting_of(config, rule)) for rule in RULES])


def view_rule(setting: RuleSetting) -> AlertRuleView:
    rule = setting.rule
    limit = _threshold(setting.limit, rule.limit)
    window = _threshold(setting.window, rule.window)
    about = rule.about.format(limit=limit.words if limit else "", window=window.words if window else "")
    shipped = (rule.severity, rule.limit.default if rule.limit else 0.0, rule.window.default if rule.window else 0.0)
    return AlertRuleView(
        name=rule.name,
        on=setting.on,
        severity=setting.severity.value,
        about=about,
        changed=not setting.on or shipped != (setting.severity, setting.limit, setting.window),
        limit=limit,
        window=window,
    )


def view_trial(board: Board, judgements: Sequence[Judgement], runs: int) -> AlertsTrialView:
    return AlertsTrialView(runs=runs, rules=[_judged(board, judgement) for judgement in judgements])


def _judged(board: Board, judgement: Judgement) -> RuleTrialView:
    return RuleTrialView(
        rule=judgement.setting.rule.name,
        verdict=_verdict(judgement),
        sees=printable(judgement.seen.words, 400),
        conditions=list(_conditions(board, judgement.seen.conditions)),
    )


def _verdict(judgement: Judgement) -> str:
    if not judgement.setting.on:
        return "off"
    if judgement.seen.conditions:
        return "raises"
    return "quiet" if judgement.seen.can_tell else "cannot tell"


def _conditions(board: Board, conditions: Iterable[Condition]) -> Iterable[ConditionView]:
    for one in conditions:
        standing = board.standing_alerts.get(one.key)
        yield ConditionView(
            key=printable(one.key, 200),
            severity=one.severity.value,
            title=printable(one.title, 400),
            evidence=tuple(printable(line, 200) for line in one.evidence),
            run=printable(one.run, 200),
            count=one.count,
            alert=standing.id if standing is not None else None,
            state=standing.state.value if standing is not None else "",
        )


def _threshold(value: float, bounds: Threshold | None) -> ThresholdView | None:
    if bounds is None:
        return None
    return ThresholdView(
        value=value,
        default=bounds.default,
        least=bounds.least,
        most=bounds.most,
        unit=bounds.unit.value,
        words=_words(value, bounds.unit),
    )


def _words(value: float, unit: Unit) -> str:
    match unit:
        case Unit.SHARE | Unit.CHANCE:
            return f"{value * 100:g}%"
        case Unit.TIMES:
            return f"{value:g} times"
        case Unit.SECONDS:
            return format_duration(value)
        case Unit.COUNT:
            return f"{value:g}"
