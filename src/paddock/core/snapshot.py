"""The board as bytes and back. What nobody has looked at is written back as it was read."""

import msgspec

from paddock.core.board import (
    Board,
    Convoy,
    Drain,
    SettingsChange,
    alerts_class,
    causes_class,
    leases_class,
    queue_class,
    reviews_class,
    schedules_class,
    spending_class,
)
from paddock.core.given import Given
from paddock.core.ids import TaskId
from paddock.core.parts import LazyPart
from paddock.core.tasks.table import TaskTable
from paddock.core.tasks.task import Phase

LAYOUT = 15
"""Grows when the same records fold to another board; snapshots of another layout are folded again."""


class BoardState(msgspec.Struct, array_like=True):
    """A board as it goes into a snapshot."""

    seq: int
    at: float
    version: str
    identity: str
    label: str
    numbers: Given
    next_task: int
    counts: dict[Phase, int]
    open: list[TaskId]
    ready: list[TaskId]
    live: list[TaskId]
    needy: list[TaskId]
    reviewing: list[TaskId]
    convoys: dict[str, Convoy]
    members: dict[str, list[TaskId]]
    convoy_counts: dict[str, dict[Phase, int]]
    dependents: dict[TaskId, list[TaskId]]
    unknown: dict[str, int]
    daemon_generation: int
    settings: tuple[SettingsChange, ...]
    drains: dict[str, Drain]
    leases: msgspec.Raw
    queue: msgspec.Raw
    spending: msgspec.Raw
    reviews: msgspec.Raw
    alerts: msgspec.Raw
    schedules: msgspec.Raw
    causes: msgspec.Raw
    task_lengths: list[int]
    tasks: memoryview


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(BoardState).decode


def encode_board(board: Board) -> bytes:
    lengths, tasks = board.tasks.encode()
    return _encode(
        BoardState(
            seq=board.seq,
            at=board.at,
            version=board.version,
            identity=board.identity,
            label=board.label,
            numbers=board.numbers,
            next_task=board.next_task,
            counts=board.counts,
            open=list(board.open),
            ready=list(board.ready),
            live=list(board.live),
            needy=list(board.needy),
            reviewing=list(board.reviewing),
            convoys=board.convoys,
            members=board.members,
            convoy_counts=board.convoy_counts,
            dependents=board.dependents,
            unknown=board.unknown,
            daemon_generation=board.daemon_generation,
            settings=board.settings,
            drains=board.drains,
            leases=board.lease_part.encode(),
            queue=board.queue_part.encode(),
            spending=board.spending_part.encode(),
            reviews=board.review_part.encode(),
            alerts=board.alert_part.encode(),
            schedules=board.schedule_part.encode(),
            causes=board.cause_part.encode(),
            task_lengths=lengths,
            tasks=memoryview(tasks),
        )
    )


def decode_board(snapshot: bytes | memoryview) -> Board:
    """Raises msgspec.DecodeError on a snapshot that is damaged or of another layout."""
    state = _decode(snapshot)
    board = Board()
    board.seq = state.seq
    board.at = state.at
    board.version = state.version
    board.identity = state.identity
    board.label = state.label
    board.numbers = state.numbers
    board.next_task = state.next_task
    board.counts = state.counts
    board.open = dict.fromkeys(state.open)
    board.ready = dict.fromkeys(state.ready)
    board.live = dict.fromkeys(state.live)
    board.needy = dict.fromkeys(state.needy)
    board.reviewing = dict.fromkeys(state.reviewing)
    board.convoys = state.convoys
    board.members = state.members
    board.convoy_counts = state.convoy_counts
    board.dependents = state.dependents
    board.unknown = state.unknown
    board.daemon_generation = state.daemon_generation
    board.settings = state.settings
    board.drains = state.drains
    board.lease_part = LazyPart(leases_class, bytes(state.leases))
    board.queue_part = LazyPart(queue_class, bytes(state.queue))
    board.spending_part = LazyPart(spending_class, bytes(state.spending))
    board.review_part = LazyPart(reviews_class, bytes(state.reviews))
    board.alert_part = LazyPart(alerts_class, bytes(state.alerts))
    board.schedule_part = LazyPart(schedules_class, bytes(state.schedules))
    board.cause_part = LazyPart(causes_class, bytes(state.causes))
    board.tasks = TaskTable(state.task_lengths, state.tasks)
    return board
