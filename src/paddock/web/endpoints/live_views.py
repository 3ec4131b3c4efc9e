"""The live views, each as one answer: what a page shows first."""

from typing import Annotated

import msgspec
from msgspec import Meta

from paddock.core.ids import parse_task
from paddock.views.board.page import LiveBoard
from paddock.views.board.row_filter import filter_rows
from paddock.views.board.rows import TaskRow
from paddock.views.document import SCHEMA, Document, to_json_line
from paddock.views.fleet.page import MOST_HOURS, FleetDocument, LiveFleet
from paddock.views.queue.picture import MOST_MINUTES, SHOWN_MINUTES, Picture
from paddock.views.sight import sight_of
from paddock.views.tasks.page import LiveTask
from paddock.web.endpoint import Asked, FilterText, NoBody, NoQuery, Printed, Visit


def read_board(visit: Visit[NoQuery, NoBody]) -> Printed:
    return whole(LiveBoard().look(sight_of(visit.workspace, visit.store, visit.now)))


class SearchQuery(Asked, frozen=True):
    """`where` is a filter as on the board and the command line: `phase=blocked and age>2h`, words, `-word`. `text` is
    its older name."""

    where: FilterText = ""
    text: FilterText = ""


class FoundView(Document, frozen=True, kw_only=True):
    seq: int
    tasks: list[TaskRow]


def search_tasks(visit: Visit[SearchQuery, NoBody]) -> FoundView:
    """Among what the board shows: all that is unfinished, and what finished last."""
    board = visit.known.board.look(sight_of(visit.workspace, visit.store, visit.now))
    where = visit.query.where or visit.query.text
    return FoundView(seq=board.seq, tasks=filter_rows(board.tasks.values(), where, visit.now))


class PictureQuery(Asked, frozen=True):
    minutes: Annotated[int, Meta(ge=1, le=MOST_MINUTES)] = SHOWN_MINUTES


def read_picture(visit: Visit[PictureQuery, NoBody]) -> Picture:
    sight = sight_of(visit.workspace, visit.store, visit.now)
    return visit.known.queue.whole(sight, visit.query.minutes)


class FleetQuery(Asked, frozen=True):
    hours: Annotated[float, Meta(gt=0, le=MOST_HOURS)] = 6.0


def read_fleet(visit: Visit[FleetQuery, NoBody]) -> FleetDocument:
    return LiveFleet().whole(sight_of(visit.workspace, visit.store, visit.now), visit.query.hours)


def read_task(visit: Visit[NoQuery, NoBody]) -> Printed:
    task = visit.board.task(parse_task(visit.path["id"])).id
    return whole(LiveTask(task).look(sight_of(visit.workspace, visit.store, visit.now)))


def whole(view: msgspec.Struct) -> Printed:
    """A live view as an answer of its own."""
    if isinstance(view, Document):
        return Printed(to_json_line(view))
    return Printed(b'{"schema":%d,' % SCHEMA + to_json_line(view)[1:])
