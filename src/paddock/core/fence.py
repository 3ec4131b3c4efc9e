"""How much of the machine an agent or CI is shut out of: what is asked for, what the machine can do, what follows.

`auto` takes the strongest level at which every agent CLI still works. A level that is asked for by its name is had or
is an error: nobody who asked for a fence works without one.
"""

from dataclasses import dataclass
from enum import StrEnum

from paddock.core.errors import PaddockError


class Level(StrEnum):
    """`FILES`: files and processes. `FILES_AND_NETWORK`: also no network but a loopback of its own."""

    NONE = "none"
    FILES = "files"
    FILES_AND_NETWORK = "files+network"


AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Ability:
    """Whether this machine can fence: `problem` is why not, empty if it can, and `cure` what to do about it."""

    problem: str = ""
    cure: str = ""


@dataclass(frozen=True, slots=True)
class InForce:
    """The level that holds; `why` says why it is none although nobody asked for none."""

    level: Level
    why: str = ""
    cure: str = ""

    @property
    def is_weaker(self) -> bool:
        return bool(self.why)


def level_in_force(wanted: str, ability: Ability) -> InForce:
    """Raises PaddockError where a level that was asked for by its name cannot be had."""
    if wanted == Level.NONE:
        return InForce(Level.NONE)
    if not ability.problem:
        return InForce(Level.FILES if wanted == AUTO else Level(wanted))
    if wanted == AUTO:
        return InForce(Level.NONE, ability.problem, ability.cure)
    raise PaddockError(
        f"the fence `{wanted}` cannot be had on this machine: {ability.problem}",
        f'{ability.cure}, or set `level = "auto"` in [fence] to work without it',
    )
