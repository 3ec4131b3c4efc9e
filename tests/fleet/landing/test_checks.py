"""Checks that look at some paths only, that are run again, and that are in quarantine."""

from pathlib import Path

from paddock.core.merge.model import Purpose, Run
from tests.fleet.landing.conftest import MakeFarm
from tests.fleet.landing.lab import Farm

# A suite of three: each says in a file outside the sandbox that it ran, and on what.
SUITE = """\
[[land.checks]]
name = "all"
run = "sh ./ci.sh && echo all >> {ran}"

[[land.checks]]
name = "web"
run = "echo web >> {ran}; ! grep -rlx broken web"
paths = ["web/**"]

[[land.checks]]
name = "api"
run = "echo api >> {ran}; ! grep -rlx broken api"
paths = ["api/**"]
"""


def members_of(farm: Farm, run: Run) -> set[str]:
    titles = {queued.change.id: queued.change.title for queued in farm.queued()}
    return {titles[member.id] for member in run.members}


def test_only_what_a_change_touches_is_run_and_what_it_breaks_is_found(make_farm: MakeFarm, tmp_path: Path) -> None:
    farm = make_farm(SUITE.format(ran=tmp_path / "ran"), ci="")
    farm.branch("page", {"web/page": "good\n"})
    farm.branch("bad-page", {"web/bad": "broken\n"})
    farm.branch("route", {"api/route": "good\n"})
    farm.branch("notes", {"notes": "good\n"})
    farm.land("notes")
    farm.yard.run(code=0)
    assert [run.checks for run in farm.queue.ended.values() if run.members] == [("all",)]
    farm.land("page", "bad-page", "route")

    farm.yard.run(code=0)

    assert farm.outcomes() == {"page": "landed", "bad-page": "rejected", "route": "landed", "notes": "landed"}
    runs = [run for run in farm.queue.ended.values() if run.reused is None]
    assert all(not run.since for run in runs if run.purpose in (Purpose.BASELINE, Purpose.CONTROL))
    looks_at = {"page": "web", "bad-page": "web", "route": "api"}
    for run in (run for run in runs if run.since):
        wanted = {looks_at[name] for name in members_of(farm, run) if name in looks_at}
        assert {"all", *wanted} <= set(run.checks), "every member's checks are asked"
    assert "only all" in farm.yard.paddock("queue", "why", "notes")
    farm.assert_green()


def test_a_train_on_another_one_is_put_to_the_checks_of_both(make_farm: MakeFarm, tmp_path: Path) -> None:
    farm = make_farm(SUITE.format(ran=tmp_path / "ran"), ci="")
    farm.branch("page", {"web/page": "good\n"})
    farm.branch("route", {"api/route": "good\n"})
    farm.land("page", "route")

    farm.yard.run(code=0)

    assert set(farm.outcomes().values()) == {"landed"}
    stacked = [run for run in farm.queue.ended.values() if run.members and run.base != farm.first]
    assert stacked
    for run in stacked:
        moved = farm.yard.git("diff", "--name-only", run.since or farm.first, run.commit).split()
        if any(path.startswith("web/") for path in moved) and any(path.startswith("api/") for path in moved):
            assert not run.since, "both are asked, which is all there are"


def test_a_check_that_fails_is_run_again_within_the_run_and_said_to_flake(make_farm: MakeFarm, tmp_path: Path) -> None:
    tries = tmp_path / "tries"
    flaky = (
        f'test "$(git rev-parse HEAD)" = "$(cat {tries} 2>/dev/null)" || {{ git rev-parse HEAD > {tries}; exit 1; }}'
    )
    checks = f"[[land.checks]]\nname = \"tests\"\nrun = '''{flaky}'''\nretry = 1\n"
    farm = make_farm(checks, ci="")
    farm.branch("one", {"parts/one": "good\n"})
    farm.land("one")

    farm.yard.run(code=0)

    assert farm.outcomes() == {"one": "landed"}
    assert farm.runs() == 2, "main and the change, once each"
    assert all(run.flaked == ("tests",) for run in farm.queue.ended.values())
    assert "`tests` failed, then passed on retry" in farm.yard.paddock("queue", "why", "one")
    shown = farm.yard.paddock("queue")
    assert "tests      flaked 2 times in 2 runs; retried up to 1 time" in shown


def test_a_check_that_goes_on_failing_fails_the_run(make_farm: MakeFarm) -> None:
    farm = make_farm('[[land.checks]]\nname = "tests"\nrun = "sh ./ci.sh"\nretry = 2\n', ci="")
    farm.branch("one", {"parts/one": "bad\n"})
    farm.branch("two", {"parts/two": "good\n"})
    farm.land("one", "two")

    farm.yard.run(code=0)

    assert farm.outcomes() == {"one": "rejected", "two": "landed"}
    failed = [run for run in farm.queue.ended.values() if run.failed]
    assert {run.failed for run in failed} == {("tests",)}
    turns = list((farm.yard.runs_folder / failed[-1].id).glob("turn-*.out"))
    assert len(turns) == 3


def test_a_check_in_quarantine_is_run_and_shown_and_keeps_nobody_out(make_farm: MakeFarm) -> None:
    checks = (
        '[[land.checks]]\nname = "e2e"\nrun = "echo broken again; exit 1"\nquarantine = true\n'
        '[[land.checks]]\nname = "tests"\nrun = "sh ./ci.sh"\n'
    )
    farm = make_farm(checks, ci="")
    farm.branch("one", {"parts/one": "good\n"})
    farm.branch("two", {"parts/two": "bad\n"})
    farm.land("one", "two")

    farm.yard.run(code=0)

    assert farm.outcomes() == {"one": "landed", "two": "rejected"}
    assert all(run.quarantined == ("e2e",) for run in farm.queue.ended.values() if run.result == "pass")
    assert "in quarantine, never decides a run; failed" in farm.yard.paddock("queue")
    assert "`e2e` failed, which does not count" in farm.yard.paddock("queue", "why", "one")


def test_with_every_check_in_quarantine_nothing_lands(make_farm: MakeFarm) -> None:
    farm = make_farm('[[land.checks]]\nname = "e2e"\nrun = "true"\nquarantine = true\n', ci="", approval="human")
    farm.branch("one", {"parts/one": "good\n"})
    said = farm.yard.paddock("land", "--branch", "one", code=1)
    assert "every check is in quarantine, so nothing would test what lands" in said
