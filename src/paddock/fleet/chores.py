"""What an edge has the daemon do beside its rounds, such as keeping watch for `insight`, unknown to fleet."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeAlias

from paddock.fleet.ledger import Ledger
from paddock.fleet.site import Site
from paddock.fleet.troubles import Troubles


@dataclass(frozen=True, slots=True)
class Deck:
    """What the daemon lends a chore: it writes through the ledger only, and tells what fails as a trouble."""

    site: Site
    ledger: Ledger
    troubles: Troubles


Chore: TypeAlias = Callable[[Deck], Coroutine[Any, Any, None]]
"""Goes on until it is cancelled, and blocks nobody: what takes long, it has a thread do."""
