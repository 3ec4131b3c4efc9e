"""What the keeper of the dataset hands to those who watch it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from paddock.fleet.workspace import Workspace
    from paddock.insight.dataset.dataset import Dataset


@dataclass(frozen=True, slots=True)
class Look:
    """One look at the fleet. `changed` are the names of its runs that have moved on since the look before, `ended`
    those of them that are over; in the first look of a keeper both may name more. `now` is the keeper's clock."""

    workspace: "Workspace"
    dataset: "Dataset"
    changed: tuple[str, ...]
    ended: tuple[str, ...]
    now: float


Observe: TypeAlias = Callable[[Look], None]
"""What it raises is told as a trouble and keeps nobody else from observing."""
