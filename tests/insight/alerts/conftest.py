"""A fleet for each test, closed when it is over."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from paddock.config.schema import Config
from tests.insight.alerts.world import World

NewWorld = Callable[..., World]


@pytest.fixture
def new_world(tmp_path: Path) -> Iterator[NewWorld]:
    worlds: list[World] = []

    def begin(config: Config | None = None, *, with_causes: bool = False) -> World:
        worlds.append(World(tmp_path, config, with_causes=with_causes))
        return worlds[-1]

    yield begin
    for one in worlds:
        one.close()


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world()
