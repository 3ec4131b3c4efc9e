"""Keeps watch for alerts: asks the rules while the fleet runs, and has recorded what follows.

What is remembered between two looks can all be read again. A daemon that starts again finds the alerts, and who has
acknowledged them, on the board.
"""

from collections.abc import Mapping, Sequence

from paddock.config.alert_rules import policy_of
from paddock.core.alerts.condition import Observation
from paddock.core.alerts.decide import NO_ABSENCES, Absence, decide_alerts
from paddock.core.alerts.policy import AlertPolicy
from paddock.core.board import Board
from paddock.core.events import Draft
from paddock.insight.alerts.evaluate import judge_all, observation_of
from paddock.insight.alerts.memory import AlertMemory
from paddock.insight.look import Decide, Look, Observe

EVERY_LOOKS = 2.0
"""So many times as long as between two looks of a keeper at least, the rules are not asked again."""


def watch_alerts() -> Observe:
    """An observer with a memory of its own, for one keeper."""
    watch = AlertWatch()

    def observe_alerts(look: Look) -> Sequence[Decide]:
        return watch.look(look)

    return observe_alerts


class AlertWatch:
    def __init__(self) -> None:
        self._memory = AlertMemory()
        self._absences: Mapping[str, Absence] = NO_ABSENCES
        self._asked: float | None = None

    def look(self, look: Look) -> Sequence[Decide]:
        """Nothing where nothing is to be recorded."""
        self._memory.hear(look)
        if self._asked is not None and 0.0 <= look.now - self._asked < EVERY_LOOKS * look.site.config.insight.every:
            return ()
        self._asked = look.now
        seen = observation_of(judge_all(self._memory.gather(look)))
        policy, before = policy_of(look.site.config), self._absences
        decision = decide_alerts(look.board.alerts, seen, before, look.now, policy)
        if not decision.drafts:
            self._absences = decision.absences
            return ()
        return (self._decider(seen, before, look.now, policy),)

    def _decider(self, seen: Observation, before: Mapping[str, Absence], now: float, policy: AlertPolicy) -> Decide:
        """Decides again on the board that it is recorded on: somebody may have acknowledged one meanwhile."""

        def decide(board: Board) -> Sequence[Draft]:
            decision = decide_alerts(board.alerts, seen, before, now, policy)
            self._absences = decision.absences
            return decision.drafts

        return decide
