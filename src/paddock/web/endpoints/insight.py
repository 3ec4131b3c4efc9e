"""What the Insight page shows: what the fleet does, seen over days."""

import heapq
from typing import Literal, TypeAlias

from paddock.core.events import TurnEnded
from paddock.store.protocol import Query
from paddock.views.document import Document, iso_or_none
from paddock.views.insight.overview import InsightView, view_insight
from paddock.views.insight.ways import KINDS, find_ways
from paddock.views.insight.ways_picture import WaysPicture, draw_ways
from paddock.web.endpoint import Asked, NoBody, NoQuery, Visit

Span: TypeAlias = Literal["24h", "7d", "30d", "all"]
DAY = 86_400.0
_SECONDS: dict[Span, float] = {"24h": DAY, "7d": 7 * DAY, "30d": 30 * DAY}


class SpanQuery(Asked, frozen=True):
    since: Span = "7d"


class WaysView(Document, frozen=True, kw_only=True):
    """`began` is the beginning of the time that is looked at, None for all of the log."""

    seq: int
    began: str | None
    picture: WaysPicture


def began(span: Span, now: float) -> float | None:
    return None if span == "all" else now - _SECONDS[span]


def read_insight(visit: Visit[NoQuery, NoBody]) -> InsightView:
    return view_insight(visit.board, visit.store.records(Query(kind=TurnEnded.kind)))


def read_ways(visit: Visit[SpanQuery, NoBody]) -> WaysView:
    board, since = visit.board, began(visit.query.since, visit.now)
    queries = (Query(kind=kind, until=board.seq, since=since) for kind in KINDS)
    records = heapq.merge(*map(visit.store.records, queries), key=lambda record: record.seq)
    return WaysView(seq=board.seq, began=iso_or_none(since), picture=draw_ways(find_ways(board, records)))
