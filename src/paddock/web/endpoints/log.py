"""The log, as it can be read and searched."""

from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Annotated

import msgspec
from msgspec import Meta

from paddock.core.durations import parse_moment
from paddock.core.errors import Misuse, NotFound
from paddock.core.events import Record
from paddock.core.ids import parse_task, printable
from paddock.fleet.service.log_care import push_log, verify_log
from paddock.fleet.task_filter import read_filter
from paddock.store.protocol import Query
from paddock.views.document import Document
from paddock.views.log.narration import describe
from paddock.views.log.records import ToldRecord, in_brief, tell_record, view_record
from paddock.web.endpoint import Asked, Count, FilterText, NoBody, NoQuery, Visit

MOST_RECORDS = 1_000
SEARCHED_RECORDS = 200_000
"""Records that one search looks through, from where it begins."""


class LogQuery(Asked, frozen=True):
    """Records after `after` or before `before`; `newest` gives the last ones of these. `since` is a time such as
    2026-11-15T10:00, or an age such as 2h. `text` is looked for in words and body, without regard to case. `where` is a
    filter: only records of tasks that match it now."""

    after: Count = 0
    before: Count | None = None
    since: Annotated[str, Meta(max_length=40)] | None = None
    task: str | None = None
    kind: Annotated[str, Meta(max_length=80)] | None = None
    text: Annotated[str, Meta(max_length=200)] | None = None
    limit: Annotated[int, Meta(ge=1, le=MOST_RECORDS)] = 100
    newest: bool = False
    brief: bool = False
    where: FilterText | None = None


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
        since=parse_moment(query.since, visit.now) if query.since else None,
    )
    backwards = query.newest or query.before is not None
    if backwards and not (query.text or query.where or asked.task or asked.kind or asked.since):
        # Numbers may be missing where records were lost, so a little more is read than is wanted.
        asked = msgspec.structs.replace(asked, after=max(query.after, until - query.limit - 1))
    records = _of_tasks(islice(store.records(asked), SEARCHED_RECORDS), visit)
    found = _matching(records, query.text or "", visit)
    wanted = query.limit + 1
    shown = list(deque(found, maxlen=wanted) if backwards else islice(found, wanted))
    more = len(shown) > query.limit or (backwards and asked.after > query.after)
    part = shown[-query.limit :] if backwards else shown[: query.limit]
    lines = [_told(visit, record, brief=query.brief) for record in part]
    return LogPage(seq=board.seq, records=lines, more=more)


def _of_tasks(records: Iterator[Record], visit: Visit[LogQuery, NoBody]) -> Iterator[Record]:
    """Raises FilterError."""
    where = visit.query.where
    if not where:
        return records
    board = visit.store.known()
    names = set(read_filter(visit.workspace, where, visit.now).pick(board))
    return (record for record in records if record.task in names)


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


class BadRecordView(msgspec.Struct, frozen=True):
    seq: int
    problem: str


class VerifiedView(Document, frozen=True, kw_only=True):
    """`records` are intact, up to the first `bad` one if there is one; `unseen` says what could not be seen."""

    records: int
    bad: BadRecordView | None
    unseen: tuple[str, ...]


def read_verification(visit: Visit[NoQuery, NoBody]) -> VerifiedView:
    verified = verify_log(visit.workspace)
    bad = verified.found.bad
    shown = None if bad is None else BadRecordView(bad.seq, bad.problem)
    return VerifiedView(records=verified.found.records, bad=shown, unseen=verified.unseen)


class PushBody(Asked, frozen=True):
    """`remote` is one of git's; without it `origin`, if there is one."""

    remote: Annotated[str, Meta(min_length=1, max_length=200)] | None = None


class PushAnswer(Document, frozen=True, kw_only=True):
    """`seq` is the newest record that the mirror has now; without a `remote` it stayed in this repository."""

    seq: int
    new: int
    remote: str | None


def push(visit: Visit[NoQuery, PushBody]) -> PushAnswer:
    workspace, remote = visit.workspace, visit.body.remote
    if remote is not None and remote not in workspace.repo.git("remote").lines:
        raise Misuse(f"there is no remote `{printable(remote, 60)}`", "`git remote -v` lists them")
    pushed = push_log(workspace, remote)
    return PushAnswer(seq=pushed.seq, new=pushed.new, remote=pushed.remote)
