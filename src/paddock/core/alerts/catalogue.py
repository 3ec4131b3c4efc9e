"""Every rule that raises alerts: what it is about, how grave that is, and between which bounds it may be set.

What a rule computes is in `insight/alerts/rules`, by the same names. `MISSED` and `OVERSPENT` are about schedules.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from paddock.core.alerts.events import AlertSeverity

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0


class Unit(StrEnum):
    SHARE = "share"
    COUNT = "count"
    TIMES = "times"
    CHANCE = "chance"
    SECONDS = "seconds"


@dataclass(frozen=True, slots=True)
class Threshold:
    """What it is unless somebody sets it, and the bounds within which they may."""

    default: float
    least: float
    most: float
    unit: Unit


@dataclass(frozen=True, slots=True)
class AlertRule:
    """`about` says when it raises an alert; `{limit}` and `{window}` in it stand for what is set."""

    name: str
    about: str
    severity: AlertSeverity
    limit: Threshold | None = None
    window: Threshold | None = None


_PAGE, _TICKET, _NOTICE = AlertSeverity.PAGE, AlertSeverity.TICKET, AlertSeverity.NOTICE


def _share(default: float, least: float, most: float) -> Threshold:
    return Threshold(default, least, most, Unit.SHARE)


def _count(default: int, least: int, most: int) -> Threshold:
    return Threshold(default, least, most, Unit.COUNT)


def _window(default: float, least: float, most: float) -> Threshold:
    return Threshold(default, least, most, Unit.SECONDS)


SUCCESS = AlertRule("success", "agents succeed in fewer than {limit} of their attempts", _PAGE, _share(0.9, 0.5, 0.999))
INFRASTRUCTURE = AlertRule(
    "infrastructure", "fewer than {limit} of attempts get what they need to work", _PAGE, _share(0.9, 0.5, 0.999)
)
NEW_FAILURE = AlertRule(
    *("new-failure", "{limit} attempts fail within {window} in a way not seen before", _TICKET),
    *(_count(3, 2, 100), _window(30 * MINUTE, MINUTE, DAY)),
)
ALIKE = AlertRule(
    *("alike", "3 agents fail alike within {window}, which chance does on fewer than {limit} of days", _TICKET),
    *(Threshold(0.01, 1e-6, 0.2, Unit.CHANCE), _window(30 * MINUTE, MINUTE, DAY)),
)
NEVER_RAN = AlertRule("never-ran", "{limit} agents of one engine in a row never ran", _PAGE, _count(2, 2, 50))
CAUSE_SHARE = AlertRule(
    *("cause-share", "one outside cause makes up more than {limit} of the failures within {window}", _NOTICE),
    *(_share(0.1, 0.01, 1.0), _window(6 * HOUR, 10 * MINUTE, 3 * DAY)),
)
DRIFT = AlertRule(
    *("drift", "batches differ from those before in the same way, {limit} in a row", _TICKET), _count(2, 1, 2)
)
HARD_RULE = AlertRule("hard-rule", "an agent broke a hard rule, whatever its tests say", _TICKET)
STUCK = AlertRule(
    *("stuck", "an agent does nothing for {window} and longer than usual, or meets one error {limit} times", _TICKET),
    *(_count(5, 2, 1000), _window(5 * MINUTE, MINUTE, DAY)),
)
BUDGET_FORECAST = AlertRule(
    "budget-forecast",
    "the day will cost more than {limit} of its budget",
    _TICKET,
    _share(1.0, 0.1, 10.0),
)
BUDGET_BURN = AlertRule(
    "budget-burn",
    "money is spent {limit} as fast as the day's budget allows, and will run out",
    _NOTICE,
    Threshold(1.5, 1.0, 100.0, Unit.TIMES),
)
BUDGET_USED = AlertRule("budget-used", "most of a budget is used, or all of it", _TICKET)
TELEMETRY = AlertRule(
    "telemetry", "nothing was heard of the fleet for {window}", _TICKET, window=_window(5 * MINUTE, 3 * MINUTE, DAY)
)
OTHER_STEPS = AlertRule(
    "other-steps", "more than {limit} of the steps are of no known sort", _TICKET, _share(0.05, 0.01, 1.0)
)
UNPRICED = AlertRule("unpriced", "a model that agents use has no price", _TICKET)
USAGE_RATIO = AlertRule(
    "usage-ratio",
    "an engine reports {limit} as many tokens as its calls add up to, or the other way round",
    _TICKET,
    Threshold(1.5, 1.05, 100.0, Unit.TIMES),
)
KEEPER = AlertRule(
    *("keeper", "ended attempts are missing in the dataset for {window}", _TICKET),
    window=_window(10 * MINUTE, MINUTE, DAY),
)
MISSED = AlertRule("schedule-missed", "a schedule did not run when it was due", _TICKET)
OVERSPENT = AlertRule("schedule-budget", "a schedule costs more than its budget", _TICKET)
BLIND = AlertRule("blind", "another rule cannot be asked", _TICKET)

RULES: tuple[AlertRule, ...] = (
    SUCCESS, INFRASTRUCTURE, NEVER_RAN, NEW_FAILURE, ALIKE, CAUSE_SHARE, DRIFT, HARD_RULE, STUCK,
    BUDGET_FORECAST, BUDGET_BURN, BUDGET_USED, TELEMETRY, OTHER_STEPS, UNPRICED, USAGE_RATIO, KEEPER, MISSED, OVERSPENT,
    BLIND,
)  # fmt: skip
"""In the order in which people read them."""


def rule_name(text: str) -> str:
    """As people and variables of the environment may write it."""
    return text.strip().lower().replace("_", "-")


def find_rule(text: str) -> AlertRule | None:
    name = rule_name(text)
    return next((rule for rule in RULES if rule.name == name), None)


def rule_names(rules: Iterable[AlertRule] = RULES) -> list[str]:
    return [rule.name for rule in rules]
