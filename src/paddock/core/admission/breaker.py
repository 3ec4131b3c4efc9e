"""An engine whose agents never run at all is stopped: the third identical nothing in a row is no coincidence."""

import msgspec

NEVER_RAN_IN_A_ROW = 3


class Breaker(msgspec.Struct, frozen=True):
    never_ran: int = 0
    evidence: str = ""

    @property
    def is_open(self) -> bool:
        return self.never_ran >= NEVER_RAN_IN_A_ROW


def note_never_ran(breaker: Breaker, evidence: str) -> Breaker:
    return Breaker(breaker.never_ran + 1, evidence)


def note_ran(breaker: Breaker) -> Breaker:
    """An agent of the engine did something. One started before the breaker opened does not close it."""
    return breaker if breaker.is_open else Breaker()


def why_stopped(breaker: Breaker, engine: str) -> str | None:
    if not breaker.is_open:
        return None
    return f"engine {engine} stopped: {breaker.never_ran} agents in a row never ran ({breaker.evidence})"
