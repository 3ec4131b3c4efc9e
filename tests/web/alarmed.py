"""Alerts in the log of a repository, as its daemon would have recorded them."""

from contextlib import closing

from paddock.core.alerts.events import AlertRaised, AlertResolved, AlertSeverity
from paddock.core.events import Draft, Event
from paddock.store.location import open_store
from paddock.store.protocol import Author
from tests.fleet.yard import Yard

DAEMON = Author("daemon", 0)


def record(yard: Yard, *events: Event) -> None:
    with closing(open_store(yard.log_path)) as store:
        store.append(lambda _: [Draft(event) for event in events], DAEMON)


def raise_alerts(yard: Yard) -> None:
    """One that pages, one ticket with `<b>` in it, and one that is over."""
    never_ran = AlertRaised(
        *("a1", "cause:f1", "never-ran", AlertSeverity.PAGE),
        title="the last 3 agents of claude never ran: mini: command not found",
        evidence=("t7.1: mini: command not found", "t8.1: mini: command not found"),
        run="paddock engines check claude",
        count=3,
        episode=2,
    )
    stuck = AlertRaised(
        *("a2", "stuck:t2.1", "stuck", AlertSeverity.TICKET),
        title="t2.1 has met the same error 5 times: RUN make: <b>no rule</b>",
        run="paddock tail t2",
    )
    over = AlertRaised("a3", "unpriced:m", "unpriced", AlertSeverity.TICKET, "`m` has no price")
    record(yard, never_ran, stuck, over, AlertResolved("a3", "not seen for 2m"))
