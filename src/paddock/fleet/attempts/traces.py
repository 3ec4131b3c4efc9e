"""Turns of which nothing is left to observe: what is recorded of their end."""

from msgspec.structs import replace

from paddock.core.board import Board
from paddock.core.events import TurnEnded
from paddock.core.money.spending import day_of, still_reserved
from paddock.core.summary import TurnSummary
from paddock.core.tasks.task import Attempt
from paddock.core.tasks.vocabulary import EndedBy
from paddock.fleet.attempts.turn import Ended, new_session_id, turn_ended
from paddock.fleet.site import Site

NO_TRACE = "nothing is left of what it ran in"


def has_no_trace(site: Site, attempt: Attempt) -> bool:
    """Its folder was there before its first turn was recorded, so somebody has removed it since, and with it all that
    would tell whether the open turn has begun."""
    return attempt.turn_open and not site.attempt_folder(attempt.id).is_dir()


def end_unseen(site: Site, board: Board, attempt: Attempt, problem: str, summary: TurnSummary) -> TurnEnded:
    """The end of the open turn, as if the machine had restarted: nothing of it is the task's fault."""
    ended = Ended(None, EndedBy.REBOOT, problem, summary)
    expected = still_reserved(board.spending, attempt)
    event = turn_ended(attempt, ended, site.prices, day_of(site.clock.now()), expected)
    if event.session or attempt.session or not site.capabilities_of(attempt.engine).chooses_session_id:
        return event
    # The output that would name the conversation may be gone. Where we chose the name, we know it.
    return replace(event, session=new_session_id(attempt.id, site.marker, attempt.turn))
