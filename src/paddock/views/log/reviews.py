"""What a record of a review tells, in one line."""

from dataclasses import dataclass

from paddock.core.board import Board
from paddock.core.durations import format_duration
from paddock.core.ids import TaskId, printable, some_names
from paddock.core.review import events as rv
from paddock.core.review.checks import ACCEPT
from paddock.core.review.evolve import CHECK

CLAIM_CHARS = 100
WORDS_CHARS = 120
_WITNESSES = {rv.ConfirmedBy.CI: "CI", rv.ConfirmedBy.PERSON: "a person", rv.ConfirmedBy.REVERT: "a revert"}


@dataclass(frozen=True, slots=True)
class ReviewLine:
    """`minor`: worth a line on the page of its task, but not among all that happens in a fleet."""

    words: str
    minor: bool = False


def tell_of_review(event: rv.ReviewEvent, board: Board, task: TaskId | None) -> ReviewLine:
    match event:
        case rv.ReviewGiven() if task is not None and is_audit(board, task):
            found = f"{event.findings} finding{'s' if event.findings != 1 else ''}"
            return ReviewLine(f"{_who(event.by)} reports {found}{_because(event.summary)}")
        case rv.CheckEnded() | rv.ReviewGiven() | rv.ReviewSentBack() | rv.ReviewPassed() | rv.ReviewMissed():
            return _tell_of_change(event)
        case rv.FindingReported(id=name, by=by, claim=claim, blocking=blocking):
            place = f" in {printable(claim.place, 80)}" if claim.path else ""
            effect = ", which blocks it" if blocking else ""
            told = f"{_who(by)} found {name}{place} ({claim.severity.value}{effect}): {_said(claim.claim, CLAIM_CHARS)}"
            return ReviewLine(told, minor=not blocking)
        case rv.FindingHeld(id=name, by=by):
            return ReviewLine(f"{_who(by)} holds {name} too, against {event.head[:10]}", minor=True)
        case rv.FindingDisputed(id=name, why=why):
            return ReviewLine(f"its worker disputes {name}{_because(why)}")
        case rv.FindingRouted(id=name, to=to):
            return ReviewLine(f"{name} became {to}: the agent that owns the path fixes it")
        case rv.FindingSettled(id=name, how=how, by=by, why=why):
            known = board.reviews.findings.get(name)
            told = f"{name} {_ENDS[how]}{f' {_who(by)}' if by else ' somebody'}{_because(why)}"
            return ReviewLine(told, minor=how is not rv.Settlement.WAIVED and known is not None and not known.blocking)
        case rv.FindingConfirmed(id=name, by=by, why=why):
            return ReviewLine(f"{name} was true, says {_WITNESSES[by]}{_because(why)}")


def is_audit(board: Board, task: TaskId) -> bool:
    """Whether it reviews what is there, rather than having a change that is reviewed."""
    return board.tasks[task].role.only_reads


_ENDS = {
    rv.Settlement.FIXED: "is fixed, says",
    rv.Settlement.REFUTED: "is wrong after all, says",
    rv.Settlement.WAIVED: "was waived by",
    rv.Settlement.OUTVOTED: "was outvoted by",
}
_Step = rv.CheckEnded | rv.ReviewGiven | rv.ReviewSentBack | rv.ReviewPassed | rv.ReviewMissed


def _tell_of_change(event: _Step) -> ReviewLine:
    match event:
        case rv.CheckEnded(name=name, passed=passed, exit=exit_code, seconds=seconds):
            what = "its acceptance" if name == ACCEPT else f"check {printable(name, 60)}"
            took = f" after {format_duration(seconds)}" if seconds >= 1 else ""
            ended = "passed" if passed else "failed" if exit_code is None else f"failed with exit {exit_code}"
            return ReviewLine(f"{what} {ended}{took}", minor=passed)
        case rv.ReviewGiven(by=by, objects=objects, summary=summary, dropped=dropped):
            verdict = "objects" if objects else "has nothing against it"
            lost = f"; {dropped} more findings left out" if dropped else ""
            return ReviewLine(f"{_who(by)} {verdict}{_because(summary)}{lost}")
        case rv.ReviewSentBack(round=number, findings=findings):
            return ReviewLine(f"sent back after round {number} of its review, with {some_names(findings)}")
        case rv.ReviewPassed(round=number, by=by):
            seen = f", seen by {some_names(tuple(map(_who, by)))}" if by else ""
            return ReviewLine(f"passed its review in round {number}{seen}")
        case rv.ReviewMissed(by=by, why=why):
            return ReviewLine(f"{some_names(tuple(map(_who, by)))} let it pass although it was wrong{_because(why)}")


def _who(by: str) -> str:
    name = by.removeprefix(CHECK)
    return f"check {printable(name, 40)}" if name != by else printable(by, 40)


def _because(words: str) -> str:
    return f": {_said(words, WORDS_CHARS)}" if words.strip() else ""


def _said(words: str, most: int) -> str:
    return printable(" ".join(words.split()), most)
