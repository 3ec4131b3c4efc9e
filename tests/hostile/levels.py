"""Which levels of the fence this machine and this Paddock can put up."""

from functools import cache

from paddock.config.schema import Config
from tests.hostile.attack import Level


@cache
def available_levels() -> tuple[Level, ...]:
    if "fence" not in Config.__struct_fields__:
        return (Level.NONE,)
    return tuple(Level)
