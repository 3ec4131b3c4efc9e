"""The causes of failures as they stand, and those that were cleared last. Frozen, and bounded."""

from msgspec import Struct

from paddock.core.causes.vocabulary import FailureCause
from paddock.core.ids import AttemptId, TaskId

KEPT_ENDED = 100
MOST_STANDING = 200
KEPT_RUNS = 50
KEPT_TASKS = 200
KEPT_RESETS = 50
STREAK_STOPS, STREAK_TASKS = 3, 2
"""So many attempts in a row that never ran, of so many tasks, stop their engine."""


class Cause(Struct, frozen=True, array_like=True, gc=False):
    """`runs` are the newest attempts it was found in, of `count`; `forgiven` of them do not count as their tasks'
    failures. `strikes` counts how often it came back after what was done about it had ended, `struck` is the last time;
    `at_work` is how many agents the host had then, `slots` how many it was left with. `settled` says what a probe or a
    person rests its class on; until then it may be any of those that are `tied`. `ended`, `by` and `why` are of its
    clearing."""

    id: str
    key: str
    cause: FailureCause
    found: float
    last: float
    symptom: str = ""
    evidence: tuple[str, ...] = ()
    resource: str = ""
    engine: str = ""
    version: str = ""
    account: str = ""
    host: str = ""
    runs: tuple[AttemptId, ...] = ()
    tasks: tuple[TaskId, ...] = ()
    count: int = 0
    forgiven: int = 0
    strikes: int = 0
    struck: float = 0.0
    at_work: int = 0
    slots: int = 0
    is_settled: bool = False
    settled: tuple[str, ...] = ()
    probes: tuple[TaskId, ...] = ()
    skipped: tuple[str, ...] = ()
    tied: tuple[FailureCause, ...] = ()
    ended: float = 0.0
    by: str = ""
    why: str = ""

    @property
    def signature(self) -> str:
        return self.key.rpartition(":")[0]


class Streak(Struct, frozen=True, array_like=True, gc=False):
    """Attempts of one version of an engine that never ran, in a row. Once they stop the engine, `trials` counts those
    that were allowed to try and did not run either."""

    version: str
    account: str
    cause: str
    evidence: str
    runs: int
    tasks: tuple[TaskId, ...]
    last: float
    trials: int = 0

    @property
    def stops(self) -> bool:
        return self.runs >= STREAK_STOPS and len(self.tasks) >= STREAK_TASKS


class Causes(Struct, frozen=True, array_like=True):
    """`standing` are by key; `ended` the cleared ones, the newest last; `streaks` are by engine. `newest` is the
    highest number given. `resets` are when somebody said last that an engine or account works again."""

    standing: dict[str, Cause] = {}
    ended: tuple[Cause, ...] = ()
    streaks: dict[str, Streak] = {}
    newest: int = 0
    resets: dict[str, float] = {}

    def find(self, name: str) -> Cause | None:
        """By its id."""
        known = (*self.standing.values(), *reversed(self.ended))
        return next((cause for cause in known if cause.id == name), None)

    def cleared(self, key: str) -> Cause | None:
        """The one that stood under it and was cleared last."""
        return next((cause for cause in reversed(self.ended) if cause.key == key), None)

    def settled(self, signature: str) -> Cause | None:
        """The one of that signature whose class somebody has settled."""
        return next((one for one in self.standing.values() if one.is_settled and one.signature == signature), None)


def key_of(signature: str, cause: FailureCause) -> str:
    """Failures that are alike have one signature; what they are taken for may change as more of them are seen."""
    return f"{signature}:{cause.value}"


def cause_id(number: int) -> str:
    return f"c{number}"


def cause_number(name: str) -> int:
    """0 for what is no id of a cause."""
    number = name[1:]
    return int(number) if name[:1] == "c" and number.isascii() and number.isdecimal() and len(number) <= 9 else 0


def how_to_clear(name: str) -> str:
    return f"paddock failures clear {name}"
