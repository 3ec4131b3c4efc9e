"""The trace of a run: what one attempt did, step by step, whoever ran it.

A trace is made from a transcript (`formats`) or from an attempt's turns and the log (`dataset/fleet.py`), and can be
made again from there at any time. Everything in it is bounded. What is not known is None or empty, never zero.
"""

from enum import StrEnum

import msgspec

from paddock.core.trace import TokenUsage

EXTRACTOR_VERSION = 1
"""Grows when the same transcript gives another trace; `paddock traces rebuild` makes older ones again."""

ERROR_CHARS = 2_000
STEP_ERROR_CHARS = 400
TARGET_CHARS = 200
NAME_CHARS = 200
TAIL_LINES = 60
TAIL_CHARS = 12_000


class Result(StrEnum):
    """Whether the run did what it was for: judged from outside, not by the agent."""

    SUCCESS = "success"
    FAILURE = "failure"
    UNKNOWN = "unknown"


class EndState(StrEnum):
    """How the run itself ended, whatever it achieved."""

    OK = "ok"
    GAVE_UP = "gave_up"
    TIMEOUT = "timeout"
    KILLED = "killed"
    CRASHED = "crashed"
    NEVER_RAN = "never_ran"
    BUDGET = "budget"
    REFUSED = "refused"
    THROTTLED = "throttled"
    OVERLOADED = "overloaded"
    UNKNOWN = "unknown"


class StepStatus(StrEnum):
    OK = "ok"
    ERROR = "error"
    DENIED = "denied"
    UNKNOWN = "unknown"


class CostSource(StrEnum):
    """Who says what it has cost: the engine, our price table, or a guess where tokens are missing."""

    TOLD = "told"
    PRICED = "priced"
    ESTIMATED = "estimated"
    UNKNOWN = ""


class Step(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One tool call. `activity` is its symbol without a suffix (`activities.py`), `target` a file or the family of a
    command, `error` what a failed one said. `agent` is the sub-agent that made it, `turn` the turn of an attempt."""

    tool: str = ""
    activity: str = ""
    target: str = ""
    status: StepStatus = StepStatus.OK
    error: str = ""
    at: float | None = None
    seconds: float | None = None
    exit: int | None = None
    agent: str = ""
    turn: int = 0


class ModelCall(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One call of a model; `id` is the provider's for its answer, unique within a run. `status` is the HTTP status of
    one that was refused."""

    id: str = ""
    model: str = ""
    usage: TokenUsage | None = None
    at: float | None = None
    seconds: float | None = None
    status: int | None = None
    retry_after: float | None = None


class Facts(msgspec.Struct, frozen=True, omit_defaults=True):
    """What git and the gate say of the work, None where nobody looked. `outside` are files outside the paths the task
    was given, `ci` those that define CI. `gate` is `green`, `red` or empty. `diff` is a digest of the whole patch."""

    files: tuple[str, ...] | None = None
    insertions: int | None = None
    deletions: int | None = None
    tests_added: int | None = None
    tests_deleted: int | None = None
    tests_skipped: int | None = None
    asserts_removed: int | None = None
    verified_last_edit: bool | None = None
    tests_run: int | None = None
    no_verify: bool | None = None
    force_push: bool | None = None
    new_dependency: bool | None = None
    outside: tuple[str, ...] | None = None
    ci: tuple[str, ...] | None = None
    gate: str = ""
    diff: str = ""


class Trace(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """`run` names it, `label` the batch it belongs to. `task` is the same for runs that were to do the same, `kind` for
    tasks of the same sort. `tail` are the last lines before the end, `error` what the harness said of it.
    `model_spoke` is False if no call of a model was seen, None if that cannot be known. `startup_tokens` are all that
    the first call read, `startup_cached` those of them that a cache already had. `waited_seconds` were spent waiting
    for a provider that refused. `tests` are the results of hidden tests by name. `attributes` are the source's own."""

    run: str
    task: str = ""
    kind: str = ""
    agent: str = ""
    engine: str = ""
    engine_version: str = ""
    model: str = ""
    label: str = ""
    host: str = ""
    account: str = ""
    started: float | None = None
    ended: float | None = None
    outcome: Result = Result.UNKNOWN
    end_state: EndState = EndState.UNKNOWN
    error: str = ""
    tail: str = ""
    model_spoke: bool | None = None
    usage: TokenUsage | None = None
    reasoning_tokens: int | None = None
    cost_source: CostSource = CostSource.UNKNOWN
    startup_tokens: int | None = None
    startup_cached: int | None = None
    waited_seconds: float | None = None
    model_calls: int | None = None
    steps: tuple[Step, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    facts: Facts = Facts()
    tests: dict[str, bool] = {}
    source: str = ""
    attributes: dict[str, str] = {}


class KeptTrace(msgspec.Struct, frozen=True, gc=False):
    """A trace as cohorts are computed with: without its steps and calls, which stay in the dataset until somebody asks.

    `key` is its number in the dataset. `path` is the sequence of its symbols as codes of `Symbols`: failed steps carry
    `!`, immediate repeats are told once. `step_count` counts all steps, `odd_steps` those whose activity is OTHER.
    `closing` are the last steps of a run that did not succeed, oldest first."""

    key: int
    trace: Trace
    path: tuple[int, ...]
    step_count: int
    odd_steps: int
    closing: tuple[Step, ...] = ()
