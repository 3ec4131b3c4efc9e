"""Main is checked out by somebody while the fleet lands on it, is committed to from an older tree, and is rewound."""

import json
import signal

import pytest

from paddock.core.merge.events import WorkFound, WorkLost
from tests.fleet.landing.conftest import MakeFarm
from tests.fleet.landing.lab import TEN_LINES, Farm
from tests.fleet.yard import commit, write


def land_lines(farm: Farm, name: str = "five") -> str:
    """A change of line 5 and a new file, landed."""
    farm.branch(name, {"ten.txt": TEN_LINES.replace("line 5", "landed"), f"parts/{name}": "good\n"})
    farm.land(name)
    return farm.yard.run(code=0)


def edit_line_ten(farm: Farm) -> None:
    (farm.top / "ten.txt").write_text(TEN_LINES.replace("line 10", "mine"))


def status(farm: Farm) -> dict[str, list[dict[str, object]]]:
    told: dict[str, list[dict[str, object]]] = json.loads(farm.yard.paddock("status", "--json"))
    return told


def test_a_checkout_follows_what_lands_with_its_edits_in_place(farm: Farm) -> None:
    (farm.top / "mine.txt").write_text("mine\n")
    (farm.top / "ci.sh").write_text("# being edited\n")
    land_lines(farm)
    assert farm.yard.git("status", "--porcelain") == "M ci.sh\n?? mine.txt"
    assert (farm.top / "ten.txt").read_text() == TEN_LINES.replace("line 5", "landed")
    assert status(farm)["behind"] == []


def test_work_in_the_way_is_named_everywhere_and_the_next_daemon_goes_on_when_it_is_gone(farm: Farm) -> None:
    edit_line_ten(farm)
    said = land_lines(farm)
    assert "shows an older main" in said
    assert "ten.txt" in said
    assert not (farm.top / "parts" / "five").exists()
    (behind,) = status(farm)["behind"]
    assert (behind["files"], behind["update"], behind["at"]) == (["ten.txt"], "paddock sync --stash", farm.first)
    for command in ("status", "doctor"):
        assert "ten.txt" in farm.yard.paddock(command)

    (farm.top / "ten.txt").write_text(TEN_LINES)
    farm.yard.run(code=0)

    assert farm.yard.git("status", "--porcelain") == ""
    assert "older main" not in farm.yard.paddock("status")


def test_switched_off_nothing_is_written_until_somebody_asks_for_it(make_farm: MakeFarm) -> None:
    farm = make_farm('checkout = "never"')
    land_lines(farm)
    farm.yard.run(code=0)
    assert (farm.top / "ten.txt").read_text() == TEN_LINES
    assert "run: paddock sync" in farm.yard.paddock("status")
    assert "wrote 2 files" in farm.yard.paddock("sync")
    assert farm.yard.git("status", "--porcelain") == ""


@pytest.mark.parametrize("point", ["sync.claimed", "land.swapped", "sync.put", "sync.placed"])
def test_a_daemon_killed_while_a_checkout_follows_is_made_good_by_the_next(farm: Farm, point: str) -> None:
    (farm.top / "mine.txt").write_text("mine\n")
    farm.branch("five", {"ten.txt": TEN_LINES.replace("line 5", "landed"), "parts/five": "good\n"})
    farm.land("five")
    assert farm.yard.start("run", "--until-idle", env={"PADDOCK_TEST_CRASH_AT": point}).wait() == -signal.SIGKILL
    farm.yard.run(code=0)
    assert farm.outcomes() == {"five": "landed"}
    assert farm.yard.git("status", "--porcelain") == "?? mine.txt"
    assert not (farm.top / ".git" / "index.lock").exists()


def test_a_commit_from_an_older_checkout_is_named_and_its_loss_comes_back_through_the_queue(farm: Farm) -> None:
    edit_line_ten(farm)
    land_lines(farm)
    farm.yard.git("commit", "-q", "-am", "From an older checkout")
    (undone,) = status(farm)["undone"]
    assert undone["files"] == ["parts/five", "ten.txt"]
    restore = str(undone["restore"])
    assert restore in farm.yard.paddock("status")

    farm.yard.paddock(*restore.split()[1:])
    farm.yard.run(code=0)

    both = TEN_LINES.replace("line 5", "landed").replace("line 10", "mine")
    assert (farm.top / "ten.txt").read_text() == both
    assert farm.yard.git("status", "--porcelain") == ""
    assert status(farm)["undone"] == []
    farm.assert_at_rest()


def test_landed_lines_that_an_older_checkout_had_edited_itself_are_named_and_left_to_a_person(farm: Farm) -> None:
    (farm.top / "ten.txt").write_text(TEN_LINES.replace("line 5", "mine"))
    land_lines(farm)
    farm.branch("six", {"ten.txt": TEN_LINES.replace("line 5", "landed twice")}, start="main")
    farm.land("six")
    farm.yard.run(code=0)
    assert status(farm)["undone"] == [], "a change that lands is not made from an older checkout"

    farm.yard.git("commit", "-q", "-am", "From an older checkout")

    (undone,) = status(farm)["undone"]
    assert (undone["files"], undone["contested"]) == (["parts/five", "ten.txt"], ["ten.txt"])
    assert "it edited the landed lines themselves: ten.txt" in " ".join(farm.yard.paddock("status").split())
    short = farm.main[:10]
    said = farm.yard.paddock("queue", "restore", short)
    assert f"{short} replaced landed lines with its own, which stay: ten.txt" in said
    farm.yard.run(code=0)
    assert "parts/five" in farm.files()
    assert [one["files"] for one in status(farm)["undone"]] == [["ten.txt"]]
    assert "replaced landed lines with its own" in farm.yard.paddock("queue", "restore", short, code=1)
    farm.yard.paddock("queue", "restore", short, "--dismiss")
    assert status(farm)["undone"] == []


