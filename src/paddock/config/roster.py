"""The agents of a configuration as routing sees them."""

from paddock.config.schema import Config
from paddock.core.routing import RosterAgent


def roster(config: Config) -> tuple[RosterAgent, ...]:
    """In the order in which they are configured."""
    agents = enumerate(config.agents.items())
    return tuple(RosterAgent(name, one.role, one.owns, one.kinds, one.labels, place) for place, (name, one) in agents)
