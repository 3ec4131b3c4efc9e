"""Main is moved by others, rewound, deleted, checked out; branches vanish or change while they wait."""

import json
import os
import signal
import subprocess
from pathlib import Path

from paddock.core.merge import events as qe
from tests.fleet.landing.conftest import MakeFarm
from tests.fleet.landing.lab import Farm, busy_hand, is_settled, land_beside
from tests.fleet.yard import commit, write
from tests.warm import RunningCommand


def red_commits(farm: Farm) -> list[str]:
    """First-parent commits of main that do not pass, whoever made them."""
    line = farm.yard.git("rev-list", "--first-parent", f"{farm.first}..main").split()
    return [commit for commit in line if not passes(farm, commit)]


def passes(farm: Farm, commit: str) -> bool:
    place = farm.yard.folder / f"tip-{commit}"
    farm.yard.git("clone", "--quiet", "--shared", "--no-checkout", str(farm.top), str(place))
    subprocess.run(("git", "-C", str(place), "checkout", "-q", commit), check=True, timeout=60)
    return subprocess.run(("sh", "ci.sh"), cwd=place, check=False, capture_output=True, timeout=60).returncode == 0


def end_when_settled(farm: Farm, daemon: RunningCommand) -> None:
    """For what is tried again every few seconds: a run until idle gives up after some tries."""
    farm.yard.await_board(is_settled, "the landing")
    farm.yard.paddock("down")
    daemon.wait()


def test_a_commit_by_hand_while_the_queue_tests_is_verified_and_kept(make_farm: MakeFarm, tmp_path: Path) -> None:
    go, began = tmp_path / "go", tmp_path / "began"
    wait = f"if [ -e parts/one ]; then touch {began}; while [ ! -e {go} ]; do sleep 0.05; done; fi"
    farm = make_farm(ci=f"{wait}; sh ./ci.sh")
    farm.branch("one", {"parts/one": "good\n"})
    farm.land("one")
    daemon = farm.yard.start("run", "--until-idle")
    farm.yard.await_that(lambda: began.exists() or None, "the run")

    by_hand = farm.push({"parts/by-hand": "good\n"})
    go.touch()
    assert daemon.wait() == 0, daemon.words

    assert farm.outcomes() == {"one": "landed"}
    farm.yard.git("merge-base", "--is-ancestor", by_hand, "main")
    tested = {record.event.tree for record in farm.yard.records() if isinstance(record.event, qe.RunStarted)}
    assert farm.yard.git("rev-parse", f"{by_hand}^{{tree}}") in tested
    assert farm.yard.git("rev-parse", "main^{tree}") in tested
    assert not red_commits(farm)


def test_a_red_commit_by_hand_halts_the_queue_and_blames_nobody(farm: Farm) -> None:
    told = farm.yard.folder / "told"
    notify = ["sh", "-c", f"echo $PADDOCK_OUTCOME $PADDOCK_REASON >> {told}"]
    red = farm.push({"parts/by-hand": "bad\n"})
    farm.branch("one", {"parts/one": "good\n"}, start=farm.first)
    farm.land("one")
    farm.yard.run(code=1, env={"PADDOCK_LAND_NOTIFY": json.dumps(notify)})
    farm.yard.await_that(lambda: (told.exists() and told.read_text()) or None, "the notice")
    assert told.read_text().startswith(f"halted main is red at `{red}`")
    halted = farm.queue.halted
    assert halted is not None
    assert "main is red" in halted.reason
    assert not farm.queue.decided

    shown = farm.yard.paddock("queue")
    assert "push a commit that fixes it" in shown
    assert "paddock land --repair" in shown

    fixed = farm.push({"parts/by-hand": "good\n"}, "Fix it")
    farm.yard.run(code=0)
    assert farm.queue.halted is None
    assert farm.outcomes() == {"one": "landed"}
    farm.yard.git("merge-base", "--is-ancestor", fixed, "main")


def test_a_running_daemon_goes_on_by_itself_when_somebody_mends_main(farm: Farm) -> None:
    farm.push({"parts/by-hand": "bad\n"})
    farm.branch("one", {"parts/one": "good\n"}, start=farm.first)
    farm.land("one")
    farm.yard.start("run")
    farm.yard.await_board(lambda board: board.queue.halted is not None, "the halt")
    farm.push({"parts/by-hand": "good\n"}, "Fix it")
    farm.yard.await_board(lambda board: is_settled(board) and board.queue.halted is None, "the landing")
    assert farm.outcomes() == {"one": "landed"}


