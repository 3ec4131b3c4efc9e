"""All rules asked now, by whoever wants to know what they see. Nothing is recorded."""

from collections.abc import Sequence
from dataclasses import dataclass

from paddock.core.board import Board
from paddock.fleet.workspace import Workspace
from paddock.insight.alerts.evaluate import Judgement, judge_all
from paddock.insight.alerts.memory import AlertMemory
from paddock.insight.dataset.current import open_current
from paddock.insight.look import Look


@dataclass(frozen=True, slots=True)
class Trial:
    """`runs` are how many that have ended the rules looked at."""

    board: Board
    judgements: Sequence[Judgement]
    runs: int


def try_rules(workspace: Workspace, now: float) -> Trial:
    """Raises DatasetUnusable, and LogUnusable where there is no log."""
    with open_current(workspace) as dataset:
        board, memory = workspace.board(), AlertMemory(waits=False)
        look = Look(workspace.site, dataset, board, (), (), now)
        memory.hear(look)
        scene = memory.gather(look)
        return Trial(board, judge_all(scene), len(memory.ended))
