"""What is brought back after a restart or from a lost machine, as JSON."""

import msgspec

from paddock.core.board import Board
from paddock.core.ids import printable
from paddock.fleet.resurrection import Wreck
from paddock.views.document import Document


class RevivedTask(msgspec.Struct, frozen=True):
    """`how` is `resumed`, `judged`, `taken over` or `retried`; `lost` is what cannot be brought back, empty if nothing
    is."""

    id: str
    title: str
    attempt: str
    host: str
    how: str
    session: str | None
    lost: str


class ResurrectionView(Document, frozen=True, kw_only=True):
    """`hosts` are those whose work is taken over, `runs` the CI runs that were lost with them."""

    tasks: tuple[RevivedTask, ...]
    hosts: tuple[str, ...]
    runs: tuple[str, ...]
    dry_run: bool
    up: bool


def view_resurrection(board: Board, wreck: Wreck, *, dry_run: bool, up: bool) -> ResurrectionView:
    rows = tuple(
        RevivedTask(
            id=one.revived.task,
            title=printable(board.task(one.revived.task).title, 300),
            attempt=one.revived.attempt.id,
            host=printable(one.revived.attempt.host, 100),
            how=one.revived.how.value,
            session=one.revived.attempt.session,
            lost=one.lost,
        )
        for one in wreck.casualties
    )
    return ResurrectionView(tasks=rows, hosts=wreck.hosts, runs=wreck.runs, dry_run=dry_run, up=up)
