"""Leases in the running fleet: agents that own paths never hold the same ones, and a lease ends with its attempt."""

import sys
from itertools import pairwise

from paddock.core.events import AttemptStarted
from paddock.core.leases.lease import LeaseGranted, LeaseReleased, LeaseRenewed
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Step, Yard, commit, play, write

PADDOCK = [sys.executable, "-m", "paddock"]
OWNERS = """
[agents.api]
owns = ["src/api/**"]
lease_owned = true
[agents.users]
owns = ["src/*/users.py", "docs/**"]
lease_owned = true
[agents.web]
owns = ["src/web/**"]
lease_owned = true
[agents.guest]
owns = ["src/**"]
"""


def configure(yard: Yard, text: str) -> Yard:
    config = yard.top / "paddock.toml"
    config.write_text(config.read_text() + text)
    return yard


def held(yard: Yard) -> dict[str, str]:
    leases = yard.board().leases.held.values()
    return {lease.name: lease.holder.name for lease in leases if lease.name != "daemon"}


def test_agents_whose_paths_overlap_work_one_after_the_other(yard: Yard) -> None:
    configure(yard, OWNERS)
    gates = {name: yard.folder / f"gate-{name}" for name in ("api", "users", "web", "guest")}
    ready = {name: yard.folder / f"ready-{name}" for name in gates}
    for name, gate in gates.items():
        yard.add(
            {"run": ["touch", str(ready[name])]},
            {"wait_for": str(gate)},
            write(f"{name}.txt"),
            commit("Add"),
            agent=name,
        )
    fleet = yard.start("run", "--until-idle")
    for name in ("api", "web", "guest"):
        yard.await_that(ready[name].exists, f"the agent {name}")
    assert held(yard) == {"file:src/api/**": "t1.1", "file:src/web/**": "t3.1"}
    yard.await_that(lambda: yard.row("t2")["reason"] == "t1.1 holds file:src/api/**", "the one in the way")
    assert "t1.1 holds file:src/api/**" in yard.paddock("status")
    gates["api"].touch()
    yard.await_that(lambda: yard.row("t2")["reason"] == "t3.1 holds file:src/web/**", "the next one in the way")
    assert yard.attempt("t1").ended is not None
    gates["web"].touch()
    yard.await_that(ready["users"].exists, "the agent users")
    assert held(yard) == {"file:src/*/users.py": "t2.1", "file:docs/**": "t2.1"}
    for gate in gates.values():
        gate.touch()
    assert fleet.wait() == 0, fleet.words
    yard.assert_nothing_is_left()
    released = [record.event for record in yard.records(LeaseReleased)]
    whys = {event.why for event in released if isinstance(event, LeaseReleased)}
    assert {f"attempt t{number}.1 ended" for number in (1, 2, 3)} <= whys


def test_two_tasks_of_one_owner_are_never_at_work_together(make_yard: MakeYard) -> None:
    yard = configure(make_yard(PADDOCK_LIMITS_MAX_AGENTS="4"), OWNERS)
    inside, clash = yard.folder / "inside", yard.folder / "clash"
    enter: Step = {"run": ["sh", "-c", f"mkdir '{inside}' || touch '{clash}'"]}
    leave: Step = {"run": ["rmdir", str(inside)]}
    yard.add_all([{"brief": play(enter, {"think": 0.1}, leave, {"noop": "done"}), "agent": "api"} for _ in range(4)])
    yard.run(code=0)
    assert not clash.exists()
    spans = sorted((yard.attempt(f"t{n}").started, yard.attempt(f"t{n}").ended or 0.0) for n in range(1, 5))
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


def test_a_person_who_holds_the_paths_is_waited_for_and_named(yard: Yard) -> None:
    configure(yard, OWNERS)
    yard.paddock("lease", "acquire", "file:src/api/v1/*", "--ttl", "1h")
    yard.add(write("a.txt"), commit("Add"), agent="api")
    fleet = yard.start("run", "--until-idle")
    reason = yard.await_that(lambda: yard.row("t1")["reason"], "the reason")
    assert reason.startswith("tester@")
    assert reason.endswith(" holds file:src/api/v1/*")
    assert fleet.exit_code is None, "the lease runs out some time: the fleet is not at rest"
    yard.paddock("lease", "release", "file:src/api/v1/*")
    assert fleet.wait() == 0, fleet.words
    assert yard.attempt().outcome == "delivered"


