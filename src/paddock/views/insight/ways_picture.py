"""Where the ways that work takes are drawn: a column for each stage, a bar for each place, a band for each move."""

from dataclasses import dataclass

import msgspec

from paddock.core.ids import AttemptId
from paddock.views.insight.ways import Band, Place, Ways

WIDTH = 1392
BAR = 8
TOP = 26
LABEL_ROOM = 150
PLACE_GAP = 18.0
MOST_HEIGHT = 260.0
LEAST_BAR = 1.5


class DrawnPlace(msgspec.Struct, frozen=True):
    """`attempts` are the newest of its `count`."""

    name: str
    state: str
    count: int
    x: float
    y: float
    height: float
    attempts: tuple[AttemptId, ...]


class DrawnBand(msgspec.Struct, frozen=True):
    """`path` is SVG path data; `title` says what it is, and `attempts` are the newest of its `count`."""

    path: str
    state: str
    title: str
    count: int
    attempts: tuple[AttemptId, ...]


class Column(msgspec.Struct, frozen=True):
    name: str
    x: float


class WaysPicture(msgspec.Struct, frozen=True):
    width: int
    height: float
    columns: tuple[Column, ...]
    places: tuple[DrawnPlace, ...]
    bands: tuple[DrawnBand, ...]
    again: int
    tasks: int
    attempts: int


@dataclass
class _Room:
    """How far down a bar its bands already begin and end."""

    left: float = 0.0
    right: float = 0.0


class _Drawing:
    def __init__(self, ways: Ways) -> None:
        self.stages = sorted({place.stage for place in ways.places})
        step = (WIDTH - LABEL_ROOM) / max(1, len(self.stages) - 1)
        self.x_of = {stage: round(number * step, 1) for number, stage in enumerate(self.stages)}
        self.scale = MOST_HEIGHT / max((place.count for place in ways.places), default=1)
        self.foot = dict.fromkeys(self.stages, float(TOP))
        self.places = [self._draw_place(place) for place in ways.places]
        self._rooms = [_Room() for _ in self.places]
        self.bands = [self._draw_band(band) for band in ways.bands]

    def _draw_place(self, place: Place) -> DrawnPlace:
        height = max(LEAST_BAR, place.count * self.scale)
        y = self.foot[place.stage]
        self.foot[place.stage] += height + PLACE_GAP
        x = self.x_of[place.stage]
        return DrawnPlace(place.name, place.state, place.count, x, round(y, 1), round(height, 1), place.attempts)

    def _draw_band(self, band: Band) -> DrawnBand:
        source, target = self.places[band.source], self.places[band.target]
        begin, end = self._rooms[band.source], self._rooms[band.target]
        width = max(LEAST_BAR, band.count * self.scale)
        left, right = source.x + BAR, target.x
        one, two = source.y + begin.right, target.y + end.left
        begin.right += width
        end.left += width
        title = f"{source.name} to {target.name}: {band.count:,}"
        return DrawnBand(_outline(left, right, one, two, width), target.state, title, band.count, band.attempts)


def draw_ways(ways: Ways) -> WaysPicture:
    drawing = _Drawing(ways)
    return WaysPicture(
        width=WIDTH,
        height=round(max(drawing.foot.values(), default=float(TOP)), 1),
        columns=tuple(Column(ways.stages[stage], drawing.x_of[stage]) for stage in drawing.stages),
        places=tuple(drawing.places),
        bands=tuple(drawing.bands),
        again=ways.again,
        tasks=ways.tasks,
        attempts=ways.attempts,
    )


def _outline(left: float, right: float, one: float, two: float, width: float) -> str:
    """A band of that width from height `one` to height `two`."""
    middle = (left + right) / 2
    there = f"M{left:.1f} {one:.1f}C{middle:.1f} {one:.1f} {middle:.1f} {two:.1f} {right:.1f} {two:.1f}"
    low, high = one + width, two + width
    return f"{there}V{high:.1f}C{middle:.1f} {high:.1f} {middle:.1f} {low:.1f} {left:.1f} {low:.1f}z"
