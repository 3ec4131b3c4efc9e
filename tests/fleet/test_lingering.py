"""An engine that has said its last word and does not end is ended, and what it did counts."""

from tests.fleet.yard import Yard, commit, write


def test_an_engine_that_never_exits_after_its_last_word_has_still_delivered(yard: Yard) -> None:
    yard.add(write("a.txt"), commit("Add a"), {"done": "all of it", "linger": 600})
    yard.paddock("run", "--until-idle", env={"PADDOCK_TIMEOUTS_LINGER": "300ms"})
    assert (yard.task().phase, yard.attempt().outcome) == ("approval", "delivered")
    assert yard.attempt().ended_by == "lingering"
    yard.assert_nothing_is_left()


def test_lingering_does_not_turn_a_failure_into_success(yard: Yard) -> None:
    yard.add({"say": "hm"}, {"done": "nothing at all", "linger": 600}, attempts=1)
    yard.paddock("run", "--until-idle", env={"PADDOCK_TIMEOUTS_LINGER": "300ms"}, code=1)
    assert (yard.task().phase, yard.attempt().outcome) == ("failed", "empty")
