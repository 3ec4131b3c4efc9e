"""kill -9 between any two effects of the daemon's hand on nodes, and of a deputy: the next one picks everything up."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.core.tasks.vocabulary import Outcome
from tests.fleet.yard import clean_environment
from tests.nodes.conftest import MakeRanch
from tests.nodes.herd import NODES, Herd
from tests.nodes.ranch import RayCluster, build_ranch
from tests.store.postgres_session import server_of_session

DAEMONS = ("nodes.placed", "nodes.published", "dispatch.claimed", "nodes.collected")
DEPUTIES = ("deputy.leads", "deputy.alone", "node.secured", "node.pushed")
AGENTS = 3

first, *others = DAEMONS


@pytest.mark.parametrize("point", [first, *(pytest.param(name, marks=pytest.mark.slow) for name in others)])
def test_a_daemon_may_die_anywhere_between_the_placement_of_an_agent_and_the_return_of_its_work(
    make_ranch: MakeRanch, point: str
) -> None:
    herd = Herd(make_ranch(), AGENTS)
    herd.go.touch()
    doomed = herd.start(PADDOCK_TEST_CRASH_AT=point)
    assert doomed.wait() == -signal.SIGKILL, doomed.words
    herd.finish(herd.start())
    assert herd.outcomes() == {Outcome.DELIVERED: AGENTS}


@pytest.fixture(params=DEPUTIES)
def point(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def deadly(point: str, tmp_path: Path) -> Iterator[tuple[RayCluster, Path]]:
    """A cluster on which the first deputy to pass the point dies there."""
    token = tmp_path / "token"
    token.touch()
    crash = {"PADDOCK_TEST_CRASH_AT": point, "PADDOCK_TEST_TOKEN": str(token)}
    made = RayCluster({**clean_environment(tmp_path), **crash})
    try:
        for node in [made.add(name, 8) for name in NODES]:
            node.await_start()
        yield made, token
    finally:
        made.close()


@pytest.mark.slow
def test_a_deputy_may_die_anywhere(deadly: tuple[RayCluster, Path], ranch_template: Path, tmp_path: Path) -> None:
    cluster, token = deadly
    folder = tmp_path / "ranch"
    folder.mkdir()
    ranch = build_ranch(ranch_template, folder, server_of_session().url(), cluster, PADDOCK_SESSIONS_LOST_AFTER="60s")
    try:
        herd = Herd(ranch, AGENTS)
        herd.go.touch()
        herd.finish(herd.start())
        assert not token.exists(), "no deputy has passed there"
        assert herd.outcomes() == {Outcome.DELIVERED: AGENTS}
    finally:
        ranch.close()
