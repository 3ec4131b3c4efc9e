"""Which levels of the fence this machine can put up."""

from functools import cache

from paddock.core.fence import Level
from paddock.sessions.bubblewrap import fencing_ability


@cache
def available_levels() -> tuple[Level, ...]:
    return (Level.NONE,) if fencing_ability().problem else tuple(Level)
