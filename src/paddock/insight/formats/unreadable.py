"""What could not be read, and where."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unreadable:
    """`place` is a file, with the number of the line after a colon."""

    place: str
    reason: str
