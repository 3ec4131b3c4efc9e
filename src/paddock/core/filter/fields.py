"""The fields that a filter can look at, each with what its values are: one table for parser, help and documentation."""

from dataclasses import dataclass
from enum import Enum

from paddock.core.tasks.needs import Need
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Outcome, Role


class Values(Enum):
    """What a field holds, and so what it can be compared with."""

    CHOICE = "one of a few words"
    NAME = "a name"
    TEXT = "text"
    IDS = "task ids"
    DURATION = "a duration"
    MONEY = "an amount of dollars"
    NUMBER = "a whole number"

    @property
    def is_amount(self) -> bool:
        return self in (Values.DURATION, Values.MONEY, Values.NUMBER)

    @property
    def has_order(self) -> bool:
        return self.is_amount or self is Values.IDS


@dataclass(frozen=True, slots=True)
class TaskField:
    """`choices` are all words that a CHOICE can be. `may_lack`: a task can be without, and `field=""` finds those."""

    name: str
    values: Values
    about: str
    example: str
    choices: tuple[str, ...] = ()
    may_lack: bool = True


def _words(*enums: type[Phase] | type[Outcome] | type[Role] | type[Need]) -> tuple[str, ...]:
    return tuple(member.value for words in enums for member in words)


_TABLE = (
    TaskField("id", Values.IDS, "its id", "id=t3-t9,t12", may_lack=False),
    TaskField("title", Values.TEXT, "its title", 'title="the parser"', may_lack=False),
    TaskField("phase", Values.CHOICE, "where it stands", "phase=ready,running", _words(Phase), may_lack=False),
    TaskField("outcome", Values.CHOICE, "what its newest attempt at the work did", "outcome=crashed", _words(Outcome)),
    TaskField("need", Values.CHOICE, "what it needs a person for", "need=approve", _words(Need)),
    TaskField("agent", Values.NAME, "the agent it is for", "agent=rev*"),
    TaskField("engine", Values.NAME, "its engine, or that of its newest attempt", "engine=claude"),
    TaskField("model", Values.NAME, "the model of its newest attempt", "model=*opus*"),
    TaskField("kind", Values.NAME, "the kind of work", "kind=docs"),
    TaskField("convoy", Values.NAME, "the convoy it belongs to", "convoy=types"),
    TaskField("label", Values.NAME, "one of its labels", "label=area/*"),
    TaskField("role", Values.CHOICE, "what it is for", "role=review", _words(Role), may_lack=False),
    TaskField("after", Values.IDS, "a task it waits for", "after=t3"),
    TaskField("held", Values.NAME, "the person who holds its attempt", "held=*"),
    TaskField("age", Values.DURATION, "how long ago it was added", "age>2h", may_lack=False),
    TaskField("since", Values.DURATION, "how long it has been in its phase", "since>30m", may_lack=False),
    TaskField("cost", Values.MONEY, "what its attempts have cost, where a price is known", "cost>1.50"),
    TaskField("attempts", Values.NUMBER, "how many attempts it has had", "attempts>=2", may_lack=False),
    TaskField("priority", Values.NUMBER, "its priority", "priority>0", may_lack=False),
    TaskField("reason", Values.TEXT, "why it stands where it does", "reason=*conflict*"),
    TaskField("stuck", Values.TEXT, "why its agent looks stuck, if it does", "stuck=*"),
)  # fmt: skip
FIELDS = {field.name: field for field in _TABLE}

SEARCHED = (
    "id", "title", "agent", "engine", "convoy", "label", "kind", "reason", "step", "stuck", "phase", "need",
)  # fmt: skip
"""Where a word without a field is looked for. `step` is what an agent at work did last."""

STUCK = "stuck"
"""The one word that stands for a test of its own: `stuck=*`."""

SYNONYMS = {
    "status": "phase",
    "state": "phase",
    "tag": "label",
    "labels": "label",
    "group": "convoy",
    "created": "age",
    "spent": "cost",
    "name": "title",
    "result": "outcome",
    "task": "id",
    "depends": "after",
    "tries": "attempts",
    "type": "kind",
    "holder": "held",
}
"""What people call a field elsewhere, for the hint."""
