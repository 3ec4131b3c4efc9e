"""What does not merge or does not pass goes back to the agent once, and then to a person."""

import json
import subprocess
from pathlib import Path

from paddock.core.events import MessageSent
from paddock.core.ids import TaskId
from tests.fleet.landing.conftest import MakeFarm
from tests.fleet.landing.lab import TEN_LINES, Farm
from tests.fleet.yard import Step, commit, play, write

FIVE = "line 5\n"
MINE = TEN_LINES.replace(FIVE, "line 5, as t2 has it\n")
THEIRS = TEN_LINES.replace(FIVE, "line 5, as t1 has it\n")
BOTH = TEN_LINES.replace(FIVE, "line 5, as t1 has it\nline 5, as t2 has it\n")


def two_that_conflict(farm: Farm, *later: Step) -> None:
    """t1 lands first: t2 says when it has begun, and goes on when t1 has landed."""
    started, landed = farm.yard.folder / "t2-started", farm.yard.folder / "t1-landed"
    first = play({"wait_for": str(started)}, write("ten.txt", THEIRS), commit("As t1 has it"))
    hello = {"run": ["touch", str(started)]}
    second = play(hello, {"wait_for": str(landed)}, write("ten.txt", MINE), commit("As t2 has it"), *later)
    farm.yard.add_all([{"brief": first}, {"brief": second}])


def run_until_both_are_done(farm: Farm) -> str:
    daemon = farm.yard.start("run", "--until-idle")
    farm.yard.await_board(lambda board: board.tasks[TaskId("t1")].phase == "landed", "the landing of t1")
    (farm.yard.folder / "t1-landed").touch()
    assert daemon.wait() in (0, 1)
    return daemon.words


def rebase(text: str) -> list[Step]:
    """What the agent does in its second turn: rebase onto main, resolving with `text`."""
    again = {"turn": 2}
    script = f"git rebase main || {{ printf '%s' \"$TEXT\" > ten.txt && git add ten.txt && {CONTINUE}; }}"
    return [{"run": ["env", f"TEXT={text}", "sh", "-c", script], **again}, {"say": "rebased", **again}]


CONTINUE = "GIT_EDITOR=true git rebase --continue"


def followups(farm: Farm, task: str) -> list[str]:
    records = farm.yard.records(MessageSent, task)
    return [record.event.text for record in records if isinstance(record.event, MessageSent)]


def test_an_agent_is_asked_once_to_rebase_and_its_second_version_lands(farm: Farm) -> None:
    two_that_conflict(farm, *rebase(BOTH))

    run_until_both_are_done(farm)

    assert farm.yard.task("t2").phase == "landed"
    assert (farm.yard.git("show", "main:ten.txt") + "\n") == BOTH
    (asked,) = followups(farm, "t2")
    assert "it conflicts with t1" in asked
    assert "Conflicting files: ten.txt" in asked
    assert "+line 5, as t1 has it" in asked
    attempt = farm.yard.attempt("t2")
    assert attempt.continues == "t2.1"
    assert attempt.session == farm.yard.task("t2").attempts[0].session
    first = next(old for old in farm.queue.decided if old.id == "t2")
    assert (first.outcome, first.against, first.paths) == ("conflicted", "t1", ("ten.txt",))
    farm.assert_green()
    farm.assert_at_rest()


def test_what_still_conflicts_after_that_is_a_persons_and_resolve_opens_it(farm: Farm) -> None:
    two_that_conflict(farm, {"say": "I would rather not", "turn": 2})

    run_until_both_are_done(farm)

    task = farm.yard.task("t2")
    assert task.phase == "blocked"
    assert len(followups(farm, "t2")) == 1

    farm.yard.paddock("run", "--until-idle", code=1)
    assert len(followups(farm, "t2")) == 1, "also the next daemon knows that it was asked"
    resolved = json.loads(farm.yard.paddock("resolve", "t2", "--json"))
    assert resolved["conflicts"] == ["ten.txt"]
    assert json.loads(farm.yard.paddock("resolve", "t2", "--json")) == resolved, "the same worktree again"
    place = Path(resolved["worktree"])
    assert "<<<<<<<" in (place / "ten.txt").read_text()
    refused = farm.yard.paddock("land", "t2", code=1)
    assert "paddock resolve t2" in refused

    (place / "ten.txt").write_text(BOTH)
    for words in (("add", "ten.txt"), ("commit", "-q", "--no-edit")):
        subprocess.run(("git", *words), cwd=place, env=farm.yard.env, check=True, timeout=60)
    farm.yard.paddock("land", "t2")
    farm.yard.run(code=0)

    assert farm.yard.task("t2").phase == "landed"
    assert (farm.yard.git("show", "main:ten.txt") + "\n") == BOTH
    farm.assert_green()
    farm.assert_at_rest()


def test_resolve_opens_the_conflict_of_a_branch_that_was_queued_by_name(farm: Farm) -> None:
    farm.branch("feature/mine", {"ten.txt": MINE})
    farm.branch("theirs", {"ten.txt": THEIRS})
    farm.land("theirs")
    farm.yard.run(code=0)
    farm.land("feature/mine")
    farm.yard.run(code=0)
    assert farm.outcomes()["feature/mine"] == "conflicted"
    assert "next: `paddock resolve feature/mine`" in farm.yard.paddock("queue", "why", "feature/mine")

    resolved = json.loads(farm.yard.paddock("resolve", "feature/mine", "--json"))
    assert resolved["conflicts"] == ["ten.txt"]
    place = Path(resolved["worktree"])
    (place / "ten.txt").write_text(BOTH)
    for words in (("add", "ten.txt"), ("commit", "-q", "--no-edit")):
        subprocess.run(("git", *words), cwd=place, env=farm.yard.env, check=True, timeout=60)
    farm.yard.paddock("land", "--branch", "feature/mine")
    farm.yard.run(code=0)

    assert farm.outcomes()["feature/mine"] == "landed"
    assert (farm.yard.git("show", "main:ten.txt") + "\n") == BOTH
    farm.assert_green()


