"""Fleets on the nodes of a real Ray cluster: one cluster for all tests, which one process runs one after the other."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fleet.yard import build_template, clean_environment
from tests.nodes.herd import NODES
from tests.nodes.ranch import Ranch, RayCluster, build_ranch
from tests.store.postgres_session import server_of_session

MakeRanch = Callable[..., Ranch]
LABELS = {"n3": {"gpu": "true"}}


@pytest.fixture(scope="session")
def ranch_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_template(tmp_path_factory.mktemp("template"))


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayCluster]:
    """Three nodes of eight slots, one of them with a GPU."""
    made = RayCluster(clean_environment(tmp_path_factory.mktemp("home")))
    try:
        for node in [made.add(name, 8, **LABELS.get(name, {})) for name in NODES]:
            node.await_start()
        yield made
    finally:
        made.close()


@pytest.fixture
def make_ranch(ranch_template: Path, tmp_path: Path, cluster: RayCluster) -> Iterator[MakeRanch]:
    """make_ranch(url, PADDOCK_LIMITS_MAX_AGENTS="9"): a repository with an empty log, in the database at `url`."""
    made: list[Ranch] = []

    def make(url: str = "", **settings: str) -> Ranch:
        made.append(build_ranch(ranch_template, tmp_path, url or server_of_session().url(), cluster, **settings))
        return made[-1]

    yield make
    for ranch in made:
        ranch.close()


@pytest.fixture
def ranch(make_ranch: MakeRanch) -> Ranch:
    return make_ranch()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "cluster" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("ray"))
