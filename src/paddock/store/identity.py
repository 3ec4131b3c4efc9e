"""How a log begins: with the version that made it and a word of its own."""

import os

from paddock import __version__
from paddock.core.board import Board
from paddock.core.events import Draft, LogCreated
from paddock.store.protocol import Decide


def begin_log(*, labelled: bool = False) -> Decide:
    """The first record of a log that has none yet. See `LogCreated` for the label."""

    def decide(board: Board) -> list[Draft]:
        if board.seq:
            return []
        identity = os.urandom(4).hex()
        return [Draft(LogCreated(__version__, identity, identity if labelled else ""))]

    return decide
