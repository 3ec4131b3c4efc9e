"""What follows from a look of the rules: which alerts are raised, told again, expired and resolved.

Pure, and decided again in the transaction that records it, on the alerts as they are then. What it needs to remember
from look to look are absences: since when and in how many looks an alert's cause was not seen. Whoever forgets them
resolves later, never sooner.

    condition seen ─▶ open ─▶ acknowledged ─┐
                       │            │       ├─▶ resolved (gone long enough; a lasting one only if acknowledged)
                       └─▶ expired ◀┘ ──────┘

What expired is not raised again before its cause was gone.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from paddock.core.alerts import events as al
from paddock.core.alerts.condition import EVIDENCE_KEPT, Condition, Observation, gravest
from paddock.core.alerts.model import MOST_STANDING, Alert, Alerts, AlertState, alert_id
from paddock.core.alerts.policy import LATELY_SECONDS, AlertPolicy
from paddock.core.durations import rough_duration
from paddock.core.events import Draft

CEILING = "ceiling"
MORE = f"{CEILING}:more"
"""The key of the one alert about all that are too many to be told."""
HOUR = 3600.0
GROWTH = 2
"""How many times as much is news."""


@dataclass(frozen=True, slots=True)
class Absence:
    """Since when, and in how many looks, the cause of an alert was not seen."""

    since: float
    looks: int


@dataclass(frozen=True, slots=True)
class AlertDecision:
    drafts: tuple[Draft, ...]
    absences: Mapping[str, Absence]


NO_ABSENCES: Mapping[str, Absence] = {}


def decide_alerts(
    alerts: Alerts, seen: Observation, absences: Mapping[str, Absence], now: float, policy: AlertPolicy
) -> AlertDecision:
    """`absences` are those of the look before."""
    here = {one.key: one for one in seen.conditions if one.key != MORE}
    missing = _note_absences(alerts, here, seen, absences, now)
    ends = _ends(alerts, here, missing, seen, now, policy)
    gone = {event.id for event in ends}
    kept = [alert for alert in _known(alerts) if alert.id not in gone]
    fresh, over = _admit(here.values(), alerts, kept, now, policy)
    more = _more(over)
    news: list[al.AlertEvent] = [*ends]
    for alert in kept:
        news += _news(alert, here.get(alert.key), now, policy)
    news += _tell_more(alerts.standing.get(MORE), more, missing, now, policy)
    if more is not None and MORE not in alerts.standing:
        fresh.append(more)
    news += [_raise(one, alerts, alert_id(number), now) for number, one in enumerate(fresh, alerts.newest + 1)]
    missing = {key: absence for key, absence in missing.items() if key != MORE or more is None}
    return AlertDecision(tuple(map(Draft, news)), missing)


def _known(alerts: Alerts) -> list[Alert]:
    """Those that stand, but the one about all others."""
    return [alert for alert in alerts.standing.values() if alert.key != MORE]


def _note_absences(
    alerts: Alerts, here: Mapping[str, Condition], seen: Observation, absences: Mapping[str, Absence], now: float
) -> dict[str, Absence]:
    """What nobody could judge is neither there nor gone. A clock that was set back begins again."""
    noted = {}
    for key, alert in alerts.standing.items():
        known = absences.get(key)
        if key in here:
            continue
        if key == MORE or alert.rule in seen.judged:
            goes_on = known is not None and known.since <= now
            noted[key] = Absence(known.since, known.looks + 1) if known is not None and goes_on else Absence(now, 1)
        elif known is not None:
            noted[key] = known
    return noted


def _ends(
    alerts: Alerts,
    here: Mapping[str, Condition],
    missing: Mapping[str, Absence],
    seen: Observation,
    now: float,
    policy: AlertPolicy,
) -> list[al.AlertResolved | al.AlertExpired]:
    ends: list[al.AlertResolved | al.AlertExpired | None] = []
    for alert in _known(alerts):
        if alert.rule in seen.off:
            ends.append(al.AlertResolved(alert.id, "its rule was turned off"))
        elif alert.key in here or alert.rule not in seen.judged:
            ends.append(_expire(alert, now, policy))
        else:
            ends.append(_resolve(alert, missing.get(alert.key), now, policy) or _expire(alert, now, policy))
    return [event for event in ends if event is not None]


def _resolve(alert: Alert, absence: Absence | None, now: float, policy: AlertPolicy) -> al.AlertResolved | None:
    if absence is None or (alert.lasting and alert.is_open):
        return None
    needed = policy.absence_needed(alert.episode)
    if absence.looks < policy.gone_looks or now - absence.since < needed:
        return None
    return al.AlertResolved(alert.id, f"not seen for {rough_duration(now - absence.since)}")


def _expire(alert: Alert, now: float, policy: AlertPolicy) -> al.AlertExpired | None:
    days = rough_duration(policy.expires_seconds)
    if alert.state is AlertState.OPEN and now - alert.raised >= policy.expires_seconds:
        return al.AlertExpired(alert.id, f"nobody has acknowledged it for {days}, and it still holds")
    if alert.state is AlertState.ACKNOWLEDGED and now - alert.acknowledged >= policy.expires_seconds:
        return al.AlertExpired(alert.id, f"{alert.by} acknowledged it {days} ago, and it still holds")
    return None


def _news(alert: Alert, one: Condition | None, now: float, policy: AlertPolicy) -> Sequence[al.AlertEvent]:
    """Each alert escalates at most twice; it grows at most once in so many seconds, and only by doubling."""
    if one is None or alert.state is AlertState.EXPIRED:
        return ()
    if one.severity.rank < alert.severity.rank:
        return (al.AlertEscalated(alert.id, one.severity, one.count, one.title, one.evidence, one.rule, one.run),)
    if one.count >= GROWTH * alert.count and now - alert.told >= policy.retold_seconds:
        return (al.AlertGrown(alert.id, one.count, one.title, one.evidence),)
    return ()


def _admit(
    conditions: Iterable[Condition], alerts: Alerts, kept: Sequence[Alert], now: float, policy: AlertPolicy
) -> tuple[list[Condition], list[Condition]]:
    """Those that are raised, the gravest first, and those for which there is no room. One place is for these."""
    lately = sum(1 for one in (*_known(alerts), *alerts.ended) if one.key != MORE and abs(now - one.raised) < HOUR)
    opened = sum(1 for alert in kept if alert.is_open)
    room = min(policy.most_open - 1 - opened, policy.most_new - lately, MOST_STANDING - 1 - len(alerts.standing))
    fresh = [one for one in conditions if one.key not in alerts.standing]
    fresh.sort(key=lambda one: (one.severity.rank, -one.count, one.key))
    return fresh[: max(0, room)], fresh[max(0, room) :]


def _more(over: Sequence[Condition]) -> Condition | None:
    """The one condition that stands for all for which there is no room."""
    if not over:
        return None
    counts = Counter(one.rule for one in over)
    rules = ", ".join(f"{rule} {count:,}" for rule, count in counts.most_common())
    title = f"{len(over):,} more {'alert' if len(over) == 1 else 'alerts'} above the limit: {rules}"
    evidence = tuple(one.title for one in over[:EVIDENCE_KEPT])
    return Condition(MORE, CEILING, gravest(over), title, evidence=evidence, run="paddock alerts test", count=len(over))


def _tell_more(
    standing: Alert | None, more: Condition | None, missing: Mapping[str, Absence], now: float, policy: AlertPolicy
) -> Sequence[al.AlertEvent]:
    if standing is None:
        return ()
    if more is None:
        gone = _resolve(standing, missing.get(MORE), now, policy)
        return () if gone is None else (gone,)
    old = _expire(standing, now, policy)
    return _news(standing, more, now, policy) if old is None else (old,)


def _raise(one: Condition, alerts: Alerts, name: str, now: float) -> al.AlertRaised:
    before = next((alert for alert in reversed(alerts.ended) if alert.key == one.key), None)
    is_back = before is not None and abs(now - before.ended) < LATELY_SECONDS
    return al.AlertRaised(
        id=name,
        key=one.key,
        rule=one.rule,
        severity=one.severity,
        title=one.title,
        subject=one.subject,
        evidence=one.evidence,
        run=one.run,
        count=one.count,
        episode=before.episode + 1 if before is not None and is_back else 1,
        lasting=one.lasting,
    )
