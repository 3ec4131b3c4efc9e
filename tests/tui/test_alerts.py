"""Alerts on the screen: how many, all of them, and a key that says that somebody knows."""

from contextlib import closing

from paddock.core.alerts.events import AlertRaised, AlertSeverity
from paddock.core.alerts.model import AlertState
from paddock.core.events import Draft
from paddock.store.location import log_of, open_store
from paddock.store.protocol import Author
from paddock.tui.dialogs import ShowLines
from tests.tui.conftest import Fleet, Top


def raise_alerts(fleet: Fleet) -> None:
    page = AlertRaised("a1", "cause:f1", "never-ran", AlertSeverity.PAGE, "claude never ran", evidence=("t7.1: no",))
    ticket = AlertRaised("a2", "stuck:t2.1", "stuck", AlertSeverity.TICKET, "t2.1 is stuck", run="paddock tail t2")
    with closing(open_store(log_of(fleet.workspace.repo))) as store:
        store.append(lambda _: [Draft(page), Draft(ticket)], Author("daemon", 0))


def test_alerts_are_counted_shown_and_acknowledged_by_keys(fleet: Fleet) -> None:
    raise_alerts(fleet)

    async def script(top: Top) -> None:
        assert "2 alerts" in top.bar("top")
        assert "! alerts" in top.bar("keys")
        await top.press("!")
        assert isinstance(top.app.screen, ShowLines)
        await top.until(lambda: "t7.1: no" in top.text and "run: paddock tail t2" in top.text, "all of them")
        await top.press("2")
        await top.until(lambda: fleet.board.alerts.standing["stuck:t2.1"].state is AlertState.ACKNOWLEDGED)
        await top.until(lambda: "1 alert" in top.bar("top") and "2 alerts" not in top.bar("top"))
        await top.press("!")
        await top.press("a")
        await top.until(lambda: not any(one.is_open for one in fleet.board.alerts.standing.values()))
        await top.until(lambda: "! alerts" not in top.bar("keys"))

    fleet.play(script, size=(160, 40))