def test_why_tells_the_whole_story_of_a_conflict_with_both_diffs(farm: Farm) -> None:
    two_that_conflict(farm, {"say": "no", "turn": 2})
    run_until_both_are_done(farm)

    story = farm.yard.paddock("queue", "why", "t2")

    assert "queued t2 version 1" in story
    assert "could not be merged (conflict)" in story
    assert "returned t2: conflicts with t1 in ten.txt" in story
    assert "asked its agent" in story
    assert "+line 5, as t2 has it" in story
    assert "+line 5, as t1 has it" in story
    assert "next: paddock resolve t2" in story
    told = json.loads(farm.yard.paddock("queue", "why", "t2", "--json"))
    assert told["conflict"]["against"] == "t1"
    assert "+line 5, as t2 has it" in told["conflict"]["ours"]
    assert "+line 5, as t1 has it" in told["conflict"]["theirs"]
    assert told["conflict"]["paths"] == ["ten.txt"]
    assert farm.yard.task("t2").reason == "conflicts with t1: ten.txt; its agent changed nothing"
    assert "paddock resolve t2" in farm.yard.paddock("show", "t2")


def test_a_conflict_with_a_commit_by_hand_names_the_commit(farm: Farm) -> None:
    farm.branch("mine", {"ten.txt": MINE})
    by_hand = farm.push({"ten.txt": THEIRS})
    farm.land("mine")
    farm.yard.run()
    (decided,) = farm.queue.decided
    assert decided.outcome == "conflicted"
    assert decided.against is not None
    assert by_hand.startswith(decided.against.removeprefix("commit "))


def test_one_of_two_queued_changes_that_conflict_waits_for_the_other(farm: Farm) -> None:
    farm.branch("one", {"ten.txt": THEIRS})
    farm.branch("two", {"ten.txt": MINE})
    farm.land("one", "two")
    farm.yard.run()
    ends = [(old.outcome.value, old.against) for old in farm.queue.decided]
    assert ends[0] == ("landed", None)
    assert ends[1] == ("conflicted", farm.queue.decided[0].id)
    farm.assert_green()


def test_an_agent_whose_tests_fail_is_told_the_end_of_the_output_and_mends_it(farm: Farm) -> None:
    fix = {"write": "parts/a", "text": "good\n", "turn": 2}
    farm.yard.add(write("parts/a", "bad\n"), commit("Add a"), fix, {"commit": "Fix a", "turn": 2})

    farm.yard.run(code=0)

    assert farm.yard.task().phase == "landed"
    (asked,) = followups(farm, "t1")
    assert "a part is bad" in asked
    assert "rejected" in asked
    assert [old.outcome for old in farm.queue.decided] == ["rejected", "landed"]
    farm.assert_green()
    farm.assert_at_rest()


def test_after_one_follow_up_a_rejected_change_is_a_persons(farm: Farm) -> None:
    worse = {"write": "parts/b", "text": "bad\n", "turn": 2}
    farm.yard.add(write("parts/a", "bad\n"), commit("Add a"), worse, {"commit": "Worse", "turn": 2})

    farm.yard.run(code=1)

    task = farm.yard.task()
    assert (task.phase, task.unblock) == ("blocked", "paddock queue why t1")
    assert len(followups(farm, "t1")) == 1
    assert [old.outcome for old in farm.queue.decided] == ["rejected", "rejected"]
    why = farm.yard.paddock("queue", "why", "t1")
    assert why.count("  rejected t1: CI fails") == 2
    assert "a part is bad" in why
    assert farm.main == farm.first


def test_a_rejected_change_its_agent_left_as_it_was_is_not_tested_again(farm: Farm) -> None:
    farm.yard.add(write("parts/a", "bad\n"), commit("Add a"), {"say": "it is fine as it is", "turn": 2})

    farm.yard.run(code=1)

    task = farm.yard.task()
    assert (task.phase, task.unblock) == ("blocked", "paddock queue why t1")
    assert task.reason.endswith("its agent changed nothing")
    assert len(followups(farm, "t1")) == 1
    assert [old.outcome for old in farm.queue.decided] == ["rejected"]
    farm.assert_at_rest()


def test_a_person_may_have_a_rejected_change_tried_again(make_farm: MakeFarm, tmp_path: Path) -> None:
    weather = tmp_path / "storm"
    weather.touch()
    farm = make_farm(ci=f"sh ./ci.sh && if ls parts | grep -qx a && [ -e {weather} ]; then exit 1; fi")
    farm.yard.add(write("parts/a"), commit("Add a"), {"say": "nothing I can do", "turn": 2})
    farm.yard.run(code=1)
    assert farm.yard.task().phase == "blocked"

    weather.unlink()
    farm.yard.paddock("land", "t1")
    farm.yard.run(code=0)

    assert farm.yard.task().phase == "landed"
    farm.assert_at_rest()


def test_two_changes_that_break_only_together_are_told_apart(farm: Farm) -> None:
    farm.branch("left", {"parts/left": "good\n"})
    farm.branch("right", {"parts/right": "good\n"})
    farm.branch("other", {"parts/other": "good\n"})
    farm.land("left", "right", "other")
    farm.yard.run()
    outcomes = farm.outcomes()
    assert outcomes["other"] == "landed"
    assert sorted((outcomes["left"], outcomes["right"])) == ["landed", "rejected"]
    farm.assert_green()
    farm.assert_at_rest()
