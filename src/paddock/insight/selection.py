"""Which runs somebody asks about."""

from dataclasses import dataclass

from paddock.insight.trace import Trace


@dataclass(frozen=True, slots=True)
class Selection:
    """What is None does not matter. `since` and `until` are seconds since the epoch and compared with a run's end, or
    its start where that is not known; `until` is exclusive."""

    task: str | None = None
    kind: str | None = None
    agent: str | None = None
    engine: str | None = None
    model: str | None = None
    label: str | None = None
    since: float | None = None
    until: float | None = None

    def takes(self, trace: Trace) -> bool:
        names = ("task", "kind", "agent", "engine", "model", "label")
        if any(getattr(self, name) not in (None, getattr(trace, name)) for name in names):
            return False
        at = trace.ended if trace.ended is not None else trace.started
        if self.since is None and self.until is None:
            return True
        return at is not None and (self.since is None or at >= self.since) and (self.until is None or at < self.until)


EVERYTHING = Selection()
