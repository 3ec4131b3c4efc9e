"""Attempts that people have taken over: the fleet leaves them alone, until nobody is there any more.

The process that keeps an attempt for a person ends their terminal, and records that they have left. Where it cannot,
because it was killed or its machine restarted, or where the task was stopped or cancelled, the fleet does it.
"""

from dataclasses import dataclass

from paddock.core.board import Board
from paddock.core.events import Draft, TurnEnded
from paddock.core.ids import printable
from paddock.core.intent.holds import leave
from paddock.core.tasks.task import Attempt, Hold, Phase, Task
from paddock.core.tasks.vocabulary import EndedBy
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.ledger import Ledger
from paddock.fleet.site import Site
from paddock.fleet.upkeep.sweeper import Sweeper
from paddock.sessions.host import Host

LOOK_SECONDS = 3.0
"""How often the fleet looks whether those who hold attempts are still there."""


@dataclass(frozen=True, slots=True)
class EndOfHold:
    ended_by: EndedBy
    reason: str


def why_end_hold(site: Site, task: Task, attempt: Attempt) -> EndOfHold | None:
    """None while it is for the person who holds it to say."""
    hold = attempt.held
    assert hold is not None
    if task.phase is Phase.CANCELLED:
        return EndOfHold(EndedBy.STOP, "its task was cancelled")
    if attempt.stop_requested is not None:
        return EndOfHold(EndedBy.STOP, f"stopped by {printable(attempt.stop_requested, 40)}")
    return (
        EndOfHold(EndedBy.VANISHED, f"the terminal of {printable(hold.by, 40)} is gone")
        if is_left(site, hold)
        else None
    )


def is_left(site: Site, hold: Hold) -> bool:
    """Whether what kept it for them is gone. Nobody knows that of another host."""
    return site.sessions.reaches(Host(hold.host, hold.host_id)) and site.sessions.is_gone(hold.process)


def is_theirs(site: Site, task: Task, attempt: Attempt) -> bool:
    """Whether a person holds it, and the fleet has nothing to do for it."""
    if attempt.held is None or (attempt.turn_open and not attempt.interactive):
        return False
    return why_end_hold(site, task, attempt) is None


async def end_hold(ledger: Ledger, sweeper: Sweeper, attempt: Attempt, why: EndOfHold) -> None:
    """Ends what still runs there, and records it unless they have done so meanwhile."""
    swept = await sweeper.sweep(attempt.id)
    checkpoint("hold.swept")
    words = tuple(process.command for process in swept.ended[:20])

    def decide(board: Board) -> list[Draft]:
        ended = TurnEnded(attempt.turn, exit=None, ended_by=why.ended_by, problem=why.reason, swept=words)
        return leave(board, attempt.id, ended, reason=why.reason)

    await ledger.record(decide)
    checkpoint("hold.ended_in_log")
