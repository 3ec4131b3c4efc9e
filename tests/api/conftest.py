"""The fleets of tests/fleet."""

from tests.fleet.conftest import make_yard, yard_template

__all__ = ["make_yard", "yard_template"]
