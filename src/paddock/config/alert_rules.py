"""What can be wrong with `[alerts]` although each of its values is fine, and what holds for each rule."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paddock.config.schema import AlertRuleSettings, Config
from paddock.core.errors import Misuse
from paddock.core.ids import printable

if TYPE_CHECKING:
    from paddock.core.alerts.catalogue import AlertRule, Threshold
    from paddock.core.alerts.events import AlertSeverity
    from paddock.core.alerts.policy import AlertPolicy

LONGEST_GONE_SECONDS = 3600.0
SOONEST_EXPIRY_SECONDS = 3600.0


def check_alerts(config: Config, sources: Mapping[str, str], otherwise: str) -> None:
    """Raises Misuse. A rule that does not exist would leave somebody waiting for an alert that never comes."""
    settings = config.alert_settings
    if settings.gone > LONGEST_GONE_SECONDS:
        raise _misfit(sources.get("alerts.gone", otherwise), "alerts.gone", "at most 1h")
    if settings.expires < SOONEST_EXPIRY_SECONDS:
        raise _misfit(sources.get("alerts.expires", otherwise), "alerts.expires", "at least 1h")
    for name, one in config.alerts.items():
        _check_rule(name, one, sources, otherwise)


def _check_rule(name: str, one: AlertRuleSettings, sources: Mapping[str, str], otherwise: str) -> None:
    from paddock.core.alerts.catalogue import Unit, find_rule, rule_name, rule_names
    from paddock.core.wording import did_you_mean

    rule = find_rule(name)
    if rule is None:
        source = next((where for key, where in sources.items() if key.startswith(f"alerts.{name}")), otherwise)
        known = rule_names()
        hint = did_you_mean(rule_name(name), known, f"rules: {', '.join(known)}")
        raise Misuse(f"{source}: `alerts.{printable(name, 40)}`: there is no such rule", hint)
    for key, value, bounds in (("limit", one.limit, rule.limit), ("window", one.window, rule.window)):
        if value is None:
            continue
        dotted = f"alerts.{name}.{key}"
        source = sources.get(dotted, otherwise)
        if bounds is None:
            raise Misuse(f"{source}: `{dotted}`: this rule has no {key}", "`paddock alerts rules` shows what each has")
        if not bounds.least <= value <= bounds.most:
            raise _misfit(source, dotted, f"{bounds.least:g} to {bounds.most:g}")
        if bounds.unit is Unit.COUNT and value != int(value):
            raise _misfit(source, dotted, "a whole number")


def _misfit(source: str, key: str, bounds: str) -> Misuse:
    return Misuse(f"{source}: `{key}`: it must be {bounds}", "`paddock config show` lists keys and values")


@dataclass(frozen=True, slots=True)
class RuleSetting:
    """A rule as it is set: `limit` and `window` (seconds) are 0 for a rule that has none."""

    rule: "AlertRule"
    on: bool
    severity: "AlertSeverity"
    limit: float
    window: float


def setting_of(config: Config, rule: "AlertRule") -> RuleSetting:
    """People may write its name with hyphens or underscores."""
    from paddock.core.alerts.catalogue import rule_name
    from paddock.core.alerts.events import AlertSeverity

    said = next((one for name, one in config.alerts.items() if rule_name(name) == rule.name), AlertRuleSettings())
    limit, window = rule.limit, rule.window
    return RuleSetting(
        rule,
        said.on,
        AlertSeverity(said.severity) if said.severity is not None else rule.severity,
        _set(said.limit, limit),
        _set(said.window, window),
    )


def policy_of(config: Config) -> "AlertPolicy":
    from paddock.core.alerts.policy import AlertPolicy

    said = config.alert_settings
    return AlertPolicy(
        most_open=said.most_open, most_new=said.most_new, gone_seconds=said.gone, expires_seconds=said.expires
    )


def _set(value: float | None, bounds: "Threshold | None") -> float:
    if bounds is None:
        return 0.0
    return bounds.default if value is None else value
