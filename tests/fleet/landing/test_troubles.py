"""What Paddock itself cannot do is tried again ever more rarely, told once, shown, and left to a person in the end."""

import asyncio
import json
from pathlib import Path

from paddock.config.load import load_config
from paddock.core.events import AttemptEnded, DaemonTroubled
from paddock.core.troubles import Patience, Trouble
from paddock.fleet.daemon import Daemon, Orders
from paddock.fleet.ledger import take_lead
from paddock.fleet.site import Site
from paddock.git.repo import discover
from paddock.sessions.host import this_process
from paddock.store.sqlite import SqliteStore
from tests.fleet.landing.lab import Farm
from tests.fleet.yard import Yard, commit, write

IMPATIENT = Patience(first_seconds=0.01, longest_seconds=0.05, tries=4)


def run_impatiently(yard: Yard, patience: Patience = IMPATIENT) -> list[Trouble]:
    """A daemon in this process, until it is idle or gives up; what it gave up."""

    async def run() -> list[Trouble]:
        store = SqliteStore(yard.log_path)
        config = load_config(yard.top, yard.env).config
        site = Site(discover(yard.top), config, yard.log_path.parent, yard.marker, log_identity=yard.identity)
        ledger = take_lead(store, this_process("daemon"), site.seat)
        daemon = Daemon(site, ledger, Orders(until_idle=True))
        daemon.troubles.patience = patience
        try:
            await daemon.run()
            return daemon.given_up
        finally:
            ledger.give_up()
            store.close()

    return asyncio.run(run())


def troubles(yard: Yard) -> list[DaemonTroubled]:
    return [record.event for record in yard.records(DaemonTroubled) if isinstance(record.event, DaemonTroubled)]


def notices(yard: Yard) -> list[str]:
    told = json.loads(yard.paddock("status", "--json"))["needs_you"]["notices"]
    return [notice["text"] for notice in told if notice["kind"] == "trouble"]


def driving(words: list[str]) -> list[str]:
    """Where an attempt has no folder, its desk cannot be opened either: that is told apart."""
    return [one for one in words if one.startswith("driving ")]


def block_attempts(yard: Yard) -> Path:
    """A file where the output of the task's attempts belongs: no drive of them gets anywhere."""
    blocked = yard.log_path.parent / "attempts"
    blocked.write_text("in the way\n")
    return blocked


def test_a_drive_that_always_fails_ends_in_a_blocked_task_after_one_record(yard: Yard) -> None:
    in_the_way = block_attempts(yard)
    task = yard.add(write("a.txt"), commit("Add a"))
    assert run_impatiently(yard) == []
    [trouble] = troubles(yard)
    assert trouble.what == f"driving {task}.1"
    assert "attempts" in trouble.problem
    blocked = yard.task(task)
    assert (blocked.phase, blocked.unblock) == ("blocked", f"paddock retry {task}")
    assert blocked.reason.startswith("Paddock gave up on it after 4 tries: ")
    assert trouble.problem in blocked.reason
    assert len(yard.records(AttemptEnded)) == 1
    assert yard.attempt(task).outcome == "lost"
    assert f"run: paddock retry {task}" in yard.paddock("status")
    assert not notices(yard), "what has been handed to a person is not tried again"
    assert not yard.board().live

    in_the_way.unlink()
    yard.paddock("retry", task)
    yard.run(code=0)
    assert yard.task(task).phase == "approval"
    yard.assert_nothing_is_left()


def test_a_drive_that_fails_for_a_while_is_shown_and_nothing_is_lost_when_it_heals(yard: Yard) -> None:
    in_the_way = block_attempts(yard)
    task = yard.add(write("a.txt"), commit("Add a"))
    fleet = yard.start("run", "--until-idle")
    yard.await_that(lambda: driving(notices(yard)), "the trouble")
    [notice] = driving(notices(yard))
    assert notice.startswith(f"driving {task}.1: FileExistsError") or "NotADirectoryError" in notice
    in_the_way.unlink()
    assert fleet.wait() == 0, fleet.words
    assert yard.task(task).phase == "approval"
    assert len(driving([trouble.what for trouble in troubles(yard)])) == 1
    assert (yard.task(task).started, notices(yard)) == (1, [])
    yard.assert_nothing_is_left()


def test_a_lasting_failure_of_the_queue_is_told_once_shown_and_tried_a_bounded_number_of_times(farm: Farm) -> None:
    farm.branch("one", {"parts/one": "good\n"})
    farm.land("one")
    bench = farm.top / ".git" / "paddock" / "workbench.git"
    bench.rename(bench.with_name("away"))
    bench.touch()
    [given_up] = run_impatiently(farm.yard)
    assert (given_up.what, given_up.times) == ("landing", IMPATIENT.tries)
    told = [trouble.what for trouble in troubles(farm.yard)]
    assert sorted(told) == ["cleaning up", "landing"], "whoever needs it has the trouble, once"
    [notice] = [notice for notice in notices(farm.yard) if notice.startswith("landing: ")]
    assert "workbench.git" in notice
    assert f"(failed {IMPATIENT.tries} times, first " in notice
    assert "\n    run: paddock log --kind daemon.troubled" in farm.yard.paddock("status")

    bench.unlink()
    assert run_impatiently(farm.yard) == []
    assert farm.outcomes() == {"one": "landed"}
    assert not notices(farm.yard)
    farm.assert_green()


def test_a_main_that_cannot_be_moved_halts_the_queue_until_a_person_has_looked(farm: Farm) -> None:
    lock = farm.top / ".git" / "refs" / "heads" / "main.lock"
    lock.touch()
    farm.branch("one", {"parts/one": "good\n"})
    farm.land("one")
    assert run_impatiently(farm.yard, Patience(0.01, 0.05, tries=2)) == []
    halted = farm.queue.halted
    assert halted is not None
    assert halted.reason.startswith("main cannot be moved: ")
    assert "main.lock" in halted.reason
    assert [trouble.what for trouble in troubles(farm.yard)] == ["landing"]
    assert farm.main == farm.first

    lock.unlink()
    farm.yard.paddock("queue", "resume")
    farm.yard.run(code=0)
    assert farm.outcomes() == {"one": "landed"}
    farm.assert_green()
