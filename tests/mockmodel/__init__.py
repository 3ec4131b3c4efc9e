"""A model server for tests: speaks the vendors' wire formats on loopback and plays what the prompt tells it to."""

from tests.mockmodel.ledger import Exchange, Ledger, Settings
from tests.mockmodel.playlist import play
from tests.mockmodel.server import MockModel

__all__ = ["Exchange", "Ledger", "MockModel", "Settings", "play"]
