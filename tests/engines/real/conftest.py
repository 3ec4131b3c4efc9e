from __future__ import annotations

import pytest

from tests.engines.real.fixtures import deselect_other_engines, mock_model, real_agent, real_cli, workplace

__all__ = ["mock_model", "real_agent", "real_cli", "workplace"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    deselect_other_engines(config, items)
