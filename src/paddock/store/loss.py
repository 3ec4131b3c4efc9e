"""What a log has lost, told by what was written down of it elsewhere."""

import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from paddock.core.given import Given
from paddock.store.fold import Fold
from paddock.store.place import LogPlace
from paddock.store.protocol import LogGone, LogLost, LogUnusable
from paddock.store.trouble import quote
from paddock.store.witness import Witness


class LostRecords(msgspec.Struct, frozen=True):
    """Records up to `last` were acknowledged; the log now ends at `head`, or has others in their place.

    `at` is the time of the newest of them in seconds, 0 if unknown; `given` the highest numbers given by then.
    """

    head: int
    last: int
    at: float = 0.0
    given: Given = Given()

    @property
    def first(self) -> int:
        """The first that is missing, as far as can be told."""
        return min(self.head + 1, self.last)

    @property
    def which(self) -> str:
        return f"record {self.last:,}" if self.first == self.last else f"records {self.first:,} to {self.last:,}"

    @property
    def words(self) -> str:
        """Whatever follows "the log"."""
        newest = f"; the newest was written at {_stamp(self.at)}" if self.at else ""
        if self.head >= self.last:
            return f"has another record {self.last} than the one that was acknowledged{newest}"
        return f"has lost {self.which}, which it had{newest}"


def find_loss(
    witness: Witness | None, kept: Fold | None, head: int, hash_at: Callable[[int], object]
) -> LostRecords | None:
    """By the witness and by the snapshot that was `kept`; either may know of more. `hash_at` tells the hash of a record
    as the log has it now, None where it has none."""
    told = loss_told_by(witness, head, hash_at(witness.seq)) if witness is not None else None
    if kept is None or hash_at(kept.board.seq) is not None:
        return told
    loss = LostRecords(head, kept.board.seq, kept.board.at, kept.board.given)
    if told is None:
        return loss
    newest = max(told, loss, key=lambda one: one.last)
    return msgspec.structs.replace(newest, given=told.given.raised(loss.given))


def loss_told_by(witness: Witness, head: int, found: object) -> LostRecords | None:
    """`found` is the hash of the record that the witness knows, as the log has it now."""
    if found == witness.tip:
        return None
    return LostRecords(head, witness.seq, witness.at / 1_000_000, witness.given)


def require_own(place: LogPlace, witness: Witness | None, fold: Fold, found: object) -> LostRecords | None:
    """What is still missing of what the witness knows, after records were restored up to those of `fold`.

    Raises LogUnusable where they are those of another log.
    """
    loss = loss_told_by(witness, fold.board.seq, found) if witness is not None else None
    if witness is None or loss is None:
        return None
    if fold.board.seq >= witness.seq or fold.board.identity != witness.identity:
        raise another_history(place, witness, fold.board.identity)
    return loss


def another_history(place: LogPlace, witness: Witness, identity: str) -> LogUnusable:
    of_which = (
        f" (this one is `{witness.identity}`, they are of `{identity}`)"
        if identity not in ("", witness.identity)
        else ""
    )
    return LogUnusable(
        f"these records are not those that the log `{place}` had up to record {witness.seq}{of_which}: "
        "nothing was restored",
        "find the mirror of this very log, or begin a new log: `paddock init --new-log`",
    )


def log_lost(place: LogPlace, loss: LostRecords) -> LogLost:
    from paddock.store.spare import hint_without_wal

    return LogLost(
        f"the log `{place}` {loss.words}",
        hint_without_wal(place.file, loss.head)
        or "restore the lost records from the mirror with `paddock log fetch`, "
        "or continue without them: `paddock log accept-loss`",
    )


def cut_short(path: Path) -> LogUnusable:
    return LogUnusable(
        f"`{path}-wal` was cut short while the log was open: nothing was written",
        f"end whatever uses the log (`fuser -v {quote(path)}*`), then see what is left: `paddock log verify`",
    )


def log_gone(place: LogPlace, witness: Witness | None) -> LogGone:
    had = f": it had {witness.seq:,} records, the newest written at {_stamp(witness.at / 1e6)}" if witness else ""
    return LogGone(
        f"the log `{place}` is gone{had}",
        "restore it from its mirror with `paddock log fetch`, or begin a new one: `paddock init --new-log`",
    )


def _stamp(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
