"""Running every attempt's tests against every other attempt's work: CI, in a sandbox, on trees that nobody made."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from paddock.core.merge.model import Result
from paddock.fleet.landing.ci_trial import Trial, try_ci
from paddock.fleet.landing.ci_verdict import RunResult
from paddock.fleet.site import Site
from paddock.git.crossing import cross
from paddock.insight.crosscheck.contestants import Contestant, is_test
from paddock.insight.crosscheck.matrix import Cell, Verdict, pairs

SHOWN_LINES = 12
_VERDICTS = {Result.PASS: Verdict.PASS, Result.FAIL: Verdict.FAIL, Result.TIMEOUT: Verdict.FAIL}
_NOT_RUN = "it was stopped before"


@dataclass(frozen=True, slots=True)
class Progress:
    """`number` of `total` runs is under way, for so many seconds."""

    number: int
    total: int
    tests: str
    work: str
    seconds: float


def run_crosscheck(
    site: Site, contestants: Sequence[Contestant], timeout_seconds: float, tell: Callable[[Progress], None]
) -> list[Cell]:
    """One after the other; the same tree is tried once. Whoever stops one run stops them all."""
    by_name = {one.name: one for one in contestants}
    wanted = pairs([one.name for one in contestants if one.tests], by_name)
    tried: dict[str, Cell] = {}
    cells: list[Cell] = []
    stopped = False
    for number, (tests, work) in enumerate(wanted, 1):
        if stopped:
            cells.append(Cell(tests, work, Verdict.NONE, _NOT_RUN))
            continue
        commit = _commit_of(site, by_name[tests], by_name[work])
        tree = site.repo.tree_of(commit)
        if tree not in tried:
            beat = _beat(tell, Progress(number, len(wanted), tests, work, 0.0))
            trial = try_ci(site, commit, timeout_seconds, beat)
            stopped = trial.ended.result is Result.CANCELLED
            tried[tree] = _cell(trial)
        cells.append(replace(tried[tree], tests=tests, work=work))
    return cells


def _commit_of(site: Site, donor: Contestant, host: Contestant) -> str:
    return host.edits.head if donor is host else cross(site.repo, donor.edits, host.edits, is_test)


def _beat(tell: Callable[[Progress], None], progress: Progress) -> Callable[[float], None]:
    tell(progress)
    return lambda seconds: tell(replace(progress, seconds=seconds))


def _cell(trial: Trial) -> Cell:
    ended = trial.ended
    verdict = Verdict.NONE if ended.cannot_run else _VERDICTS.get(ended.result, Verdict.NONE)
    output = tuple(trial.output.splitlines()[-SHOWN_LINES:]) if verdict is not Verdict.PASS else ()
    return Cell("", "", verdict, _words(ended), output, trial.seconds)


def _words(ended: RunResult) -> str:
    if ended.result is Result.CANCELLED:
        return "you stopped it"
    return ended.cannot_run or ended.note
