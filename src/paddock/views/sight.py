"""What a live view is made from, read once for all of them, and what a live view is."""

from dataclasses import dataclass
from typing import Protocol

import msgspec

from paddock.core.board import Board
from paddock.fleet.glance import Glance, read_glance
from paddock.fleet.outlook import Outlook, look_around
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import Ask, Store


@dataclass(frozen=True, slots=True)
class Sight:
    """`board` is that of the reader's own open store, in its thread; `ask` reads the log it was folded from.

    `glance` is empty where no daemon tells of its agents.
    """

    workspace: Workspace
    board: Board
    outlook: Outlook
    glance: Glance
    ask: Ask
    now: float


def sight_of(workspace: Workspace, store: Store, now: float, outlook: Outlook | None = None) -> Sight:
    """`outlook` saves a look around, which may run git."""
    board = store.board()
    seen = outlook if outlook is not None else look_around(workspace, board, now)
    return Sight(workspace, board, seen, read_glance(workspace.state_dir, now), store.records, now)


class LiveView(Protocol):
    """Looks again and again. Rows that are as they were stay the same objects, for `difference`."""

    def look(self, sight: Sight) -> msgspec.Struct: ...
