"""Paddock runs a fleet of coding agents on one git repository."""

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from paddock.api.fleet import Fleet as Fleet
    from paddock.core.errors import PaddockError as PaddockError
else:
    _HOMES = {"Fleet": "paddock.api.fleet", "PaddockError": "paddock.core.errors"}

    def __getattr__(name):
        """`paddock.Fleet` is imported when somebody asks for it: every command begins by importing this package."""
        if name not in _HOMES:
            raise AttributeError(f"module `paddock` has no attribute `{name}`")
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)

    def __dir__():
        return sorted([*globals(), *_HOMES])
