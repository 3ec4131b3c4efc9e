"""All attacks, as data."""

from tests.hostile.arsenal import (
    ci_runs,
    commands,
    files,
    held_up,
    main_moves,
    mediators,
    objects,
    output,
    planted,
    processes,
    records,
    refs,
    resources,
    secrets,
    talk,
    trees,
)
from tests.hostile.attack import Attack

_MODULES = (
    refs,
    planted,
    objects,
    trees,
    files,
    processes,
    commands,
    records,
    main_moves,
    ci_runs,
    output,
    resources,
    secrets,
    held_up,
    mediators,
    talk,
)
ALL: tuple[Attack, ...] = tuple(attack for module in _MODULES for attack in module.ATTACKS)
