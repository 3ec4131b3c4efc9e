"""What the daemon tells of its agents while they work: by a clock that jumps."""

import json
from itertools import pairwise
from pathlib import Path
from random import Random

from msgspec.structs import replace

from paddock.core.tasks.standstill import QUIET_SECONDS
from paddock.fleet.glance import FILE, NOTHING, OLD_SECONDS, RENEWED_SECONDS, Glance, read_glance
from paddock.fleet.samples import read_samples
from paddock.git.repo import Repo
from tests.simulation.parts import CALL_USD, MODEL, delivers, loops, never_ends
from tests.simulation.stage import Stage, set_stage
from tests.simulation.troupe import Part
from tests.simulation.vigil import HOUR, vigil


def say(session: str, *content: dict[str, object], role: str = "assistant") -> str:
    usage = {"input_tokens": 1000, "output_tokens": 100}
    message = {"id": f"m{len(str(content))}", "model": MODEL, "content": list(content), "usage": usage}
    return json.dumps({"type": role, "session_id": session, "message": message})


def edits_a_file(_chance: Random, session: str) -> Part:
    init = json.dumps({"type": "system", "subtype": "init", "session_id": session, "model": MODEL})
    change = {"file_path": "a.py", "old_string": "x", "new_string": "y\nz"}
    call: dict[str, object] = {"type": "tool_use", "id": "c1", "name": "Edit", "input": change}
    result: dict[str, object] = {"type": "tool_result", "tool_use_id": "c1", "content": "ok"}
    says = ((1.0, init), (10.0, say(session, call)), (11.0, say(session, result, role="user")))
    return Part((*says, (560.0, say(session, {"type": "text", "text": "on"}))), 700.0)


def look_at(world: Stage, *seconds: float) -> list[Glance]:
    """What a reader sees after so many seconds each."""
    seen: list[Glance] = []
    for at in seconds:
        world.jolts.append((at, lambda time: seen.append(read_glance(world.folder / "state", time.now()))))
    assert world.live()
    return seen


def test_a_running_agent_shows_its_step_its_edits_and_what_it_has_cost(repo: Repo, stage: Path) -> None:
    world = set_stage(repo, stage, {"t1.1": edits_a_file})
    world.add(1, attempts=1)
    before, after = look_at(world, 9.0, 30.0)
    assert (before.agents["t1.1"].step, before.agents["t1.1"].step_at) == ("starting", None)
    agent = after.agents["t1.1"]
    assert (agent.step, agent.turn, agent.steps, agent.stuck) == ("Edit a.py", 1, 1, "")
    assert (agent.insertions, agent.deletions, agent.files) == (2, 1, 1)
    assert agent.step_at is not None
    assert 0 < after.at - agent.step_at < 30
    assert agent.input_tokens >= 1000
    assert agent.cost_usd is not None
    assert 0 < agent.cost_usd < CALL_USD
    assert (after.running, after.cap, after.most, after.limit) == (1, 4, 4, "")


def test_the_file_is_gone_when_the_daemon_is(repo: Repo, stage: Path) -> None:
    world = set_stage(repo, stage, {"t1.1": delivers})
    world.add(1)
    assert world.live()
    assert not (stage / "state" / FILE).exists()


def test_an_agent_that_falls_silent_looks_stuck_until_it_speaks(repo: Repo, stage: Path) -> None:
    world = set_stage(repo, stage, {"t1.1": edits_a_file})
    world.add(1, attempts=1)
    early, quiet, quieter, spoke = look_at(world, QUIET_SECONDS - 5, QUIET_SECONDS + 25, 500.0, 570.0)
    words = [seen.agents["t1.1"].stuck for seen in (early, quiet, quieter, spoke)]
    assert words == ["", "quiet for 5m", "quiet for 8m", ""]


def test_an_agent_that_repeats_itself_looks_stuck(repo: Repo, stage: Path) -> None:
    world = set_stage(repo, stage, {"t1.1": loops})
    world.add(1, attempts=1)
    [seen] = look_at(world, 10.0 + 20 * 8)
    assert seen.agents["t1.1"].stuck.startswith("same call ")


def test_the_limit_that_binds_is_told_with_its_reason(repo: Repo, stage: Path) -> None:
    world = set_stage(repo, stage, {}, max_agents=1)
    world.add(3, attempts=1)
    [seen] = look_at(world, 5.0)
    assert (seen.limit, seen.limit_reason) == ("cap", "agent cap reached (1/1)")
    assert (seen.running, seen.cap, seen.most) == (1, 1, 1)
    assert list(seen.agents) == ["t1.1"]


def test_the_file_is_written_for_a_change_and_now_and_then_to_show_that_the_daemon_lives(
    repo: Repo, stage: Path
) -> None:
    world = set_stage(repo, stage, {"t1.1": edits_a_file})
    world.add(1, attempts=1)
    path, written = stage / "state" / FILE, list[int]()
    for at in range(20, 260):
        world.jolts.append((float(at), lambda _time: written.append(path.stat().st_ino)))
    assert world.live()
    writes = sum(one != other for one, other in pairwise(written))
    assert 240 / RENEWED_SECONDS - 2 <= writes <= 240 / RENEWED_SECONDS + 1, "the agent says nothing all the time"
    assert OLD_SECONDS > 3 * RENEWED_SECONDS


def test_a_killed_daemons_word_does_not_count_for_long(repo: Repo, stage: Path) -> None:
    world = set_stage(repo, stage, {"t1.1": never_ends})
    world.add(1, attempts=1)
    assert not world.live(kill_at=400)
    state, now = stage / "state", world.time.now()
    assert read_glance(state, now).agents
    assert read_glance(state, now + OLD_SECONDS + 1) is NOTHING


def test_a_fleet_leaves_a_sample_a_minute_across_daemons(repo: Repo, stage: Path) -> None:
    world = set_stage(repo, stage, {"t1.1": never_ends}, max_agents=1)
    world.add(2, attempts=1)
    start = world.time.now()
    assert not world.live(kill_at=2000)
    world.config = replace(world.config, timeouts=replace(world.config.timeouts, turn=3600.0))
    assert world.live()
    found = read_samples(stage / "state", start, start + 1200.0, 20).samples
    assert all(sample is not None and sample.running == 1 for sample in found[2:])
    assert {sample.limit for sample in found if sample is not None} == {"cap"}
    last = found[-1]
    assert last is not None
    assert (last.ready, last.cap, last.most, last.busy) == (1, 1, 1, 0.1)
    assert last.spent_usd > 0, "the turn has not ended"


def test_an_idle_daemon_leaves_samples_without_asking_the_machine(repo: Repo, stage: Path) -> None:
    world = vigil(repo, stage)
    start = world.time.now()
    assert world.live()
    found = read_samples(stage / "state", start + 600, start + 2 * HOUR, 100).samples
    assert {None if one is None else (one.running, one.busy, one.limit) for one in found} == {(0, None, "")}