def test_a_queued_change_that_repairs_main_lands_on_it_and_the_rest_follows(farm: Farm) -> None:
    slip = farm.push({"parts/by-hand": "bad\n"})
    farm.branch("one", {"parts/one": "good\n"}, start=farm.first)
    farm.branch("repair", {"parts/by-hand": "good\n"}, start=slip)
    farm.branch("hope", {"parts/hope": "good\n"}, start=slip)
    farm.land("one")
    farm.yard.run(code=1)
    farm.yard.paddock("land", "--repair", "--branch", "hope")
    farm.yard.run(code=1)
    assert farm.outcomes() == {"hope": "cancelled"}
    assert "does not repair main" in farm.queue.decided[-1].reason

    farm.yard.paddock("land", "--repair", "--branch", "repair")
    farm.yard.run(code=0)

    assert farm.outcomes() == {"hope": "cancelled", "repair": "landed", "one": "landed"}
    assert red_commits(farm) == [slip], "what somebody pushed; nothing the queue did"


def test_status_says_that_the_queue_halted_when_tasks_wait_in_it(farm: Farm) -> None:
    farm.push({"parts/by-hand": "bad\n"})
    farm.yard.add(write("parts/a"), commit("Add a"))
    farm.yard.run(code=1)
    assert farm.yard.task().phase == "queued"
    assert "merge queue halted: main is red" in farm.yard.paddock("status")


def test_somebody_who_commits_while_ci_runs_time_and_again_does_not_stop_the_queue(
    make_farm: MakeFarm, tmp_path: Path
) -> None:
    command, made = busy_hand(tmp_path, tmp_path / "app" / ".git", times=5)
    farm = make_farm(ci=f"{command}; sh ./ci.sh", PADDOCK_LAND_FENCE="none")

    pushed = land_beside(farm, made, 4)

    for made_by_hand in pushed:
        farm.yard.git("merge-base", "--is-ancestor", made_by_hand, "main")
    assert not red_commits(farm)


def test_a_rewound_main_halts_the_queue_until_somebody_has_looked(farm: Farm) -> None:
    farm.branch("one", {"parts/one": "good\n"})
    farm.land("one")
    farm.yard.run(code=0)
    landed = farm.main
    farm.yard.git("update-ref", "refs/heads/main", farm.first)
    farm.branch("two", {"parts/two": "good\n"})
    farm.land("two")

    farm.yard.run(code=1)

    assert farm.main == farm.first, "nothing lands on a main that was rewound"
    halted = farm.queue.halted
    assert halted is not None
    assert f"`{farm.first}` does not descend from `{landed}`" in halted.reason
    assert "rewound" in farm.yard.paddock("queue")

    farm.yard.paddock("queue", "resume")
    farm.yard.run(code=0)
    assert farm.outcomes() == {"one": "landed", "two": "landed"}
    assert "parts/one" not in farm.files(), "what was rewound stays so"
    assert not red_commits(farm)


def test_a_main_that_was_replaced_by_another_history_halts_too(farm: Farm) -> None:
    farm.branch("one", {"parts/one": "good\n"})
    farm.land("one")
    farm.yard.run(code=0)
    tree = farm.yard.git("rev-parse", f"{farm.first}^{{tree}}")
    other = farm.yard.git("commit-tree", tree, "-p", farm.first, "-m", "Forced")
    farm.yard.git("update-ref", "refs/heads/main", other)
    farm.branch("two", {"parts/two": "good\n"})
    farm.land("two")
    farm.yard.run(code=1)
    assert farm.queue.halted is not None
    assert farm.main == other


def test_a_main_that_is_gone_is_said_once_and_waited_for(farm: Farm) -> None:
    farm.branch("one", {"parts/one": "good\n"})
    farm.land("one")
    farm.yard.git("update-ref", "-d", "refs/heads/main")
    daemon = farm.yard.start("run")
    daemon.await_words("is gone")
    farm.yard.git("update-ref", "refs/heads/main", farm.first)
    end_when_settled(farm, daemon)
    assert daemon.words.count("is gone") == 1
    assert farm.outcomes() == {"one": "landed"}


def test_a_lock_left_on_main_is_said_once_and_waited_for(farm: Farm) -> None:
    lock = farm.top / ".git" / "refs" / "heads" / "main.lock"
    lock.touch()
    farm.branch("one", {"parts/one": "good\n"})
    farm.land("one")
    daemon = farm.yard.start("run", "--until-idle")
    daemon.await_words("main cannot be moved")
    lock.unlink()
    assert daemon.wait() == 0
    assert daemon.words.count("main cannot be moved") == 1
    assert farm.outcomes() == {"one": "landed"}
    farm.assert_green()


