"""CI that is missing, hangs, crashes, floods, leaves processes behind, vandalises: the queue stays sound."""

import os
import signal
import time
from pathlib import Path

import pytest

from paddock.core.ids import TaskId
from paddock.core.merge.health import CONTROL_BACKOFF_SECONDS
from paddock.core.merge.model import Result, Run
from tests.fleet.landing.conftest import MakeFarm
from tests.fleet.landing.lab import CI, Farm
from tests.fleet.yard import commit, play, write

FLOOD_MEGABYTES = 200


def land_one(farm: Farm, name: str = "one", **files: str) -> None:
    farm.branch(name, {f"parts/{key}": text for key, text in (files or {name: "good\n"}).items()})
    farm.land(name)


def ended_runs(farm: Farm) -> list[Run]:
    return list(farm.queue.ended.values())


def results(farm: Farm) -> list[str]:
    return [str(run.result) for run in ended_runs(farm)]


def timeouts(farm: Farm) -> list[str]:
    """What is said of runs that tested a change and were ended: on a machine that stalls, main's may take too long."""
    return [run.note for run in ended_runs(farm) if run.result is Result.TIMEOUT and run.members]


def test_a_run_ends_and_status_tells_when_the_ci_command_is_gone_while_something_is_queued(farm: Farm) -> None:
    farm.branch("mine", {"parts/mine": "good\n"})
    farm.land("mine")
    farm.yard.env["PADDOCK_LAND_CI"] = ""
    told = farm.yard.run(code=1)
    assert "gave up landing: no CI command is configured" in told
    assert 'set `[land] ci = "make test"`' in told
    assert "nothing can land: no CI command is configured" in farm.yard.paddock("status")
    assert farm.main == farm.first


def test_without_a_ci_command_nothing_lands_and_everybody_is_told_what_to_set(make_farm: MakeFarm) -> None:
    farm = make_farm(ci="")
    farm.yard.add(write("parts/a"), commit("Add a"), {"say": "done"})
    farm.yard.run(code=1)
    task = farm.yard.task()
    assert task.phase == "blocked"
    assert "no CI command is configured" in task.reason
    farm.branch("mine", {"parts/mine": "good\n"})
    for words in (("land", "t1"), ("land", "--branch", "mine")):
        assert 'set `[land] ci = "make test"`' in farm.yard.paddock(*words, code=1)
    assert farm.main == farm.first

    farm.yard.env["PADDOCK_LAND_CI"] = CI
    farm.yard.paddock(*str(task.unblock).split()[1:])
    farm.yard.run(code=0)
    assert farm.yard.task().phase == "landed"


def test_a_ci_command_that_does_not_exist_halts_names_it_and_is_gone_on_with_once_fixed(make_farm: MakeFarm) -> None:
    farm = make_farm(ci="no-such-program --at-all")
    land_one(farm)
    farm.yard.run(code=1)
    halted = farm.queue.halted
    assert halted is not None
    assert halted.reason == "CI cannot run on main: `ci` failed with exit 127: `no-such-program` was not found"
    assert "halted: CI cannot run on main" in farm.yard.paddock("queue")
    assert farm.main == farm.first
    assert farm.runs() == 1

    farm.yard.env["PADDOCK_LAND_CI"] = CI
    farm.yard.run(code=0)
    assert farm.outcomes() == {"one": "landed"}
    farm.assert_green()


def test_a_hanging_run_is_ended_and_tried_again_before_anybody_is_blamed(make_farm: MakeFarm, tmp_path: Path) -> None:
    hung = tmp_path / "hung"
    trap = f"if [ -e parts/one ] && [ ! -e {hung} ]; then touch {hung}; trap '' TERM; sleep 600 & wait; sleep 600; fi"
    farm = make_farm(ci=f"{trap}; sh ./ci.sh", PADDOCK_LAND_TIMEOUT="5s")
    land_one(farm)

    farm.yard.run(code=0)

    assert farm.outcomes() == {"one": "landed"}
    assert timeouts(farm) == ["`ci` did not finish within 5 s"]
    farm.assert_green()
    farm.assert_at_rest()


def test_what_hangs_every_time_is_rejected(make_farm: MakeFarm) -> None:
    farm = make_farm(ci="if [ -e parts/one ]; then sleep 600; fi; sh ./ci.sh", PADDOCK_LAND_TIMEOUT="1s")
    land_one(farm)
    farm.yard.run()
    assert farm.outcomes() == {"one": "rejected"}
    assert len(timeouts(farm)) == 2
    farm.assert_at_rest()


