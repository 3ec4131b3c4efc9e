"""The log, as it can be read and searched."""

from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Annotated

import msgspec
from msgspec import Meta

from paddock.core.errors import NotFound
from paddock.core.events import Record
from paddock.core.ids import parse_task
from paddock.store.protocol import Query
from paddock.views.document import Document
from paddock.views.log.narration import describe
from paddock.views.log.records import ToldRecord, in_brief, tell_record, view_record
from paddock.web.endpoint import Asked, Count, NoBody, NoQuery, Visit

MOST_RECORDS = 1_000
SEARCHED_RECORDS = 200_000
"""Records that one search looks through, from where it begins."""


class LogQuery(Asked, frozen=True):
    """Records after `after` or before `before`; `newest` gives the last ones of these. `text` is looked for in
    words and body, without regard to case."""

    after: Count = 0
    before: Count | None = None
    task: str | None = None
    kind: Annotated[str, Meta(max_length=80)] | None = None
    text: Annotated[str, Meta(max_length=200)] | None = None
    limit: Annotated[int, Meta(ge=1, le=MOST_RECORDS)] = 100
    newest: bool = False
    brief: bool = False


class LogPage(Document, frozen=True, kw_only=True):
    """`more`: there are more in the direction that was asked for. `seq` is the newest record of all."""

    seq: int
    records: list[ToldRecord]
    more: bool


def read_log(visit: Visit[LogQuery, NoBody]) -> LogPage:
    store, query = visit.store, visit.query
    board = store.board()
    until = board.seq if query.before is None else min(board.seq, query.before - 1)
    asked = Query(
        after=query.after,
        until=until,
        task=parse_task(query.task) if query.task else None,
        kind=query.kind or None,
    )
    backwards = query.newest or query.before is not None
    if backwards and not query.text and asked.task is None and asked.kind is None:
        # Numbers may be missing where records were lost, so a little more is read than is wanted.
        asked = msgspec.structs.replace(asked, after=max(query.after, until - query.limit - 1))
    found = _matching(islice(store.records(asked), SEARCHED_RECORDS), query.text or "", visit)
    wanted = query.limit + 1
    shown = list(deque(found, maxlen=wanted) if backwards else islice(found, wanted))
    more = len(shown) > query.limit or (backwards and asked.after > query.after)
    part = shown[-query.limit :] if backwards else shown[: query.limit]
    lines = [_told(visit, record, brief=query.brief) for record in part]
    return LogPage(seq=board.seq, records=lines, more=more)


def _matching(records: Iterator[Record], text: str, visit: Visit[LogQuery, NoBody]) -> Iterator[Record]:
    if not text:
        yield from records
        return
    wanted, board = text.casefold(), visit.store.known()
    for record in records:
        shown = view_record(record)
        body = bytes(shown.body).decode("utf-8", "replace")
        words = (shown.kind, shown.actor, shown.task or "", body, describe(record, board))
        if any(wanted in word.casefold() for word in words):
            yield record


def _told(visit: Visit[LogQuery, NoBody], record: Record, *, brief: bool) -> ToldRecord:
    shown = tell_record(record, visit.store.known())
    return in_brief(shown) if brief else shown


def read_record(visit: Visit[NoQuery, NoBody]) -> ToldRecord:
    said = visit.path["seq"]
    number = int(said) if said.isascii() and said.isdecimal() and len(said) < 16 else 0
    board = visit.board
    found = next(iter(visit.store.records(Query(after=number - 1, until=number))), None) if number else None
    if found is None:
        raise NotFound(f"there is no record `{said[:20]}`: the newest is {board.seq}", "`paddock log` lists them")
    return tell_record(found, board)
