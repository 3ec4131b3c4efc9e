"""Walking the hash chain and naming the first record it does not hold for."""

from collections.abc import Iterable
from dataclasses import dataclass

from paddock.store.codec import GENESIS, Row, follows


@dataclass(frozen=True, slots=True)
class BadRecord:
    """The first record the hash chain does not hold for."""

    seq: int
    problem: str


@dataclass(frozen=True, slots=True)
class Verification:
    """`records` is how many hold, from the first on."""

    records: int
    bad: BadRecord | None


def verify_rows(rows: Iterable[Row], at_least: int = 0) -> Verification:
    """`at_least` is how many records there are known to have been: a chain does not show that its end is cut off."""
    tip, expected = GENESIS, 1
    for row in rows:
        if row[0] != expected:
            return Verification(expected - 1, BadRecord(expected, f"it is missing; the next is record {row[0]}"))
        if not follows(tip, row):
            return Verification(expected - 1, BadRecord(expected, "its hash does not match its content"))
        tip, expected = row[-1], expected + 1
    if expected <= at_least:
        return Verification(expected - 1, BadRecord(expected, f"it and all up to {at_least} are missing"))
    return Verification(expected - 1, None)
