"""Two runs side by side as JSON: how they differ in figures, and their paths aligned."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from paddock.insight.alignment import align, likeness
from paddock.insight.paths import symbol_of
from paddock.insight.trace import KeptTrace, Step
from paddock.views.document import Document
from paddock.views.insight.traces import TraceRow, view_row


class SideView(msgspec.Struct, frozen=True):
    """What one run does here: `count` steps of the same symbol in a row, from step `number` on."""

    number: int
    symbol: str
    count: int
    target: str


class PairView(msgspec.Struct, frozen=True):
    """`match` is same, changed (one phase with another result or sort of file), left or right."""

    left: SideView | None
    right: SideView | None
    match: str


class TraceDifferenceView(Document, frozen=True, kw_only=True):
    """`likeness` is the share of the two paths that is the same, from 0 to 1."""

    left: TraceRow
    right: TraceRow
    likeness: float
    pairs: list[PairView]
    behind: str | None


@dataclass(frozen=True, slots=True)
class _Stretch:
    symbol: str
    number: int
    count: int
    target: str

    @property
    def view(self) -> SideView:
        return SideView(self.number, self.symbol, self.count, self.target)


def view_difference(
    left: KeptTrace, left_steps: Sequence[Step], right: KeptTrace, right_steps: Sequence[Step], behind: str = ""
) -> TraceDifferenceView:
    ours, theirs = _stretches(left_steps), _stretches(right_steps)
    pairs = align([one.symbol for one in ours], [one.symbol for one in theirs])
    return TraceDifferenceView(
        left=view_row(left),
        right=view_row(right),
        likeness=round(likeness(pairs), 4),
        pairs=[
            PairView(
                None if pair.left is None else ours[pair.left].view,
                None if pair.right is None else theirs[pair.right].view,
                pair.match.value,
            )
            for pair in pairs
        ],
        behind=behind or None,
    )


def _stretches(steps: Sequence[Step]) -> list[_Stretch]:
    found: list[_Stretch] = []
    for number, step in enumerate(steps, 1):
        symbol = symbol_of(step)
        if found and found[-1].symbol == symbol:
            last = found[-1]
            found[-1] = _Stretch(symbol, last.number, last.count + 1, last.target)
        else:
            found.append(_Stretch(symbol, number, 1, step.target))
    return found
