"""Fleets in temporary folders; whatever a test leaves running is ended by its mark."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from pathlib import Path
from shutil import rmtree

import pytest

from tests.engines.real.fixtures import deselect_other_engines
from tests.fleet.yard import Yard, build_template, build_yard

MakeYard = Callable[..., Yard]
OneOfMany = Callable[..., AbstractContextManager[Yard]]


@pytest.fixture(scope="session")
def yard_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_template(tmp_path_factory.mktemp("template"))


@pytest.fixture
def make_yard(yard_template: Path, tmp_path: Path) -> Iterator[MakeYard]:
    """make_yard(name="app", PADDOCK_LIMITS_MAX_AGENTS="9"): a repository with an empty log."""
    made: list[Yard] = []

    def make(name: str = "app", **settings: str) -> Yard:
        made.append(build_yard(yard_template, tmp_path, name, **settings))
        return made[-1]

    yield make
    for yard in made:
        yard.close()


@pytest.fixture
def one_of_many(yard_template: Path, tmp_path: Path) -> OneOfMany:
    """`with one_of_many() as yard`: a life of a sweep, in a folder of its own that only a failure leaves."""
    numbers = count(1)

    @contextmanager
    def make(**settings: str) -> Iterator[Yard]:
        folder = tmp_path / f"life{next(numbers)}"
        folder.mkdir()
        yard = build_yard(yard_template, folder, **settings)
        try:
            yield yard
        finally:
            yard.close()
        rmtree(folder)

    return make


@pytest.fixture
def yard(make_yard: MakeYard) -> Yard:
    return make_yard()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    deselect_other_engines(config, items)
