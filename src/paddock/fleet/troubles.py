"""What the daemon could not do and tries again. The log is told once: telling it wakes the very loop that failed."""

from dataclasses import dataclass, field

ENOUGH_TRIES = 3  # in a row, before a run that is to end when it is idle gives up
TOLD_AGAIN_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Trouble:
    """`problem` is the last one; `times` counts the failures in a row."""

    problem: str
    times: int
    told_at: float


@dataclass
class Troubles:
    """By what was being done."""

    now: dict[str, Trouble] = field(default_factory=dict)

    def note(self, what: str, problem: str, at: float) -> bool:
        """Whether the log does not know of it yet."""
        before = self.now.get(what)
        is_known = before is not None and before.problem == problem and at - before.told_at < TOLD_AGAIN_SECONDS
        told_at = before.told_at if before is not None and is_known else at
        self.now[what] = Trouble(problem, before.times + 1 if before is not None else 1, told_at)
        return not is_known

    def forget(self, what: str) -> None:
        """It worked."""
        self.now.pop(what, None)

    @property
    def hopeless(self) -> bool:
        return any(trouble.times >= ENOUGH_TRIES for trouble in self.now.values())