def test_what_the_system_refuses_is_said_and_tried_again(farm: Farm) -> None:
    farm.branch("one", {"parts/one": "good\n"})
    farm.land("one")
    bench = farm.top / ".git" / "paddock" / "workbench.git"
    bench.rename(bench.with_name("away"))
    bench.touch()
    daemon = farm.yard.start("run")
    daemon.await_words("trouble landing: NotADirectoryError")
    bench.unlink()
    end_when_settled(farm, daemon)
    assert farm.outcomes() == {"one": "landed"}


def test_a_branch_deleted_or_rewritten_while_it_waits_changes_nothing(farm: Farm) -> None:
    farm.branch("deleted", {"parts/deleted": "good\n"})
    approved = farm.branch("rewritten", {"parts/rewritten": "good\n"})
    farm.land("deleted", "rewritten")
    farm.yard.git("branch", "-D", "deleted")
    farm.branch("rewritten", {"parts/rewritten": "bad\n"})
    farm.yard.git("reflog", "expire", "--expire=now", "--all")
    farm.yard.git("gc", "--quiet", "--prune=now")

    farm.yard.run(code=0)

    assert farm.outcomes() == {"deleted": "landed", "rewritten": "landed"}
    assert farm.yard.git("show", "main:parts/rewritten") == "good", "the approved bytes, not the later ones"
    farm.yard.git("merge-base", "--is-ancestor", approved, "main")
    farm.assert_green()


def test_queueing_a_branch_again_replaces_the_version_that_waits(farm: Farm) -> None:
    farm.branch("fix", {"parts/fix": "bad\n"})
    farm.land("fix")
    farm.branch("fix", {"parts/fix": "good\n"})
    farm.land("fix")
    farm.yard.run(code=0)
    assert [(old.version, old.outcome.value) for old in farm.queue.decided] == [(1, "superseded"), (2, "landed")]
    assert farm.yard.git("show", "main:parts/fix") == "good"


def test_a_ref_among_the_versions_that_is_none_is_no_obstacle(farm: Farm) -> None:
    farm.branch("fix", {"parts/fix": "bad\n"})
    farm.land("fix")
    [queued] = farm.queued()
    farm.yard.git("update-ref", f"refs/paddock/changes/{queued.change.id}/vx", farm.main)
    farm.branch("fix", {"parts/fix": "good\n"})
    farm.land("fix")
    assert [queued.change.version for queued in farm.queued()] == [1, 2]


def test_a_branch_whose_name_is_not_utf8_is_refused(farm: Farm) -> None:
    name = os.fsdecode(b"f\xff")
    farm.branch(name, {"parts/fix": "good\n"})
    assert "is not UTF-8" in farm.yard.paddock("land", "--branch", name, code=1)


def test_a_version_that_was_held_but_never_queued_is_no_obstacle(farm: Farm) -> None:
    farm.branch("fix", {"parts/fix": "bad\n"})
    farm.yard.paddock("land", "--branch", "fix", code=-signal.SIGKILL, env={"PADDOCK_TEST_CRASH_AT": "hold.held"})
    assert not farm.queue.entries
    farm.branch("fix", {"parts/fix": "good\n"})
    farm.land("fix")
    farm.yard.run(code=0)
    assert farm.outcomes() == {"fix": "landed"}
    assert farm.yard.git("show", "main:parts/fix") == "good"


def test_a_change_that_main_has_already_costs_no_ci_run(farm: Farm) -> None:
    farm.branch("one", {"parts/one": "good\n"})
    farm.branch("same", {"parts/one": "good\n"})
    farm.land("one")
    farm.yard.run(code=0)
    before = farm.runs()
    farm.land("same", "one")
    farm.yard.run(code=0)
    assert farm.outcomes()["same"] == "noop"
    assert [old.outcome.value for old in farm.queue.decided] == ["landed", "noop", "noop"]
    assert farm.runs() == before
    assert is_settled(farm.yard.board())


def test_a_history_that_shares_nothing_with_main_is_refused_when_it_is_queued(farm: Farm) -> None:
    tree = farm.yard.git("rev-parse", "main^{tree}")
    alien = farm.yard.git("commit-tree", tree, "-m", "From nowhere")
    farm.yard.git("update-ref", "refs/heads/alien", alien)
    assert "shares no history" in farm.yard.paddock("land", "--branch", "alien", code=1)
    assert "there is no branch `nowhere`" in farm.yard.paddock("land", "--branch", "nowhere", code=1)
    assert not farm.queue.entries