def test_a_daemon_killed_while_it_ends_a_hanging_run_does_not_make_it_anybodys_accident(make_farm: MakeFarm) -> None:
    farm = make_farm(ci="if [ -e parts/one ]; then sleep 600; fi; sh ./ci.sh", PADDOCK_LAND_TIMEOUT="1s")
    land_one(farm)
    killed = farm.yard.start("run", "--until-idle", env={"PADDOCK_TEST_CRASH_AT": "ci.stopping"})
    assert killed.wait() == -signal.SIGKILL
    farm.yard.run()
    assert farm.outcomes() == {"one": "rejected"}
    assert len(timeouts(farm)) == 2
    farm.assert_at_rest()


def test_time_without_a_daemon_is_not_held_against_a_run(make_farm: MakeFarm) -> None:
    farm = make_farm(PADDOCK_LAND_TIMEOUT="5s")
    land_one(farm)
    killed = farm.yard.start("run", "--until-idle", env={"PADDOCK_TEST_CRASH_AT": "run.started_in_log#2"})
    assert killed.wait() == -signal.SIGKILL
    (run,) = farm.queue.running.values()
    farm.yard.await_that(lambda: time.time() > run.started_at + 5.5 or None, "the time the run may take")
    farm.yard.run(code=0)
    assert farm.outcomes() == {"one": "landed"}
    assert set(results(farm)) == {"pass"}


CHECKS = """
[[land.checks]]
name = "quick"
run = "if [ -e parts/one ]; then sleep 600; fi"
timeout = "1s"
[[land.checks]]
name = "rest"
run = "sh ./ci.sh"
"""


def test_a_check_may_have_a_timeout_of_its_own(make_farm: MakeFarm) -> None:
    farm = make_farm(CHECKS, ci="")
    land_one(farm)
    farm.yard.run()
    assert farm.outcomes() == {"one": "rejected"}
    assert "`quick` did not finish within 1 s" in [run.note for run in ended_runs(farm)]


