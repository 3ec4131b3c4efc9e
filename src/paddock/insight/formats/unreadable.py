"""What could not be read, or not whole, and where."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unreadable:
    """`place` is a file, with the number of the line after a colon."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class Shortened:
    """`what` was read, but not all of it is kept."""

    place: str
    what: str
