"""Agents and CI that use `paddock`: what they may works, from anywhere; what they may not is one finding."""

import json
import sys

from paddock.core.events import RequestRefused
from paddock.core.ids import TaskId
from paddock.core.leases.lease import LeaseGranted
from paddock.core.tasks.task import Phase
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Step, Yard, commit, write

PADDOCK = f'"{sys.executable}" -P -m paddock'


def shell(script: str) -> Step:
    return {"run": ["sh", "-c", script.replace("PADDOCK", PADDOCK)]}


def requests(yard: Yard) -> list[tuple[str | None, str]]:
    found = [(record.attempt, record.event) for record in yard.records()]
    return [(attempt, event.request) for attempt, event in found if isinstance(event, RequestRefused)]


def test_an_agent_that_asks_for_too_much_in_a_loop_is_one_finding_and_the_fleet_goes_on(
    make_yard: MakeYard,
) -> None:
    yard = make_yard(PADDOCK_FENCE_LEVEL="none")  # in a fence there is no repository at that path
    loop = "for i in 1 2 3; do PADDOCK -C '%s' down --now; env -i PADDOCK -C '%s' land --all --yes; done; exit 0"
    yard.add(shell(loop % (yard.top, yard.top)), write("a.txt"), commit())
    yard.add(write("b.txt"), commit())
    yard.run(code=0)
    assert [yard.task(name).phase for name in ("t1", "t2")] == [Phase.APPROVAL, Phase.APPROVAL]
    assert requests(yard) == [("t1.1", "down"), ("t1.1", "land")]
    assert yard.task("t1").attempts[0].refused == ("down", "land")


def test_a_worker_that_cannot_reach_the_log_asks_at_its_desk(make_yard: MakeYard) -> None:
    """Without a fence, from a folder that is in no repository; CI likewise."""
    ci = "cd / && PADDOCK with-lease port:1 -- true && PADDOCK lease list && ! PADDOCK land t1"
    yard = make_yard(PADDOCK_LAND_CI=ci.replace("PADDOCK", PADDOCK), PADDOCK_LAND_APPROVAL="none")
    said = yard.folder / "said"
    script = f"cd / && PADDOCK show t1 --json > '{said}' && PADDOCK lease acquire service:db && ! PADDOCK down"
    yard.add(shell(script), write("a.txt"), commit())
    yard.run(code=0)
    assert json.loads(said.read_text())["id"] == "t1"
    assert yard.task("t1").phase is Phase.LANDED
    granted = [record.event for record in yard.records(LeaseGranted)]
    holders = [event.holder.name for event in granted if isinstance(event, LeaseGranted) and event.name != "daemon"]
    assert holders[:2] == ["t1.1", "run-r1"], "the lease of each is its own"
    assert requests(yard) == [("t1.1", "down")]
    assert yard.board().task(TaskId("t1")).attempts[0].refused == ("down",)
