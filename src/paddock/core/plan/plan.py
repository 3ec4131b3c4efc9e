"""What a planner delivers: a convoy as JSON. The schema of these structs is published in docs/reference/plan.md."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from paddock.core.events import Acceptance

DEFAULT_MAX_TASKS = 20
MOST_TASKS = 100
KEY_CHARS = 40
BRIEF_CHARS = 20_000
NOTES_CHARS = 20_000
RISK_CHARS = 1_000
MOST_RISKS = 20
MOST_AFTER = 50
MOST_PATHS = 20
MOST_LABELS = 20


class Size(StrEnum):
    """How much work a task is, for the forecast: a small one counts as half of what is usual, a large one as twice."""

    SMALL = "small"
    MEDIUM = "medium"
    LARGE = "large"

    @property
    def factor(self) -> float:
        return {Size.SMALL: 0.5, Size.MEDIUM: 1.0, Size.LARGE: 2.0}[self]


class PlannedTask(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One task of a plan. Two tasks that may run at the same time should not share paths."""

    key: Annotated[str, Meta(min_length=1, max_length=KEY_CHARS, description="its name inside this plan, for `after`")]
    title: Annotated[str, Meta(min_length=1, max_length=200, description="one line of plain text")]
    brief: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=BRIEF_CHARS,
            description="what to do and how to tell that it is done, for an agent that knows nothing else of the plan",
        ),
    ]
    paths: Annotated[
        tuple[str, ...], Meta(max_length=MOST_PATHS, description="globs of what it may change, inside the repository")
    ] = ()
    after: Annotated[
        tuple[str, ...],
        Meta(max_length=MOST_AFTER, description="keys of this plan, or ids of tasks such as `t12`, that land first"),
    ] = ()
    kind: Annotated[str | None, Meta(description="the kind of work, such as `docs`")] = None
    size: Annotated[Size, Meta(description="how much work it is")] = Size.MEDIUM
    agent: Annotated[str | None, Meta(description="the agent that does it; omit it to let Paddock choose")] = None
    accept: Annotated[
        Acceptance | None,
        Meta(
            description="what must hold before it is accepted: commands as lists of words, test files with their text"
        ),
    ] = None
    labels: Annotated[tuple[str, ...], Meta(max_length=MOST_LABELS, description="words to find it by")] = ()


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A convoy, as a planner proposes it."""

    convoy: Annotated[
        str, Meta(min_length=1, max_length=80, description="a short name: letters, digits, `-`, `_`, `.`")
    ]
    tasks: Annotated[
        tuple[PlannedTask, ...], Meta(min_length=1, max_length=MOST_TASKS, description="in the order of reading")
    ]
    title: Annotated[str, Meta(max_length=200, description="what the convoy achieves, in one line")] = ""
    notes: Annotated[str, Meta(max_length=NOTES_CHARS, description="what the person who decides should know")] = ""
    risks: Annotated[
        tuple[Annotated[str, Meta(max_length=RISK_CHARS)], ...],
        Meta(max_length=MOST_RISKS, description="what may go wrong, one sentence each"),
    ] = ()


@dataclass(frozen=True, slots=True)
class PlanLimits:
    """What a plan may name here. `fence` are the globs that all its paths must be inside of; none means anywhere.
    `kinds` are those that agents take; none means any word. `tasks` are the ids that exist."""

    max_tasks: int = DEFAULT_MAX_TASKS
    fence: tuple[str, ...] = ()
    agents: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    tasks: frozenset[str] = frozenset()


def encode_plan(plan: Plan) -> str:
    return msgspec.json.encode(plan).decode()


def decode_plan(text: str) -> Plan:
    """A plan as the log holds it. Raises msgspec.DecodeError for anything else."""
    return msgspec.json.decode(text, type=Plan)


def without_acceptance(text: str) -> str:
    """The same for those who may be given its tasks: what these must pass is kept out of their reach."""
    plan = decode_plan(text)
    return encode_plan(
        msgspec.structs.replace(plan, tasks=tuple(msgspec.structs.replace(one, accept=None) for one in plan.tasks))
    )


def plan_schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of a plan."""
    schema: dict[str, Any] = msgspec.json.schema(Plan)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A plan of Paddock's", **schema}
