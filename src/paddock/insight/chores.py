"""What insight has the daemon do beside its rounds."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paddock.fleet.chores import Chore
from paddock.insight.keeper import keep_traces

if TYPE_CHECKING:
    from paddock.insight.look import Observe


def insight_chores() -> Sequence[Chore]:
    """For `make_daemon`."""
    return (keep_traces(_observers),)


def _observers() -> "Sequence[Observe]":
    """Imported by the keeper's thread: a fleet without attempts pays nothing for it."""
    from paddock.insight.alerts.watch import watch_alerts
    from paddock.insight.causes.watch import observe_causes

    return observe_causes, watch_alerts()
