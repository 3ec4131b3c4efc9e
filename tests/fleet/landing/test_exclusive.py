"""CI that needs something there is only one of: with `[land] exclusive`, or under a lease, no two runs meet."""

import sys

import pytest

from paddock.core.merge.model import Result
from tests.fleet.landing.conftest import MakeFarm
from tests.fleet.landing.lab import is_settled

PADDOCK = f'"{sys.executable}" -P -m paddock'
PORT = "flock -n '{place}' sleep 0.3"
"""Fails wherever another run is at it, as with a port that is taken."""


@pytest.mark.parametrize("way", ["exclusive", "lease"])
def test_runs_that_need_the_same_port_never_meet(make_farm: MakeFarm, tmp_path: object, way: str) -> None:
    port = PORT.format(place=f"{tmp_path}/port")
    ci = port if way == "exclusive" else f'{PADDOCK} with-lease port:5432 -- sh -c "{port}"'
    farm = make_farm(f"exclusive = {str(way == 'exclusive').lower()}\n", ci=ci, approval="human")
    for name in ("one", "two", "three"):
        farm.branch(name, {f"parts/{name}": "good\n"})
        farm.land(name)
    farm.yard.run(code=0)
    assert is_settled(farm.yard.board())
    assert farm.yard.board().queue.halted is None
    results = {run.result for run in farm.yard.board().queue.ended.values()}
    assert results <= {Result.PASS, Result.CANCELLED}, "no run failed because of another"