def test_owned_paths_are_held_for_every_turn_of_an_attempt(yard: Yard) -> None:
    configure(yard, OWNERS)
    ready, gate = yard.folder / "ready", yard.folder / "gate"
    yard.add({"run": ["touch", str(ready)]}, {"wait_for": str(gate)}, {"say": "hm"}, agent="api")
    fleet = yard.start("run", "--until-idle")
    yard.await_that(ready.exists, "the agent")
    yard.paddock("message", "t1", play(write("a.txt"), commit("Add")))
    gate.touch()
    assert fleet.wait() == 0, fleet.words
    assert yard.attempt().turn == 2
    granted = [record.event for record in yard.records(LeaseGranted)]
    assert [event.generation for event in granted if isinstance(event, LeaseGranted) and event.name != "daemon"] == [1]
    renewed = [record.event for record in yard.records(LeaseRenewed)]
    assert [event.ttl_seconds for event in renewed if isinstance(event, LeaseRenewed) and event.name != "daemon"] == [
        4200.0,
        4200.0,
    ]


def test_a_lease_an_agent_took_ends_with_its_attempt(yard: Yard) -> None:
    yard.add(
        {"run": [*PADDOCK, "lease", "acquire", "port:5432"]},
        {"crash": 3},
        attempts=1,
    )
    yard.run(code=1)
    granted = [record.event for record in yard.records(LeaseGranted)]
    mine = [event for event in granted if isinstance(event, LeaseGranted) and event.name == "port:5432"]
    assert [(event.holder.attempt, event.generation) for event in mine] == [("t1.1", 1)]
    assert "port:5432 is yours, generation 1" in yard.paddock("tail", "t1")
    assert yard.attempt().outcome == "crashed"
    yard.assert_nothing_is_left()


def test_agents_share_a_port_one_after_the_other(make_yard: MakeYard) -> None:
    yard = make_yard(PADDOCK_LIMITS_MAX_AGENTS="3")
    inside, clash = yard.folder / "inside", yard.folder / "clash"
    script = f"mkdir '{inside}' || touch '{clash}'; sleep 0.1; rmdir '{inside}'"
    use: Step = {"run": [*PADDOCK, "with-lease", "port:5432", "--", "sh", "-c", script]}
    yard.add_all([{"brief": play(use, {"noop": "used it"})} for _ in range(3)])
    yard.run(code=0)
    assert not clash.exists()
    events = [record.event for record in yard.records(LeaseGranted)]
    mine = [event for event in events if isinstance(event, LeaseGranted) and event.name == "port:5432"]
    assert [event.generation for event in mine] == [1, 2, 3]
    assert {event.holder.attempt for event in mine} == {"t1.1", "t2.1", "t3.1"}


def test_agents_are_told_of_leases_only_where_there_is_something_to_lease(yard: Yard) -> None:
    yard.add_all([{"title": "Fix", "brief": "Make it close."}])
    assert "lease" not in yard.paddock("show", "t1", "--prompt")
    configure(yard, '[leases]\nresources = ["port:5432", "service:db"]\n')
    prompt = yard.paddock("show", "t1", "--prompt")
    assert "Before you use `port:5432`, `service:db`, take a lease" in prompt
    assert "`paddock with-lease NAME -- COMMAND`" in prompt


def test_a_lease_nobody_can_get_holds_up_only_its_own_task(yard: Yard) -> None:
    configure(yard, OWNERS)
    yard.paddock("lease", "acquire", "file:src/**", "--ttl", "1h")
    yard.add(write("a.txt"), commit("Add"), agent="api")
    yard.add(write("b.txt"), commit("Add"), agent="guest")
    fleet = yard.start("run")
    yard.await_that(lambda: yard.task("t2").phase.value == "approval", "the other task")
    assert [record.task for record in yard.records(AttemptStarted)] == ["t2"]
    fleet.kill()
