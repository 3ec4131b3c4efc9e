"""What the reviewers' rates say will escape: on average, within which limits, and by the very dice they throw.

Reviewers look one after the other, and each is told what those before it have found. It confirms what is true, and
believes what is not with some chance. So a flaw is sent back if somebody sees it and enough object.
"""

from collections.abc import Iterable, Sequence

from bench.review.agent import Habits, believes, file_text, raises_alarm, sees
from paddock.core.review.plan import votes_needed


def escape_chance(hit: float, alarm: float, consent: float, reviewers: int, votes: str) -> float:
    """That a flaw is not sent back; `(1 - hit) ** reviewers` if any objection counts."""
    if not reviewers:
        return 1.0
    states = {(False, False, 0): 1.0}
    """How likely it is that by now the flaw is seen, an alarm raised, and so many object."""
    for _ in range(reviewers):
        after: dict[tuple[bool, bool, int], float] = {}
        for (seen, alarmed, objections), likely in states.items():
            sees_it = 1.0 if seen else hit
            holds_alarm = 1 - consent if alarmed else alarm
            for flaw, flaw_chance in ((True, sees_it), (False, 1 - sees_it)):
                for false, false_chance in ((True, holds_alarm), (False, 1 - holds_alarm)):
                    state = (seen or flaw, alarmed or false, objections + (flaw or false))
                    after[state] = after.get(state, 0.0) + likely * flaw_chance * false_chance
        states = after
    needed = votes_needed(votes, reviewers)
    return sum(likely for (seen, _, objections), likely in states.items() if not seen or objections < needed)


def limits(chances: Sequence[float], share: float = 0.99) -> tuple[int, int]:
    """Between which numbers of these come true in so large a share of all cases, at least."""
    spread = [1.0]
    for one in chances:
        less, more = [*(each * (1 - one) for each in spread), 0.0], [0.0, *(each * one for each in spread)]
        spread = [without + with_it for without, with_it in zip(less, more, strict=True)]
    tail = (1 - share) / 2
    low = next(n for n in range(len(spread)) if sum(spread[: n + 1]) > tail)
    high = next(n for n in reversed(range(len(spread))) if sum(spread[n:]) > tail)
    return low, high


def foresee(defects: Iterable[tuple[str, str]], reviewers: Sequence[Habits], votes: str) -> set[str]:
    """The files whose flaw escapes by the dice; each of `defects` is a path and the kind of its flaw."""
    return {path for path, kind in defects if not reviewers or _escapes(path, kind, reviewers, votes)}


def _escapes(path: str, kind: str, reviewers: Sequence[Habits], votes: str) -> bool:
    text = file_text(kind).splitlines()
    seen, alarm, objections = False, "", 0
    for one in reviewers:
        false = believes(one, path, text.index(alarm) + 1, "") if alarm else bool(raises_alarm(one, path, text))
        alarm = alarm or (raises_alarm(one, path, text) if false else "")
        seen = seen or sees(one, path, kind)
        objections += seen or false
    return not seen or objections < votes_needed(votes, len(reviewers))
