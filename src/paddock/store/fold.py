"""A log folded as far as it is known: its board, and the hash of its last record.

Every store moves it forward in the same two ways: by records it has read, and by decisions it is about to write.
What cannot fold becomes no row, so it is never written, whatever the log is kept in.
"""

from collections.abc import Callable, Sequence

from paddock import __version__
from paddock.core.board import Board
from paddock.core.errors import PaddockError
from paddock.core.events import Draft, LogCreated, LogUpgraded, Record
from paddock.core.ids import printable
from paddock.store.codec import GENESIS, Row, body_of, chain, follows
from paddock.store.protocol import Author, Decide, LogUnusable

Decisions = Sequence[tuple[Decide, Author]]
Results = list[list[Record] | PaddockError]


class HalfApplied(Exception):
    """A decision failed after some of its events were folded: the fold is no longer the log's."""

    def __init__(self, cause: PaddockError) -> None:
        super().__init__(str(cause))
        self.cause = cause


class Fold:
    """Not a dataclass: every command would wait for that module."""

    __slots__ = ("board", "tip")

    def __init__(self, board: Board | None = None, tip: bytes = GENESIS) -> None:
        self.board = Board() if board is None else board
        self.tip = tip

    def follow(self, record: Record) -> None:
        """Raises PaddockError for one that cannot come next."""
        self.board.apply(record)
        self.tip = record.hash

    def require_next(self, row: Row) -> None:
        if row[0] != self.board.seq + 1 or not follows(self.tip, row):
            raise LogUnusable(f"record {row[0]} does not follow this log's record {self.board.seq}")

    def write(self, decisions: Decisions, clock: Callable[[], float]) -> tuple[Results, list[Row]]:
        """Each decision sees the ones before it; a refused one leaves no trace. Raises HalfApplied."""
        rows: list[Row] = []
        return [self._write(decide, author, clock, rows) for decide, author in decisions], rows

    def _write(
        self, decide: Decide, author: Author, clock: Callable[[], float], rows: list[Row]
    ) -> list[Record] | PaddockError:
        board = self.board
        try:
            drafts = list(decide(board))
            if author.worker is not None:
                from paddock.core.intent.workers import require_events

                require_events(board, author.worker, drafts)
            if drafts and (board.unknown or board.version != __version__):
                drafts = _upgraded(board, drafts)
            bodies = [body_of(draft.event) for draft in drafts]
        except PaddockError as refusal:
            return refusal
        except UnicodeEncodeError as error:
            return PaddockError(f"`{printable(error.object, 60)}` is not valid UTF-8")
        records: list[Record] = []
        at = round(clock() * 1_000_000)
        seconds, actor, generation = at / 1_000_000, author.name, author.generation
        for draft, body in zip(drafts, bodies, strict=True):
            seq, event, task, attempt = board.seq + 1, draft.event, draft.task, draft.attempt
            unsigned = (seq, at, actor, generation, event.kind, task, attempt, body)
            digest = chain(self.tip, unsigned)
            record = Record(seq, seconds, actor, generation, task, attempt, event, digest)
            try:
                board.apply(record)
            except PaddockError as error:
                if not records:
                    return error
                raise HalfApplied(error) from error
            self.tip = digest
            rows.append((*unsigned, digest))
            records.append(record)
        return records


def append_group(transact: Callable[[Decisions], Results], decisions: Decisions) -> Results:
    """In one transaction; where one decision fails halfway, each in its own."""
    try:
        return transact(decisions)
    except HalfApplied as failure:
        if len(decisions) == 1:
            return [failure.cause]
        return [_append_alone(transact, decision) for decision in decisions]


def _append_alone(
    transact: Callable[[Decisions], Results], decision: tuple[Decide, Author]
) -> list[Record] | PaddockError:
    """Its own failure only: those before it are on disk already."""
    try:
        return append_group(transact, [decision])[0]
    except PaddockError as failure:
        return failure


def _upgraded(board: Board, drafts: list[Draft]) -> list[Draft]:
    """What another version may write into this log. Raises LogUnusable for one that does not know all of it, and for
    anything but a log's beginning in an empty one."""
    if not board.seq and not isinstance(drafts[0].event, LogCreated):
        raise LogUnusable(
            "the log is empty: setting it up was interrupted",
            "run `paddock init`, or `paddock log fetch` to restore it from its mirror",
        )
    if board.unknown:
        raise _newer(board)
    return [Draft(LogUpgraded(__version__)), *drafts] if _is_older(board.version) else drafts


def _newer(board: Board) -> LogUnusable:
    kinds = ", ".join(f"`{kind}`" for kind in sorted(board.unknown))
    return LogUnusable(
        f"the log has events that this Paddock {__version__} does not know ({kinds}): writing could contradict them",
        f"upgrade: `pip install --upgrade 'paddock>={board.version}'`",
    )


def _is_older(version: str) -> bool:
    return bool(version) and _version(version) < _version(__version__)


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())
