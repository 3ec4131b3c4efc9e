"""What is wrong with the fleet as a whole, that somebody knows of it, and the rules that tell."""

from typing import Annotated

from msgspec import Meta

from paddock.core.alerts.events import AlertAcknowledged
from paddock.core.board import Board
from paddock.core.errors import Misuse
from paddock.core.events import Draft
from paddock.core.intent.alerts import NOTE_CHARS, acknowledge_alerts, acknowledge_all
from paddock.views.alert_rules import AlertRulesView, view_rules
from paddock.views.alerts import AlertsView, view_alerts
from paddock.views.document import Document
from paddock.web.endpoint import Asked, NoBody, NoQuery, Visit

Name = Annotated[str, Meta(min_length=1, max_length=40)]
MOST = 200


class AlertsQuery(Asked, frozen=True):
    """With `all` also those that are over."""

    all: bool = False


def read_alerts(visit: Visit[AlertsQuery, NoBody]) -> AlertsView:
    return view_alerts(visit.board, show_all=visit.query.all)


def read_rules(visit: Visit[NoQuery, NoBody]) -> AlertRulesView:
    return view_rules(visit.workspace.config)


class AcknowledgeBody(Asked, frozen=True):
    """`alerts` such as `a7`, or `all` that wait for somebody. `note` is kept in the log."""

    alerts: Annotated[tuple[Name, ...], Meta(max_length=MOST)] = ()
    all: bool = False
    note: Annotated[str, Meta(max_length=NOTE_CHARS)] = ""


class AcknowledgedView(Document, frozen=True, kw_only=True):
    """`ids` are those that waited for somebody until now."""

    ids: list[str]
    seq: int


def acknowledge(visit: Visit[NoQuery, AcknowledgeBody]) -> AcknowledgedView:
    body = visit.body
    if body.all and body.alerts:
        raise Misuse("`alerts` were named, and `all` takes all of them", "give one or the other")

    def decide(board: Board) -> list[Draft]:
        return acknowledge_all(board, body.note) if body.all else acknowledge_alerts(board, body.alerts, body.note)

    records = visit.workspace.record(decide)
    done = [record.event.id for record in records if isinstance(record.event, AlertAcknowledged)]
    return AcknowledgedView(ids=done, seq=records[-1].seq if records else visit.workspace.board().seq)
