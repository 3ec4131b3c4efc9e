"""Alerts of a real daemon: raised while it runs, and neither lost nor told twice when it is killed."""

import signal

import pytest

from paddock.core.alerts.events import AlertRaised
from paddock.core.alerts.model import AlertState
from paddock.core.board import Board
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Yard

SOON = {"PADDOCK_INSIGHT_FOLLOW": "true", "PADDOCK_INSIGHT_EVERY": "200ms"}


def states(board: Board) -> list[tuple[str, AlertState]]:
    return [(alert.rule, alert.state) for alert in board.alerts.standing.values()]


def engine_is_gone(yard: Yard) -> None:
    for _ in range(2):
        yard.add({"never_start": 127}, attempts=1)


@pytest.mark.parametrize("point", ["insight.decided", "insight.recorded"])
def test_an_engine_that_does_not_run_is_told_once_however_often_the_daemon_dies(
    make_yard: MakeYard, point: str
) -> None:
    yard = make_yard(**SOON)
    engine_is_gone(yard)
    killed = yard.start("run", env={"PADDOCK_TEST_CRASH_AT": point})
    assert killed.wait() == -signal.SIGKILL
    yard.start("run")
    yard.await_board(lambda board: states(board) == [("never-ran", AlertState.OPEN)], "the alert")
    yard.paddock("alerts", "ack", "--all")
    yard.paddock("down")
    seq = yard.board().seq
    yard.start("run")
    yard.await_board(lambda board: board.seq > seq + 2, "another daemon")
    assert states(yard.board()) == [("never-ran", AlertState.ACKNOWLEDGED)]
    yard.paddock("down")
    assert len(yard.records(AlertRaised)) == 1
