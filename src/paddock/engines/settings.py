"""The `[engines.NAME]` tables of paddock.toml, as engines read them."""

from paddock.config.schema import EngineSettings

__all__ = ["NO_SETTINGS", "EngineSettings"]

NO_SETTINGS = EngineSettings()
