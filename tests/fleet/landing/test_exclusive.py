"""CI that needs something there is only one of: with `[land] exclusive`, or under a lease, no two runs meet."""

import json
import socket
import sys
from pathlib import Path

import pytest

from paddock.core.merge.company import Collisions, find_collisions
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


SERVER = """\
import pathlib, socket, sys, time
taken = pathlib.Path({taken!r})
server = socket.socket()
try:
    server.bind(("127.0.0.1", {port}))
except OSError:
    taken.touch()
    sys.exit("the port is taken")
until = time.monotonic() + 1.0
while time.monotonic() < until and not taken.exists():
    time.sleep(0.02)
taken.unlink(missing_ok=True)
"""
"""Tests with a server on a fixed port. One that has it keeps it until another has found it taken, or for a second."""
MOST_ROUNDS = 12


def test_runs_that_fail_together_and_pass_alone_get_exclusive_suggested(make_farm: MakeFarm, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    script = tmp_path / "server.py"
    script.write_text(SERVER.format(taken=f"{tmp_path}/taken", port=port))
    farm = make_farm(ci=f'"{sys.executable}" "{script}"', approval="human")

    def meet(number: int) -> Collisions | None:
        names = [f"{number}-{side}" for side in ("one", "two")]
        for name in names:
            farm.branch(name, {f"parts/{name}": "good\n"})
        farm.land(*names)
        farm.yard.run()
        return find_collisions(farm.queue.stats.company)

    assert meet(0) is None
    assert "exclusive" not in farm.yard.paddock("queue"), "two runs that met once may have flaked"
    assert any(meet(number) is not None for number in range(1, MOST_ROUNDS))
    told = json.loads(farm.yard.paddock("queue", "--json"))["ci"]["collisions"]
    assert told["failed_beside"] >= 3
    words = f"{told['failed_beside']} of {told['beside']} CI runs failed beside another one, and 0 of {told['alone']}"
    assert words in farm.yard.paddock("queue")
    notices = json.loads(farm.yard.paddock("status", "--json"))["needs_you"]["notices"]
    notice = next(one["text"] for one in notices if one["kind"] == "ci-collides")
    assert words in notice
    assert "`exclusive = true` below `[land]`" in notice
    assert words in farm.yard.paddock("doctor")

    settings = farm.top / "paddock.toml"
    settings.write_text(settings.read_text().replace("slots = 4", "slots = 4\nexclusive = true"))
    ran = set(farm.queue.ended)
    meet(MOST_ROUNDS)
    results = {run.result for name, run in farm.queue.ended.items() if name not in ran}
    assert results <= {Result.PASS, Result.CANCELLED}
    assert json.loads(farm.yard.paddock("queue", "--json"))["ci"]["collisions"] is None
