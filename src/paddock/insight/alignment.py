"""Two sequences of steps side by side: what both did, what only one did, and what one did in place of the other.

An alignment of the highest score (Needleman and Wunsch). What is too long for that is first divided where both did the
same few things in a row once (as a patience diff does), and what cannot be divided is compared place by place.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from paddock.insight.paths import FAILED_SUFFIX
from paddock.insight.phases import phase_of

MOST_CELLS = 1_000_000
"""About half a second; what a long pair may cost altogether."""
FEWEST_CELLS = 10_000
ANCHORS = (4, 8, 16)
"""As many symbols in a row divide a long pair: whichever divides it most."""
_EQUAL, _ALIKE, _OTHER, _GAP = 4, 2, -3, -1


class Match(Enum):
    SAME = "same"
    CHANGED = "changed"
    LEFT = "left"
    RIGHT = "right"


@dataclass(frozen=True, slots=True)
class Pair:
    """Places in the two sequences, None on the side that has nothing here."""

    left: int | None
    right: int | None
    match: Match


def align(left: Sequence[str], right: Sequence[str]) -> list[Pair]:
    """Every place of both, in order. Steps of one phase may stand for each other: `TEST` and `TEST!`."""
    front = 0
    while front < min(len(left), len(right)) and left[front] == right[front]:
        front += 1
    back = 0
    while back < min(len(left), len(right)) - front and left[-1 - back] == right[-1 - back]:
        back += 1
    middle = _Span(front, len(left) - back, front, len(right) - back)
    places = [*((n, n) for n in range(front)), *_align_span(left, right, middle)]
    places += [(len(left) - n, len(right) - n) for n in range(back, 0, -1)]
    return [Pair(one, other, _match(left, right, one, other)) for one, other in places]


def likeness(pairs: Sequence[Pair]) -> float:
    """The share of steps that have the same beside them; 1 where there is none at all."""
    same = sum(2 for pair in pairs if pair.match is Match.SAME)
    places = sum((pair.left is not None) + (pair.right is not None) for pair in pairs)
    return same / places if places else 1.0


@dataclass(frozen=True, slots=True)
class _Span:
    left: int
    left_end: int
    right: int
    right_end: int

    @property
    def cells(self) -> int:
        return (self.left_end - self.left) * (self.right_end - self.right)


_Places = list[tuple[int | None, int | None]]


def _match(left: Sequence[str], right: Sequence[str], one: int | None, other: int | None) -> Match:
    if one is None:
        return Match.RIGHT
    if other is None:
        return Match.LEFT
    return Match.SAME if left[one] == right[other] else Match.CHANGED


def _align_span(left: Sequence[str], right: Sequence[str], span: _Span) -> _Places:
    if span.cells <= MOST_CELLS:
        return _best(left, right, span)
    parts = list(_divide(left, right, span))
    places: _Places = []
    budget = MOST_CELLS
    for part in parts:
        if part.cells <= max(budget, FEWEST_CELLS):
            budget -= part.cells
            places += _best(left, right, part)
        else:
            places += _place_by_place(part)
    return places


def _divide(left: Sequence[str], right: Sequence[str], span: _Span) -> Iterator[_Span]:
    """At the longest chain of anchors that keep their order in both."""
    begin, begin_right = span.left, span.right
    for one, other in max((_chain(left, right, span, size) for size in ANCHORS), key=len):
        if one >= begin and other >= begin_right:
            yield _Span(begin, one, begin_right, other)
            begin, begin_right = one, other
    yield _Span(begin, span.left_end, begin_right, span.right_end)


def _chain(left: Sequence[str], right: Sequence[str], span: _Span, size: int) -> list[tuple[int, int]]:
    at_left = _unique(left, span.left, span.left_end, size)
    at_right = _unique(right, span.right, span.right_end, size)
    return _rising(sorted((place, at_right[words]) for words, place in at_left.items() if words in at_right))


def _unique(symbols: Sequence[str], begin: int, end: int, size: int) -> dict[tuple[str, ...], int]:
    """Where each row of `size` symbols begins that occurs once."""
    found: dict[tuple[str, ...], int] = {}
    for place in range(begin, end - size + 1):
        words = tuple(symbols[place : place + size])
        found[words] = -1 if words in found else place
    return {words: place for words, place in found.items() if place >= 0}


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part whose second numbers rise as the first do."""
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for index, (_, other) in enumerate(pairs):
        at = bisect_left(ends, other)
        before.append(last[at - 1] if at else -1)
        ends[at : at + 1] = [other]
        last[at : at + 1] = [index]
    chain: list[tuple[int, int]] = []
    index = last[-1] if last else -1
    while index >= 0:
        chain.append(pairs[index])
        index = before[index]
    return chain[::-1]


def _place_by_place(span: _Span) -> _Places:
    both = min(span.left_end - span.left, span.right_end - span.right)
    places: _Places = [(span.left + n, span.right + n) for n in range(both)]
    places += [(n, None) for n in range(span.left + both, span.left_end)]
    places += [(None, n) for n in range(span.right + both, span.right_end)]
    return places


def _best(left: Sequence[str], right: Sequence[str], span: _Span) -> _Places:
    rows, columns = span.left_end - span.left, span.right_end - span.right
    others = right[span.right : span.right_end]
    moves = [bytearray(columns + 1) for _ in range(rows + 1)]
    moves[0][:] = b"\x02" * (columns + 1)
    scores = [_GAP * column for column in range(columns + 1)]
    rating: dict[tuple[str, str], int] = {}
    for row in range(1, rows + 1):
        symbol = left[span.left + row - 1]
        line, corner = moves[row], scores[0]
        scores[0] = _GAP * row
        line[0] = 1
        for column, other in enumerate(others, 1):
            rated = rating.get((symbol, other))
            if rated is None:
                rated = rating[symbol, other] = _rate(symbol, other)
            best, move = corner + rated, 0
            corner = scores[column]
            if scores[column - 1] + _GAP > best:
                best, move = scores[column - 1] + _GAP, 2
            if corner + _GAP > best:
                best, move = corner + _GAP, 1
            scores[column] = best
            line[column] = move
    return _walk_back(moves, span)


def _rate(one: str, other: str) -> int:
    if one == other:
        return _EQUAL
    return _ALIKE if phase_of(one.rstrip(FAILED_SUFFIX)) == phase_of(other.rstrip(FAILED_SUFFIX)) else _OTHER


def _walk_back(moves: Sequence[bytearray], span: _Span) -> _Places:
    places: _Places = []
    row, column = len(moves) - 1, len(moves[0]) - 1
    while row or column:
        move = moves[row][column]
        row -= move != 2
        column -= move != 1
        places.append((span.left + row if move != 2 else None, span.right + column if move != 1 else None))
    return places[::-1]
