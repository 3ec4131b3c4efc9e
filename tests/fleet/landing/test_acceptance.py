"""Acceptance in a whole fleet: before review, again with its trains, and back to the worker with what failed."""

from paddock.core.events import MessageSent
from paddock.core.ids import TaskId
from paddock.core.merge.events import RunEnded, RunStarted
from paddock.core.merge.model import Result
from paddock.core.review.events import CheckEnded, ReviewSentBack
from tests.fleet.landing.conftest import MakeFarm
from tests.fleet.yard import commit, play, write

EXACT = {
    "commands": ["sh tests/accept.sh"],
    "files": {"tests/accept.sh": "cat parts/one; grep -qx exact parts/one\n"},
}
ALONE = {"commands": [["sh", "-c", "echo who is there; test ! -e parts/one"]]}


def test_what_fails_goes_back_before_review_and_what_fails_on_main_goes_back_from_its_train(
    make_farm: MakeFarm,
) -> None:
    """t1 gets it right in its second turn and lands; t2 is fine by itself, but not with t1 in main."""
    farm = make_farm()
    yard = farm.yard
    begun, landed = yard.folder / "t2-begun", yard.folder / "t1-landed"
    again = {"turn": 2}
    first = play(
        {"wait_for": str(begun)},
        write("parts/one", "nearly\n"),
        commit("Try"),
        {**write("parts/one", "exact\n"), **again},
        {**commit("Fix"), **again},
    )
    second = play(
        {"run": ["touch", str(begun)]}, {"wait_for": str(landed)}, write("parts/two", "good\n"), commit("Two")
    )
    yard.add_all([{"brief": first, "accept": EXACT}, {"brief": second, "accept": ALONE}])
    daemon = yard.start("run", "--until-idle")
    yard.await_board(lambda board: board.tasks[TaskId("t1")].phase == "landed", "the landing of t1")
    landed.touch()
    assert daemon.wait() in (0, 1)

    checked = [record.event for record in yard.records(CheckEnded, "t1") if isinstance(record.event, CheckEnded)]
    assert [one.passed for one in checked] == [False, True]
    (sent,) = (record.event for record in yard.records(ReviewSentBack, "t1"))
    assert isinstance(sent, ReviewSentBack)
    assert "nearly" in sent.message
    assert "tests/accept.sh" not in farm.files("main"), "what was laid over it is no part of the change"

    runs = {one.run: one for record in yard.records(RunStarted) if isinstance(one := record.event, RunStarted)}
    ended = [record.event for record in yard.records(RunEnded) if isinstance(record.event, RunEnded)]
    held = [one for one in ended if runs[one.run].accepts]
    assert {(runs[one.run].members[0].id, one.result) for one in held} == {("t1", Result.PASS), ("t2", Result.FAIL)}
    assert all(one.ran == ("ci", f"accept:{runs[one.run].members[0].id}") for one in held)
    assert farm.decided("t2").outcome == "rejected"
    (asked,) = (record.event for record in yard.records(MessageSent, "t2"))
    assert isinstance(asked, MessageSent)
    assert "who is there" in asked.text
    farm.assert_green()
    farm.yard.assert_nothing_is_left()
