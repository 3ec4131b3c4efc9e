"""What the keeper of the dataset hands to those who watch it, and what they give back to be recorded."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from paddock.core.board import Board
from paddock.core.events import Draft

if TYPE_CHECKING:
    from paddock.fleet.site import Site
    from paddock.insight.dataset.dataset import Dataset


@dataclass(frozen=True, slots=True)
class Look:
    """One look at the fleet. `changed` are the names of its runs that have moved on since the look before, `ended`
    those of them that are over; in the first look of a keeper both may name more, and so they do where what was decided
    the last time was not recorded. `now` is the keeper's clock."""

    site: "Site"
    dataset: "Dataset"
    board: Board
    changed: tuple[str, ...]
    ended: tuple[str, ...]
    now: float


Decide: TypeAlias = Callable[[Board], Sequence[Draft]]
"""Made again on the board that it is recorded on."""
Observe: TypeAlias = Callable[[Look], Sequence[Decide]]
"""Called in a thread, never two at the same time. What it raises is told as a trouble and keeps nobody else from
observing; the daemon records what it gives back, in order."""
