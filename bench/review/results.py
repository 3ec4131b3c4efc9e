"""What came of one fleet, or of several with the same reviewers: counted in the log and in the commits."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

from bench.review.agent import FALSE_ALARM
from bench.review.odds import limits
from paddock.core.board import Board
from paddock.core.events import AttemptStarted, Record, TurnEnded
from paddock.core.review.events import FindingReported, ReviewGiven, ReviewSentBack
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Role

WORK_USD, WORK_TOKENS, REVIEW_USD, REVIEW_TOKENS = 0.20, 40_000, 0.05, 10_000
"""What a turn of work and a review cost."""


@dataclass(frozen=True, slots=True)
class Counts:
    """`found` are changes with a true finding, `doubles` further findings of the same flaw, `alarms` false ones.
    `for_nothing` was a change sent back without any true finding. `tallied_usd` is what reviewers' own tallies say."""

    found: int = 0
    doubles: int = 0
    alarms: int = 0
    sent_back: int = 0
    for_nothing: int = 0
    landed: int = 0
    blocked: int = 0
    reviews: int = 0
    attempts: int = 0
    review_turns: int = 0
    work_usd: float = 0.0
    review_usd: float = 0.0
    tallied_usd: float = 0.0
    review_tokens: int = 0

    def plus(self, other: "Counts") -> "Counts":
        return Counts(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


@dataclass(frozen=True, slots=True)
class Result:
    """`unfixed` flaws are on main, or in a change that waits for a person. `foreseen` are those that the reviewers'
    dice let escape, `chances` how likely each flaw was to escape by their rates alone."""

    name: str
    changes: int
    unfixed: tuple[str, ...]
    on_main: int
    foreseen: tuple[str, ...]
    chances: tuple[float, ...]
    counts: Counts
    seconds: float
    daemon_cpu_seconds: float

    @property
    def defects(self) -> int:
        return len(self.chances)

    @property
    def stopped(self) -> int:
        return self.defects - len(self.unfixed)

    @property
    def limits(self) -> tuple[int, int]:
        return limits(self.chances)

    @property
    def usd(self) -> float:
        return self.counts.work_usd + self.counts.review_usd

    @property
    def extra_usd(self) -> float:
        """For reviews, and for the work that came of them."""
        return self.usd - self.changes * WORK_USD

    @property
    def untold_usd(self) -> float:
        return abs(self.counts.review_usd - self.counts.tallied_usd)

    @property
    def otherwise(self) -> int:
        """Flaws that escaped although the dice say that they do not, or the other way round."""
        return len(set(self.unfixed) ^ set(self.foreseen))


def join(results: Sequence[Result]) -> Result:
    """Of the same arrangement with several seeds."""
    counts = Counts()
    for one in results:
        counts = counts.plus(one.counts)
    return Result(
        results[0].name,
        sum(one.changes for one in results),
        tuple(name for one in results for name in one.unfixed),
        sum(one.on_main for one in results),
        tuple(name for one in results for name in one.foreseen),
        tuple(chance for one in results for chance in one.chances),
        counts,
        sum(one.seconds for one in results),
        sum(one.daemon_cpu_seconds for one in results),
    )


def count(board: Board, records: Iterable[Record]) -> Counts:
    true: dict[str, str] = {}
    found = Counts()
    reviewing: set[str] = set()
    for record in records:
        match record.event:
            case FindingReported(id=name, claim=claim) if claim.claim == FALSE_ALARM:
                found = found.plus(Counts(alarms=1))
            case FindingReported(id=name):
                again = record.task in true.values()
                found = found.plus(Counts(found=int(not again), doubles=int(again)))
                true[name] = str(record.task)
            case ReviewSentBack(findings=names):
                found = found.plus(Counts(sent_back=1, for_nothing=int(not true.keys() & set(names))))
            case ReviewGiven():
                found = found.plus(Counts(reviews=1))
            case AttemptStarted(role=role):
                found = found.plus(Counts(attempts=1))
                reviewing |= {str(record.attempt)} if role is Role.REVIEW else set()
            case TurnEnded() as turn:
                found = found.plus(_bill(turn, is_review=str(record.attempt) in reviewing))
    tallied = sum(tally.cost_usd for tally in board.reviews.reviewers.values())
    landed, blocked = (board.counts.get(phase, 0) for phase in (Phase.LANDED, Phase.BLOCKED))
    return found.plus(Counts(landed=landed, blocked=blocked, tallied_usd=tallied))


def _bill(turn: TurnEnded, *, is_review: bool) -> Counts:
    cost = turn.cost_usd or 0.0
    if not is_review:
        return Counts(work_usd=cost)
    return Counts(review_turns=1, review_usd=cost, review_tokens=turn.input_tokens + turn.output_tokens)
