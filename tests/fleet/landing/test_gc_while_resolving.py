"""Clean-up keeps its hands off the worktree in which a person resolves a conflict."""

import json
from pathlib import Path

from tests.fleet.landing.lab import Farm
from tests.fleet.landing.test_sent_back import run_until_both_are_done, two_that_conflict


def test_gc_spares_a_conflict_being_resolved_until_its_task_is_given_up(farm: Farm) -> None:
    two_that_conflict(farm)
    run_until_both_are_done(farm)
    place = Path(json.loads(farm.yard.paddock("resolve", "t2", "--json"))["worktree"])

    farm.yard.paddock("gc")
    assert "<<<<<<<" in (place / "ten.txt").read_text()

    farm.yard.paddock("cancel", "t2")
    assert str(place) in farm.yard.paddock("gc")
    assert not place.exists()
