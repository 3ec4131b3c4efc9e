"""What is known of why attempts failed. What follows from it is decided where it is folded.

A new field has a default; a new meaning is a new event, as in `core/events.py`.
"""

from typing import ClassVar, TypeAlias

from paddock.core.causes.vocabulary import FailureCause
from paddock.core.events import Event
from paddock.core.ids import TaskId


class CauseFound(Event, frozen=True):
    """The record's attempt failed for this cause: once for each cause and attempt. `key` names the cause, `id` is its
    number in this log. `forgiven`: the attempt is not the task's failure, and does not count as one; then the task is
    not tried again before `retry_at`. `resource` is what several fought over, `at_work` how many agents were at work
    on the host when it failed, 0 where nobody knows; `version` is the engine's. `since_ran`: another attempt of the
    engine has been of use since, so this one says nothing about whether it runs now. `tied` are the classes that the
    evidence cannot tell apart. `blocks`: it is sure enough to have the task wait for a person, where its class does
    that."""

    kind: ClassVar[str] = "cause.found"
    id: str
    key: str
    cause: FailureCause
    symptom: str = ""
    evidence: tuple[str, ...] = ()
    resource: str = ""
    version: str = ""
    at_work: int = 0
    forgiven: bool = False
    since_ran: bool = False
    tied: tuple[FailureCause, ...] = ()
    blocks: bool = True
    retry_at: float | None = None


class CauseProbed(Event, frozen=True):
    """`tasks` are to tell which of several classes it is; each repeats the task of `attempt`. `skipped` are those that
    could not be, and why."""

    kind: ClassVar[str] = "cause.probed"
    id: str
    tasks: tuple[TaskId, ...]
    skipped: tuple[str, ...] = ()


class CauseLeftOpen(Event, frozen=True):
    """All its probes are over, and do not tell which class it is. What is diagnosed later may tell, and it may be
    probed again."""

    kind: ClassVar[str] = "cause.left_open"
    id: str
    evidence: tuple[str, ...] = ()


class CauseSettled(Event, frozen=True):
    """A probe has told, or a person has said, which class it is. Whatever is diagnosed later stays that."""

    kind: ClassVar[str] = "cause.settled"
    id: str
    cause: FailureCause
    evidence: tuple[str, ...] = ()


class CauseCleared(Event, frozen=True):
    """A person says it is gone: everything that was done about it ends, and the tasks that it blocked go on."""

    kind: ClassVar[str] = "cause.cleared"
    id: str
    reason: str = ""


CauseEvent: TypeAlias = CauseFound | CauseProbed | CauseLeftOpen | CauseSettled | CauseCleared
