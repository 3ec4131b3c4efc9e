"""Whether several agents are worth it: for tasks, with what was learnt about them, or for pieces that are made up."""

from collections.abc import Sequence
from dataclasses import dataclass

from paddock.config.schema import Limits
from paddock.core.board import Board
from paddock.core.economics.fanout import FanOut, Piece, Spawn, Worth, decide_fan_out
from paddock.core.errors import PaddockError
from paddock.core.ids import TaskId
from paddock.core.tasks.task import Phase
from paddock.fleet.dispatch.warm_session import decide
from paddock.fleet.site import Site


@dataclass(frozen=True, slots=True)
class EqualPieces:
    """`spawn` is what one more agent costs before its first useful step."""

    count: int
    seconds: float
    spawn: Spawn


def worth_of_an_hour(limits: Limits, usd: float | None, tokens: float | None) -> Worth:
    """What is not said is as configured."""
    return Worth(limits.hour_usd if usd is None else usd, limits.hour_tokens if tokens is None else tokens)


def fan_out_pieces(pieces: EqualPieces, slots: int | None, worth: Worth) -> FanOut:
    named = [Piece(f"p{number}", pieces.seconds) for number in range(1, pieces.count + 1)]
    return decide_fan_out(named, pieces.spawn, slots, worth)


def fan_out_tasks(site: Site, board: Board, names: Sequence[TaskId], slots: int | None, worth: Worth) -> FanOut:
    """All that are ready, if none is named. Raises PaddockError if there is none."""
    ready = [task.id for task in board.open_tasks() if task.phase is Phase.READY]
    chosen = [board.task(name) for name in dict.fromkeys(names or ready)]
    if not chosen:
        raise PaddockError("no task is ready", "name tasks with --tasks, or pieces with --n")
    return decide(site, board, chosen, site.engine_name(chosen[0]), slots or site.config.limits.max_agents, worth)
