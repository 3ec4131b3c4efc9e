"""Which cause a run failed for, as the board knows it: two rules that see the same cause speak of one alert."""

from collections.abc import Iterable
from dataclasses import dataclass

from paddock.core.board import Board
from paddock.core.causes.model import Cause
from paddock.core.causes.vocabulary import FORGIVEN, FailureCause
from paddock.core.ids import AttemptId, task_of
from paddock.insight.alerts.ended import EndedRun

PREFIX = "cause:"
UNSETTLED_SECONDS = 60.0
"""A failure as young as that, of which no cause is recorded, may still be given one; so may any that nobody has looked
at before."""


@dataclass(frozen=True, slots=True)
class CauseOfRun:
    """`key` is that of an alert about it. `cause` is None where nothing is known but the symptom."""

    key: str
    title: str
    cause: Cause | None = None

    @property
    def of(self) -> FailureCause:
        return self.cause.cause if self.cause is not None else FailureCause.UNKNOWN

    @property
    def is_outside(self) -> bool:
        """It is not what the agent did."""
        return self.of in FORGIVEN


class KnownCauses:
    """Looked up for each run that failed, and remembered as long as the board is the same. `waits`: somebody is about
    to record the causes of what has just failed."""

    def __init__(self, board: Board, *, waits: bool) -> None:
        self._board = board
        self._waits = waits
        self._by_id: dict[str, Cause] = {}
        self._found: dict[str, CauseOfRun] = {}
        if not board.cause_part.is_nothing:
            known = board.causes
            self._by_id = {cause.id: cause for cause in (*known.ended, *known.standing.values())}

    @property
    def standing(self) -> Iterable[Cause]:
        return () if self._board.cause_part.is_nothing else self._board.causes.standing.values()

    def of(self, run: EndedRun) -> CauseOfRun:
        found = self._found.get(run.run)
        if found is None:
            found = self._found[run.run] = self._look_up(run)
        return found

    def is_unsettled(self, run: EndedRun, now: float) -> bool:
        is_young = run.seen == now or 0.0 <= now - run.ended < UNSETTLED_SECONDS
        return self._waits and run.failed and is_young and self.of(run).cause is None

    def is_over(self, run: EndedRun) -> bool:
        """Somebody has said since that what it failed for is gone."""
        cause = self.of(run).cause if run.failed else None
        return cause is not None and bool(cause.ended)

    def lacked(self, run: EndedRun) -> bool:
        """Whether the run did not get what it needs to work."""
        return run.lacked or (run.failed and self.of(run).is_outside)

    def never_ran(self, run: EndedRun) -> bool:
        return run.never_ran or (run.failed and self.of(run).of is FailureCause.NEVER_RAN)

    def _look_up(self, run: EndedRun) -> CauseOfRun:
        if self._by_id and (cause := self._recorded(run)) is not None:
            words = cause.symptom or next(iter(cause.evidence), "")
            # What failures are taken for may change as more of them are seen; what they have in common does not.
            signature = cause.key.rpartition(":")[0]
            return CauseOfRun(f"{PREFIX}{signature}", words or run.symptom, cause)
        return CauseOfRun(f"{PREFIX}{run.engine}:{run.symptom}", run.symptom)

    def _recorded(self, run: EndedRun) -> Cause | None:
        """The last one that was found, as it is the best known."""
        name = task_of(AttemptId(run.run))
        if name not in self._board.tasks:
            return None
        attempt = next((one for one in reversed(self._board.tasks[name].attempts) if one.id == run.run), None)
        ids = attempt.causes if attempt is not None else ()
        return next((self._by_id[one] for one in reversed(ids) if one in self._by_id), None)
