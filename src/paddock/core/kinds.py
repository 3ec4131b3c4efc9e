"""The event class for each kind. A family is imported when one of its kinds is first needed."""

from functools import cache
from importlib import import_module

from paddock.core.events import Event, Unknown

_REVIEW = "paddock.core.review.events"
_FAMILIES = {
    "lease": "paddock.core.leases.lease",
    "queue": "paddock.core.merge.events",
    "review": _REVIEW,
    "finding": _REVIEW,
    "alert": "paddock.core.alerts.events",
    "schedule": "paddock.core.schedules.events",
    "cause": "paddock.core.causes.events",
    "node": "paddock.core.nodes.events",
}
_ORDINARY = "paddock.core.events"


def event_class(kind: str) -> type[Event] | None:
    """None for a kind this version does not know."""
    return _kinds_of(_FAMILIES.get(kind.partition(".")[0], _ORDINARY)).get(kind)


def all_kinds() -> dict[str, type[Event]]:
    return {kind: event for module in (_ORDINARY, *_FAMILIES.values()) for kind, event in _kinds_of(module).items()}


@cache
def _kinds_of(module: str) -> dict[str, type[Event]]:
    found = vars(import_module(module)).values()
    events = [thing for thing in found if isinstance(thing, type) and issubclass(thing, Event)]
    return {event.kind: event for event in events if event not in (Event, Unknown)}
