"""An engine whose agents never run at all is stopped: three such tasks in a row are no coincidence.

It takes several tasks: a task whose own prompt or settings are at fault only ever stops itself.
"""

import msgspec

NEVER_RAN_TASKS = 3


class Breaker(msgspec.Struct, frozen=True):
    """`never_ran` counts attempts in a row, `tasks` are those they belonged to."""

    never_ran: int = 0
    evidence: str = ""
    tasks: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        return len(self.tasks) >= NEVER_RAN_TASKS


def note_never_ran(breaker: Breaker, evidence: str, task: str) -> Breaker:
    tasks = breaker.tasks if task in breaker.tasks else (*breaker.tasks, task)[-NEVER_RAN_TASKS:]
    return Breaker(breaker.never_ran + 1, evidence, tasks)


def note_ran(breaker: Breaker) -> Breaker:
    """An agent of the engine did something. One started before the breaker opened does not close it."""
    return breaker if breaker.is_open else Breaker()


def why_stopped(breaker: Breaker, engine: str) -> str | None:
    if not breaker.is_open:
        return None
    return f"engine {engine} stopped: the agents of {len(breaker.tasks)} tasks in a row never ran ({breaker.evidence})"


def how_to_restart(engine: str) -> str:
    return f"paddock engines check {engine}, then paddock limits --reset {engine}"
