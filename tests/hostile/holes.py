"""Attacks that break more today than their level promises, and which defence is missing."""

from paddock.core.fence import Level
from tests.hostile.attack import Attack

HOLES: dict[str, tuple[str, ...]] = {}
"""Each defence that is missing, and the names of the attacks that get through without it (also `NAME@LEVEL`)."""

IN_FLEETS: dict[str, tuple[str, ...]] = {
    "changes tested together with one that kills its CI are held for a person, as that one is": (
        "ci-kills-its-parent",
    ),
}
"""The same for attacks that hurt nobody in a yard of their own."""


def hole_of(attack: Attack, level: Level) -> str:
    """Why it gets through at this level, empty where it does not."""
    names = {name: reason for reason, attacks in HOLES.items() for name in attacks}
    return names.get(f"{attack.name}@{level}", names.get(attack.name, ""))
