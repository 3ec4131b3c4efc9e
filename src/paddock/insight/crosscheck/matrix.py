"""What each one's tests say of each other's work, and which of it they find broken. Pure.

An attempt's tests count for something only if they pass on its own work, and its work is found broken only if its own
tests pass on it: what fails by itself is no secret.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    PASS = "pass"
    FAIL = "fail"
    NONE = "none"
    """It did not come to an end, or could not be run."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What the tests of `tests` say of the work of `work`, in one sentence and with the end of what they printed."""

    tests: str
    work: str
    verdict: Verdict
    words: str = ""
    output: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Broken:
    """`work` passes its own tests and fails those of each of `fails`, which pass on the work they were made for."""

    work: str
    fails: tuple[str, ...]
    passes: tuple[str, ...]


def pairs(with_tests: Iterable[str], works: Iterable[str]) -> list[tuple[str, str]]:
    """Whose tests on whose work: first each on its own, so that what cannot count is known early."""
    tested, all_works = list(with_tests), list(works)
    own = [(name, name) for name in all_works]
    return own + [(tests, work) for tests in tested for work in all_works if tests != work]


def find_broken(cells: Iterable[Cell]) -> list[Broken]:
    """Those that most tests find broken first."""
    seen = {(cell.tests, cell.work): cell.verdict for cell in cells}
    sound = {tests for (tests, work), verdict in seen.items() if tests == work and verdict is Verdict.PASS}
    found = [_judge(work, seen, sound) for work in sorted(sound)]
    return sorted((one for one in found if one.fails), key=lambda one: (-len(one.fails), one.work))


def _judge(work: str, seen: Mapping[tuple[str, str], Verdict], sound: set[str]) -> Broken:
    others = {
        tests: verdict for (tests, on), verdict in seen.items() if on == work and tests != work and tests in sound
    }
    fails = tuple(sorted(tests for tests, verdict in others.items() if verdict is Verdict.FAIL))
    passes = tuple(sorted(tests for tests, verdict in others.items() if verdict is Verdict.PASS))
    return Broken(work, fails, passes)
