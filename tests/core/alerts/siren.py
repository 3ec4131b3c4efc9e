"""A log of alerts in memory, led by a clock of the test's own."""

from collections.abc import Iterable, Mapping

from paddock.core import events as ev
from paddock.core.alerts.condition import Condition, Observation
from paddock.core.alerts.decide import NO_ABSENCES, Absence, decide_alerts
from paddock.core.alerts.events import AlertRaised, AlertSeverity
from paddock.core.alerts.model import Alert, Alerts, AlertState
from paddock.core.alerts.policy import AlertPolicy
from paddock.core.board import Board
from paddock.core.intent.alerts import acknowledge_alerts, acknowledge_all
from tests.core.ledger import START

RULES = frozenset({"failures", "stuck"})


def condition(
    key: str = "failures:c1",
    severity: str = "ticket",
    *,
    count: int = 1,
    lasting: bool = False,
    title: str = "",
) -> Condition:
    rule, _, subject = key.partition(":")
    return Condition(key, rule, AlertSeverity(severity), title or f"{key} fails", subject, count=count, lasting=lasting)


class Siren:
    def __init__(self, policy: AlertPolicy | None = None) -> None:
        self.board = Board()
        self.records: list[ev.Record] = []
        self.policy = policy or AlertPolicy()
        self.absences: Mapping[str, Absence] = NO_ABSENCES
        self.now = START

    @property
    def alerts(self) -> Alerts:
        return self.board.alerts

    def standing(self, *states: AlertState) -> list[Alert]:
        return [one for one in self.alerts.standing.values() if not states or one.state in states]

    def open(self) -> list[Alert]:
        return self.standing(AlertState.OPEN)

    def write(self, drafts: Iterable[ev.Draft], actor: str = "keeper") -> list[ev.Event]:
        written = []
        for draft in drafts:
            record = ev.Record(self.board.seq + 1, self.now, actor, 0, None, None, draft.event, bytes(20))
            self.board.apply(record)
            self.records.append(record)
            written.append(draft.event)
        return written

    def look(
        self,
        *conditions: Condition,
        after: float = 30.0,
        judged: frozenset[str] = RULES,
        off: frozenset[str] = frozenset(),
    ) -> list[ev.Event]:
        """What one look recorded, `after` so many seconds."""
        self.now += after
        seen = Observation(conditions, judged, off)
        decision = decide_alerts(self.alerts, seen, self.absences, self.now, self.policy)
        self.absences = decision.absences
        return self.write(decision.drafts)

    def looks(self, times: int, *conditions: Condition, after: float = 30.0) -> list[ev.Event]:
        return [event for _ in range(times) for event in self.look(*conditions, after=after)]

    def ack(self, *names: str, note: str = "") -> list[ev.Event]:
        return self.write(acknowledge_alerts(self.board, names, note), "ana@host")

    def ack_all(self) -> list[ev.Event]:
        return self.write(acknowledge_all(self.board), "ana@host")

    def restart(self) -> None:
        """Another keeper takes over, which remembers nothing."""
        self.absences = NO_ABSENCES

    def raised(self) -> list[AlertRaised]:
        return [record.event for record in self.records if isinstance(record.event, AlertRaised)]


def kinds(events: Iterable[ev.Event]) -> list[str]:
    return [event.kind.removeprefix("alert.") for event in events]