def test_daemons_that_ci_forks_are_gone_when_the_run_is(make_farm: MakeFarm, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    fork = f"(setsid sh -c 'trap \"\" TERM HUP; echo $$ >> {pids}; sleep 600' >/dev/null 2>&1 &)"
    farm = make_farm(ci=f"{fork}; while [ ! -s {pids} ]; do sleep 0.05; done; sh ./ci.sh")
    land_one(farm)

    farm.yard.run(code=0)

    assert farm.outcomes() == {"one": "landed"}
    for pid in pids.read_text().split():
        assert not os.path.exists(f"/proc/{pid}") or "sleep" not in Path(f"/proc/{pid}/cmdline").read_text()
    farm.assert_at_rest()


VANDAL = """\
git update-ref refs/heads/main HEAD~1 2>/dev/null
git update-ref refs/heads/stolen HEAD
git config user.name vandal; git config core.hooksPath /tmp
git gc --quiet --prune=now 2>/dev/null
echo rubbish > ../rubbish; echo rubbish > ../control/rubbish; rm -f ../control/index
echo rubbish >> "$HOME/.gitconfig"; echo rubbish > "$TMPDIR/rubbish"
rm -rf .git
echo "parts are changed" > parts/tracked; chmod -R a-w parts
"""


def test_ci_that_moves_refs_and_writes_outside_its_tree_changes_nothing_of_ours(make_farm: MakeFarm) -> None:
    farm = make_farm(ci=f"{VANDAL}sh ./ci.sh")
    before = farm.yard.git("for-each-ref", "refs/heads")
    config = (farm.top / ".git" / "config").read_text()
    farm.branch("one", {"parts/one": "good\n", "parts/tracked": "good\n"})
    farm.branch("two", {"parts/two": "good\n"})
    farm.land("one")
    farm.yard.run(code=0)
    farm.land("two")
    farm.yard.run(code=0)

    assert farm.outcomes() == {"one": "landed", "two": "landed"}
    refs = farm.yard.git("for-each-ref", "refs/heads")
    assert "stolen" not in refs
    assert refs != before
    assert (farm.top / ".git" / "config").read_text() == config
    assert farm.yard.git("show", "main:parts/tracked") == "good"
    farm.yard.git("fsck", "--connectivity-only", "--no-dangling")
    farm.assert_green()
    farm.assert_at_rest()


def test_ci_that_deletes_its_sandbox_has_said_what_it_said(make_farm: MakeFarm) -> None:
    farm = make_farm(ci='sh ./ci.sh; code=$?; rm -rf "$PWD/.."; exit $code')
    land_one(farm, "one")
    land_one(farm, "broken", broken="bad\n")
    farm.yard.run()
    assert farm.outcomes() == {"one": "landed", "broken": "rejected"}
    farm.assert_green()
    farm.assert_at_rest()


def test_a_flood_of_output_is_bounded_and_its_end_is_kept(make_farm: MakeFarm) -> None:
    flood = f"if [ -e parts/one ]; then yes flood | head -c {FLOOD_MEGABYTES}000000; fi; echo the very end"
    farm = make_farm(ci=f"{flood}; sh ./ci.sh")
    land_one(farm, one="bad\n")

    farm.yard.run()

    assert farm.outcomes() == {"one": "rejected"}
    runs = farm.yard.runs_folder
    stored = [path.stat().st_blocks * 512 for path in runs.glob("*/turn-*.out")]
    assert max(stored) <= 70_000_000
    why = farm.yard.paddock("queue", "why", farm.queue.decided[0].id)
    assert "the very end" in why
    assert "a part is bad" in why


@pytest.mark.parametrize(("name", "result"), [("SEGV", "fail"), ("KILL", "infra")])
def test_a_signal_of_its_own_is_a_failure_and_one_from_outside_is_not(
    make_farm: MakeFarm, name: str, result: str
) -> None:
    farm = make_farm(ci=f"if [ -e parts/one ]; then kill -{name} $$; fi; sh ./ci.sh")
    land_one(farm)

    farm.yard.run()

    assert farm.outcomes() == {"one": "rejected" if result == "fail" else "cancelled"}
    assert results(farm).count(result) == (2 if result == "fail" else 4)
    assert not farm.queue.entries
    assert farm.main == farm.first


def test_a_change_whose_ci_is_lost_each_time_goes_to_a_person_without_blame(farm: Farm) -> None:
    farm.yard.add_all([{"brief": play(write("parts/quits"), commit("Add it"), {"say": "done"})}])
    land_one(farm, "other")

    farm.yard.run()

    task = farm.yard.task()
    assert task.phase == "approval"
    assert "its CI was lost 4 times while main passes" in task.reason
    assert farm.outcomes()["other"] == "landed"
    assert "rejected" not in farm.outcomes().values()
    before = farm.runs()
    farm.yard.run()
    assert farm.runs() == before, "it is not queued again by itself"
    farm.assert_at_rest()


def test_while_set_up_fails_main_is_asked_ever_more_rarely(make_farm: MakeFarm) -> None:
    farm = make_farm("setup = 'echo no compiler here; exit 9'")
    land_one(farm)
    daemon = farm.yard.start("run", "--until-idle")
    farm.yard.await_board(lambda board: len(board.queue.ended) >= 4, "four lost runs")
    farm.yard.add(write("parts/a"), commit("Add a"), {"say": "done"})
    farm.yard.await_board(lambda board: board.tasks[TaskId("t1")].phase == "queued", "work that makes it look again")
    daemon.send(signal.SIGTERM)
    daemon.wait()
    assert set(results(farm)) == {"infra"}
    fourth, *later = [*ended_runs(farm), *farm.queue.running.values()][3:]
    rested = [run.started_at - (fourth.ended_at or 0.0) for run in later]
    assert all(seconds >= CONTROL_BACKOFF_SECONDS for seconds in rested), "it rests before it tries again"
    assert farm.main == farm.first
    why = (farm.yard.runs_folder / "r1" / "turn-0.out").read_text()
    assert why == "no compiler here\n"


def test_a_flaky_run_lands_all_the_same(make_farm: MakeFarm, tmp_path: Path) -> None:
    once = tmp_path / "once"
    farm = make_farm(ci=f"if [ -e parts/one ] && mkdir {once}; then echo flake; exit 1; fi; sh ./ci.sh")
    land_one(farm)
    farm.yard.run(code=0)
    assert farm.outcomes() == {"one": "landed"}
    assert results(farm).count("fail") == 1
    farm.assert_green()


def test_ci_sees_neither_the_persons_home_nor_git_variables(make_farm: MakeFarm, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    farm = make_farm(f'env = {{ COLOUR = "green", SEEN = "{seen}" }}', ci='env > "$SEEN"; sh ./ci.sh')
    land_one(farm)
    farm.yard.run(code=0)
    variables = dict(line.split("=", 1) for line in seen.read_text().splitlines() if "=" in line)
    assert variables["COLOUR"] == "green"
    assert variables["CI"] == "true"
    assert variables["HOME"] != farm.yard.env["HOME"]
    assert not {"GIT_AUTHOR_NAME", "GIT_CONFIG_GLOBAL"} & set(variables)
