"""What a live view is made from, read once for all of them, and what a live view is."""

from dataclasses import dataclass
from typing import Protocol

import msgspec

from paddock.core.board import Board
from paddock.fleet.glance import Glance
from paddock.fleet.outlook import Outlook
from paddock.fleet.workspace import Workspace
from paddock.store.protocol import Ask


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


class LiveView(Protocol):
    """Looks again and again. Rows that are as they were stay the same objects, for `difference`."""

    def look(self, sight: Sight) -> msgspec.Struct: ...