def test_a_loss_that_was_meant_is_dismissed(farm: Farm) -> None:
    edit_line_ten(farm)
    land_lines(farm)
    farm.yard.git("commit", "-q", "-am", "On purpose")
    farm.yard.paddock("queue", "restore", farm.main[:10], "--dismiss")
    assert status(farm)["undone"] == []
    said = farm.yard.paddock("queue", "restore", farm.main[:10], code=1)
    assert "is not a commit known to have undone landed work" in said


class TestRewound:
    def rewind(self, farm: Farm) -> str:
        landed = farm.main
        farm.yard.git("reset", "-q", "--hard", farm.first)
        return landed

    def test_a_task_main_was_rewound_over_is_not_landed_and_can_be_queued_again(self, farm: Farm) -> None:
        farm.yard.add(write("parts/a"), commit("Add a"), {"say": "done"})
        farm.yard.run(code=0)
        assert farm.yard.task().phase == "landed"
        self.rewind(farm)

        (task,) = status(farm)["tasks"]
        assert (task["phase"], task["lost"], task["reason"]) == ("blocked", True, "landed, then lost from main")
        assert task["unblock"] == "paddock land t1"
        assert "landed, then lost from main" in farm.yard.paddock("show", "t1")
        assert "landed, then lost from main" in farm.yard.paddock("queue")
        assert farm.yard.task().phase == "landed", "a reader writes nothing into the log"

        farm.yard.paddock("land", "t1")
        farm.yard.run()
        farm.yard.paddock("queue", "resume")
        farm.yard.run(code=0)

        assert farm.yard.task().phase == "landed"
        assert "parts/a" in farm.files()
        assert len(farm.yard.records(WorkLost)) == 1

    def test_work_whose_refs_were_let_go_can_be_queued_again_though_git_has_pruned(self, farm: Farm) -> None:
        farm.yard.add(write("parts/a"), commit("Add a"), {"say": "done"})
        farm.yard.run(code=0)
        farm.yard.paddock("janitor")
        assert not farm.yard.git("for-each-ref", "refs/paddock/changes"), "main has all of it"
        self.rewind(farm)
        farm.yard.git("reflog", "expire", "--expire=now", "--all")
        farm.yard.git("gc", "--quiet", "--prune=now")

        assert "queued t1" in farm.yard.paddock("land", "t1")
        farm.yard.run()
        farm.yard.paddock("queue", "resume")
        farm.yard.run(code=0)
        assert "parts/a" in farm.files()

    def test_it_is_told_also_of_a_main_that_was_looked_at_before_the_work_landed(self, farm: Farm) -> None:
        farm.yard.add(write("parts/a"), commit("Add a"), {"say": "done"})
        farm.yard.run(code=0)
        assert [task["lost"] for task in status(farm)["tasks"]] == [False]
        farm.yard.add(write("parts/b"), commit("Add b"), {"say": "done"})
        farm.yard.run(code=0)
        farm.yard.git("reset", "-q", "--hard", "main~1")

        assert [task["lost"] for task in status(farm)["tasks"]] == [False, True]
        assert "queued t2" in farm.yard.paddock("land", "t2")

    def test_the_daemon_records_it_and_also_that_main_has_the_work_again(self, farm: Farm) -> None:
        farm.yard.add(write("parts/a"), commit("Add a"), {"say": "done"})
        farm.yard.run(code=0)
        landed = self.rewind(farm)
        farm.branch("next", {"parts/next": "good\n"}, start=farm.first)
        farm.land("next")
        farm.yard.run()
        assert farm.yard.task().lost

        farm.yard.git("reset", "-q", "--hard", landed)
        assert status(farm)["tasks"][0]["phase"] == "landed"
        farm.yard.paddock("queue", "resume")
        farm.yard.run(code=0)
        assert farm.yard.task().phase == "landed"
        assert len(farm.yard.records(WorkFound)) == 1
        assert farm.outcomes()["next"] == "landed"

    @pytest.mark.parametrize("rewrite", ["rebase -q --force-rebase main^1", "reset -q --hard main^2"])
    def test_a_main_that_was_only_rewritten_has_lost_nothing(self, farm: Farm, rewrite: str) -> None:
        farm.yard.add(write("parts/a"), commit("Add a"), {"say": "done"})
        farm.yard.run(code=0)
        farm.yard.git(*rewrite.split())
        assert farm.yard.git("rev-list", "--count", "--merges", f"{farm.first}..main") == "0"
        (task,) = status(farm)["tasks"]
        assert (task["phase"], task["lost"]) == ("landed", False)
