"""Whether an attempt of the fleet did what it was for, and how it ended, from what the judge and those after it said.

An attempt has succeeded if it delivered what nobody has rejected since, gave an answer that was taken, or found with a
reason that there was nothing to do. It has failed if it came to nothing by itself, or what it delivered was sent back
by review, rejected by a person or by CI, dropped, or cancelled. Nobody can say so of one that goes on, that a provider
refused, or that a person has ended.
"""

from paddock.core.tasks.vocabulary import PROVIDERS_DOING, USEFUL, Outcome
from paddock.insight.dataset.fates import Fate
from paddock.insight.dataset.histories import AttemptHistory
from paddock.insight.trace import EndState, Result

_PEOPLES_DOING = frozenset({Outcome.KILLED, Outcome.LEFT, Outcome.ASKED})
_DELIVERED = USEFUL | {Outcome.UNCHANGED}
_ENDS: dict[Outcome, EndState] = {
    Outcome.EMPTY: EndState.GAVE_UP,
    Outcome.REFUSED: EndState.REFUSED,
    Outcome.MISCONFIGURED: EndState.NEVER_RAN,
    Outcome.CRASHED: EndState.CRASHED,
    Outcome.TIMEOUT: EndState.TIMEOUT,
    Outcome.STALLED: EndState.TIMEOUT,
    Outcome.LOOPING: EndState.KILLED,
    Outcome.NEVER_RAN: EndState.NEVER_RAN,
    Outcome.SETUP_FAILED: EndState.NEVER_RAN,
    Outcome.NO_SPACE: EndState.CRASHED,
    Outcome.THROTTLED: EndState.THROTTLED,
    Outcome.OVERLOADED: EndState.OVERLOADED,
    Outcome.AUTH: EndState.REFUSED,
    Outcome.OVER_BUDGET: EndState.BUDGET,
    Outcome.KILLED: EndState.KILLED,
    Outcome.LOST: EndState.KILLED,
    Outcome.LEFT: EndState.KILLED,
}
"""All others ended as they wanted to."""


def result_of(attempt: AttemptHistory, fate: Fate | None) -> Result:
    if attempt.ended is None:
        return Result.UNKNOWN
    outcome = attempt.ended.outcome
    if outcome in PROVIDERS_DOING or outcome in _PEOPLES_DOING:
        return Result.UNKNOWN
    if outcome not in _DELIVERED:
        return Result.FAILURE
    is_unwanted = fate is Fate.REJECTED or (attempt.is_unwanted and fate is not Fate.LANDED)
    return Result.FAILURE if is_unwanted else Result.SUCCESS


def complaint_of(attempt: AttemptHistory, fate: Fate | None) -> str:
    """Why it did not do what it was for; empty if it did. A judge praises what others reject later."""
    ended, outcome = attempt.ended, result_of(attempt, fate)
    if ended is None or outcome is Result.SUCCESS:
        return ""
    if outcome is Result.UNKNOWN or ended.outcome not in _DELIVERED:
        return ended.reason
    return f"delivered, but {'the merge queue' if fate is Fate.REJECTED else 'a review or a person'} rejected it"


def end_state_of(attempt: AttemptHistory) -> EndState:
    if attempt.ended is None:
        return EndState.UNKNOWN
    return _ENDS.get(attempt.ended.outcome, EndState.OK)
