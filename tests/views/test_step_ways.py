"""The paths of runs as a picture: each run is counted once in each part, and ends as it ended."""

import random

from hypothesis import given
from hypothesis import strategies as st

from paddock.views.insight.step_ways import MOST_PLACES, NO_STEP, PARTS, RARE, find_step_ways, parts_of
from paddock.views.insight.ways import Ways
from paddock.views.insight.ways_picture import draw_ways
from tests.insight.drift.runs import Made, wander


def counts_at(ways: Ways, stage: int) -> dict[str, int]:
    return {place.name: place.count for place in ways.places if place.stage == stage}


def test_a_run_is_told_by_what_it_did_most_in_each_sixth_of_it() -> None:
    path = ["SEARCH", "READ:src"] * 3 + ["EDIT:src", "TEST!"] * 6 + ["EDIT:test", "GIT_WRITE"] * 3
    made = Made()
    ways = find_step_ways([made.run("a", path, ok=True), made.run("a", path, ok=False)], made.symbols)
    words = ["search", "search", "edit", "edit", "edit", "edit tests"]
    assert [counts_at(ways, stage) for stage in range(PARTS)] == [{word: 2} for word in words]
    assert counts_at(ways, PARTS) == {"went well": 1, "failed": 1}
    assert (ways.tasks, ways.attempts) == (1, 2)


def test_a_short_run_has_its_steps_in_several_parts_and_one_without_any_goes_straight_to_its_end() -> None:
    assert parts_of(["a", "b", "c"]) == ["a", "a", "b", "b", "c", "c"]
    assert parts_of(["a"]) == ["a"] * PARTS
    made = Made()
    ways = find_step_ways([made.run("a", (), ok=None)], made.symbols)
    assert [(place.stage, place.name) for place in ways.places] == [(0, NO_STEP), (PARTS, "not decided")]


def test_what_is_rare_in_a_part_is_told_together() -> None:
    made = Made()
    phases = ("SEARCH", "READ", "EDIT", "CREATE", "RUN", "TEST", "BUILD", "FS", "NET", "PLAN")
    runs = [made.run("a", [phase]) for number, phase in enumerate(phases) for _ in range(20 - number)]
    first = counts_at(find_step_ways(runs, made.symbols), 0)
    assert len(first) == MOST_PLACES + 1
    assert first[RARE] == sum(20 - number for number in range(MOST_PLACES, len(phases)))


@given(st.integers(0, 2**32), st.integers(0, 40))
def test_no_run_is_lost_and_none_is_counted_twice(seed: int, count: int) -> None:
    draw, made = random.Random(seed), Made()
    runs = [made.run(f"t{n % 5}", wander(draw, n) if n % 7 else (), ok=bool(n % 3)) for n in range(count)]
    ways = find_step_ways(runs, made.symbols)
    with_steps = sum(bool(kept.path) for kept in runs)
    assert sum(counts_at(ways, 0).values()) == sum(counts_at(ways, PARTS).values()) == count
    assert all(sum(counts_at(ways, stage).values()) == with_steps for stage in range(1, PARTS))
    for place in {band.source for band in ways.bands}:
        assert sum(band.count for band in ways.bands if band.source == place) == ways.places[place].count
    assert len(draw_ways(ways).bands) == len(ways.bands)
