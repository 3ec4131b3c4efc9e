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
    from importlib import import_module
    from importlib.util import find_spec

    from paddock.insight.causes.watch import observe_causes

    observers: list[Observe] = [observe_causes]
    if find_spec("paddock.insight.alerts.watch") is not None:
        observers.append(import_module("paddock.insight.alerts.watch").observe_alerts)
    return observers
