"""Every kind of event this version knows, by the name it has in the log."""

from paddock.core import events as ev


def _all_kinds(base: type[ev.Event]) -> dict[str, type[ev.Event]]:
    found: dict[str, type[ev.Event]] = {}
    for event in base.__subclasses__():
        if event.kind in found:
            raise TypeError(f"two events are called {event.kind}")
        found[event.kind] = event
    found.pop(ev.Unknown.kind)
    return found


KINDS: dict[str, type[ev.Event]] = _all_kinds(ev.Event)
