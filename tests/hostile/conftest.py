"""Yards to attack, one template for all of them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from paddock.core.fence import Level
from tests.fleet.yard import build_template
from tests.hostile.ground import Ground, build_ground

MakeGround = Callable[..., Ground]


@pytest.fixture(scope="session")
def yard_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_template(tmp_path_factory.mktemp("template"))


@pytest.fixture
def make_ground(yard_template: Path, tmp_path: Path) -> Iterator[MakeGround]:
    made: list[Ground] = []

    def make(level: Level, *, remote: bool = False) -> Ground:
        made.append(build_ground(yard_template, tmp_path, level, remote))
        return made[-1]

    yield make
    for ground in made:
        ground.close()
