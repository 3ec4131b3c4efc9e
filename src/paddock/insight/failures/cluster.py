"""A cluster: failures that are alike, what caused them, and what says so."""

from dataclasses import dataclass, field

from paddock.insight.failures.vocabulary import FailureCause


@dataclass(frozen=True, slots=True)
class Evidence:
    """A line that the cause rests on, and the run that it is from; `run` is empty for a number over all runs.

    `where` is `error` for what the harness said, `output` for the last lines, `step` for a failed step, `call` for a
    model call that was refused, and `runs` for what only the runs together show."""

    line: str
    where: str
    run: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Lift:
    """How much more often runs of one value of a facet (`host`, `account`, …) fail like this than runs of the others.
    `p` is the chance of as many or more by luck, given how many runs that value had."""

    facet: str
    value: str
    failures: int
    runs: int
    lift: float
    p: float


@dataclass(frozen=True, slots=True)
class Measures:
    """What the runs show together; None where they cannot say.

    `recurrence` is how often another attempt at the same task failed alike. `burst` is how many times more frequent
    these failures were in their densest quarter of an hour than over all the time that runs were at work. `groups` are
    the groups of concurrent attempts that these failures were in, and `all_but_one` those of them in which all but one
    failed like this. `backoff` is the median share of the time that was spent waiting for a provider."""

    recurrence: float | None = None
    burst: float | None = None
    groups: int = 0
    all_but_one: int = 0
    backoff: float | None = None
    lifts: tuple[Lift, ...] = ()


@dataclass(frozen=True, slots=True)
class Cluster:
    """`id` is the same whenever the same lines are at the root of the failures. `symptom` is what one sees, `title`
    what people call the cause, empty if it is not known. `because` is the class of what lies beneath runs that never
    ran, and is `cause` itself for all others. `tied` are the classes that the evidence cannot tell apart; then `cause`
    is unknown. `confidence` is between 0 and 1.

    `runs` are names and `keys` their numbers in the dataset, both in the order of time. `resource` is what was fought
    over, such as `port:8080`. `engine`, `model`, `host` and `account` are empty unless all the runs have the same one.
    `first` and `last` are the ends of the earliest and the latest run."""

    id: str
    symptom: str
    cause: FailureCause
    title: str
    because: FailureCause
    runs: tuple[str, ...]
    keys: tuple[int, ...]
    tasks: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    confidence: float = 0.0
    tied: tuple[FailureCause, ...] = ()
    resource: str = ""
    sign: str = ""
    engine: str = ""
    model: str = ""
    host: str = ""
    account: str = ""
    labels: tuple[str, ...] = ()
    first: float | None = None
    last: float | None = None
    measures: Measures = field(default_factory=Measures)
