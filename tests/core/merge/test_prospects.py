"""What a queued change is said to wait for, and when it is said to land."""

from __future__ import annotations

from statistics import median

import pytest
from bench.queue.engine import Engine
from bench.queue.sieve import SieveAndTrain
from bench.queue.world import Scenario, World
from msgspec.structs import replace

from paddock.core.merge import events as ev
from paddock.core.merge.model import Result
from paddock.core.merge.prospects import in_order, landing_seconds, state_words
from tests.core.merge.claims import answer, run_of, with_changes
from tests.core.merge.lab import Lab, change, started_lab


def words(lab: Lab, name: str) -> str:
    return state_words(lab.queue, lab.queue.entries[name])


def one_waiting(slots: int = 1) -> Lab:
    """t1 is tested and t2 waits."""
    lab = with_changes(started_lab(slots), "t1")
    lab.submit(change("t2"))
    return lab


def test_who_waits_for_a_slot_does_so_only_while_slots_are_given_out() -> None:
    lab = one_waiting()
    assert words(lab, "t1").startswith("in ")
    assert words(lab, "t2") == "waits for a slot"
    lab.record(ev.QueuePaused())
    assert words(lab, "t2") == "waits: the queue is paused"
    lab.record(ev.QueueResumed())
    lab.record(ev.QueueFrozen())
    assert words(lab, "t2") == "waits for a slot, then for the queue to be unfrozen"
    lab.record(ev.QueueHalted("somebody must look"))
    assert words(lab, "t2") == "waits: the queue is halted"


def test_what_came_after_a_drain_waits_for_its_end() -> None:
    lab = one_waiting()
    lab.record(ev.QueueDrained())
    lab.tick()
    lab.submit(change("t3"))
    assert words(lab, "t2") == "waits for a slot"
    assert words(lab, "t3") == "waits: the queue is draining"
    assert landing_seconds(lab.queue, 1, lab.now)["t3"] is None


def test_what_has_passed_says_what_keeps_it_from_landing() -> None:
    lab = with_changes(started_lab(1), "t1")
    lab.record(ev.QueueFrozen())
    answer(lab, run_of(lab, "t1"))
    assert words(lab, "t1") == "passed, lands when the queue is unfrozen"
    lab.record(ev.QueueUnfrozen())
    lab.record(ev.RemoteLost("origin", "no route to host"))
    assert words(lab, "t1") == "passed, waits for the remote `origin`, which cannot be reached"
    lab.record(ev.RemoteReached("origin"))
    assert words(lab, "t1") == "passed, waits for a train"


def test_an_untested_main_and_a_lost_machine_are_named() -> None:
    lab = one_waiting()
    lab.push_foreign("hotfix")
    lab.wake()
    assert words(lab, "t2") == "waits until main itself passes"
    lab.queue = replace(lab.queue, infra_streak=9)
    assert words(lab, "t2") == "waits until CI works again"


def test_what_a_change_is_built_on_is_waited_for() -> None:
    lab = one_waiting()
    lab.submit_on("t2", change("t3"))
    assert words(lab, "t3") == "waits for t2"


def test_nobody_knows_when_before_anything_was_measured() -> None:
    lab = with_changes(Lab(slots=1), "t1")
    assert landing_seconds(lab.queue, 1, lab.now) == {"t1": None}


@pytest.mark.parametrize(
    "switch", [ev.QueuePaused(), ev.QueueFrozen(), ev.QueueHalted("why"), ev.RemoteLost("origin", "gone")]
)
def test_nobody_knows_when_while_the_queue_stands_still(switch: ev.QueueEvent) -> None:
    lab = one_waiting()
    lab.record(switch)
    assert landing_seconds(lab.queue, 1, lab.now) == {"t1": None, "t2": None}


def test_a_run_under_way_is_counted_and_those_behind_come_later() -> None:
    lab = one_waiting()
    lab.now += 4.0
    found = landing_seconds(lab.queue, 1, lab.now)
    assert found["t1"] is not None
    assert found["t2"] is not None
    assert found["t1"] < found["t2"]


def test_a_dependent_lands_no_earlier_than_its_base() -> None:
    lab = started_lab(4)
    lab.submit(change("t1"))
    lab.submit_on("t1", change("t2", priority=5))
    found = landing_seconds(lab.queue, 4, lab.now)
    assert found["t1"] is not None
    assert found["t2"] is not None
    assert found["t1"] <= found["t2"]


def test_what_conflicts_with_work_in_flight_has_no_time_and_its_dependents_neither() -> None:
    lab = started_lab(4)
    lab.truth.conflicts.add(frozenset({("t1", 1), ("t2", 1)}))
    with_changes(lab, "t1", "t2")
    lab.submit_on("t2", change("t3"))
    found = landing_seconds(lab.queue, 4, lab.now)
    assert found["t1"] is not None
    assert (found["t2"], found["t3"]) == (None, None)
    lab.queue = replace(lab.queue, running={i: run for i, run in lab.queue.running.items() if not run.holds("t2")})
    assert words(lab, "t2") == f"waits for the train {run_of(lab, 't1')}, which it conflicts with"


def test_the_order_is_the_planners() -> None:
    lab = started_lab(1)
    lab.submit(change("t1"))
    lab.submit(change("t2", priority=1))
    assert [entry.change.id for entry in in_order(lab.queue)] == ["t2", "t1"]
    lab.now += 100_000.0
    lab.submit(change("t3", priority=1))
    assert [entry.change.id for entry in in_order(lab.queue)] == ["t2", "t1", "t3"]


@pytest.mark.parametrize("arrivals", [None, 1.0])
@pytest.mark.parametrize("bad", [0.05, 0.2])
def test_half_of_all_changes_land_about_when_they_were_said_to(bad: float, arrivals: float | None) -> None:
    scenario = Scenario(120, 4, bad, 0.02, 0.01, arrivals, seed=5)
    policy = SieveAndTrain(scenario.slots)
    told: dict[str, tuple[float, float]] = {}
    ratios: list[float] = []

    class Watched(Engine):
        def _obey(self, now: float) -> None:
            super()._obey(now)
            unknown = [name for name in policy.queue.entries if name not in told]
            found = landing_seconds(policy.queue, scenario.slots, now) if unknown else {}
            told.update((name, (now, seconds)) for name in unknown if (seconds := found[name]) is not None)

        def _land(self, changes: tuple[int, ...], now: float) -> None:
            known = [told[f"b{number}"] for number in changes if f"b{number}" in told]
            ratios.extend((now - at) / seconds for at, seconds in known if seconds)
            super()._land(changes, now)

    Watched(World.draw(scenario), policy).run()
    assert len(ratios) > 80
    assert 0.8 <= median(ratios) <= 1.4


def test_a_lost_run_is_no_measurement() -> None:
    lab = with_changes(Lab(slots=1), "t1")
    lab.tick()
    lab.finish(next(iter(lab.processes)), Result.INFRA)
    assert landing_seconds(lab.queue, 1, lab.now) == {"t1": None}
