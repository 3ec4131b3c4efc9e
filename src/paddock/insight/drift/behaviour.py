"""What one run tells that others can be compared with: how it ended, what it omitted, how much it took.

Where neither git nor the gate was asked, some of it can be seen in the run's path. None is what nobody knows.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from paddock.insight.paths import FAILED_SUFFIX, Symbols
from paddock.insight.phases import phase_of
from paddock.insight.trace import EndState, KeptTrace, Result

Value = Callable[[KeptTrace], float | None]

_EDITS = frozenset({"EDIT", "CREATE"})
_TESTS = frozenset({"TEST", "TEST!"})
_NOTHING_TO_TEST = (FAILED_SUFFIX, ":doc")
_REFUSED_BY_PROVIDER = frozenset({EndState.THROTTLED, EndState.OVERLOADED})


@dataclass(frozen=True, slots=True)
class Measure:
    """Something to compare; as a logarithm where its ratio matters. What tells of the surroundings rather than of the
    agent decides nothing."""

    name: str
    value: Value
    is_logarithm: bool = False
    is_of_surroundings: bool = False


def success_of(run: KeptTrace) -> float | None:
    return None if run.trace.outcome is Result.UNKNOWN else float(run.trace.outcome is Result.SUCCESS)


def achievement_of(run: KeptTrace) -> float | None:
    """The share of its hidden tests that pass, where there are any."""
    tests = run.trace.tests
    return sum(tests.values()) / len(tests) if tests else success_of(run)


def rate_measures(symbols: Symbols) -> tuple[Measure, ...]:
    paths = PathFacts(symbols)
    return (
        Measure("last edit verified", lambda run: _flag(run.trace.facts.verified_last_edit, paths.verified(run))),
        Measure("tests deleted", lambda run: _any(run.trace.facts.tests_deleted)),
        Measure("tests skipped", lambda run: _any(run.trace.facts.tests_skipped)),
        Measure("assertions removed", lambda run: _any(run.trace.facts.asserts_removed)),
        Measure("files outside the task", _outside),
        Measure("new dependency", lambda run: _flag(run.trace.facts.new_dependency)),
        Measure("force push", lambda run: _flag(run.trace.facts.force_push)),
        Measure("checks skipped", lambda run: _flag(run.trace.facts.no_verify)),
    )


def share_measures(symbols: Symbols) -> tuple[Measure, ...]:
    return (Measure("failed steps", PathFacts(symbols).failed_share),)


def size_measures() -> tuple[Measure, ...]:
    return (
        Measure("steps", lambda run: _log(run.step_count or None), is_logarithm=True),
        Measure("tokens", lambda run: _log(_tokens(run)), is_logarithm=True),
        Measure("start-up context", lambda run: _log(run.trace.startup_tokens), is_logarithm=True),
        Measure("wall time", lambda run: _log(_seconds(run)), is_logarithm=True, is_of_surroundings=True),
    )


def pace_of(run: KeptTrace) -> float | None:
    """The logarithm of its seconds per step."""
    seconds = _seconds(run)
    return _log(seconds / run.step_count) if seconds is not None and run.step_count else None


def is_cut_off(run: KeptTrace) -> float:
    return float(run.trace.end_state is EndState.TIMEOUT)


def why_not_compared(run: KeptTrace, *, tells_steps: bool) -> str | None:
    """A run that tells nothing of its agent, and why. `tells_steps` says whether runs of its sort tell their steps."""
    trace = run.trace
    if trace.end_state is EndState.NEVER_RAN or trace.model_spoke is False:
        return "never ran"
    if trace.end_state in _REFUSED_BY_PROVIDER:
        return "were refused by their provider"
    silent = tells_steps and not run.step_count and not trace.model_calls and not _tokens(run)
    if silent and trace.outcome is not Result.SUCCESS and trace.model_spoke is not True:
        return "told no step"
    return None


class PathFacts:
    """What a path tells by itself."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols

    def verified(self, run: KeptTrace) -> bool | None:
        """Whether a test followed the last edit; None where nothing was edited but documents, which need no test."""
        tested = False
        for code in reversed(run.path):
            symbol = self._symbol(code)
            if symbol in _TESTS:
                tested = True
            elif phase_of(symbol) in _EDITS and not symbol.endswith(_NOTHING_TO_TEST):
                return tested
        return None

    def failed_share(self, run: KeptTrace) -> float | None:
        """Of the steps of its path; None where it tells none."""
        failed = sum(self._symbol(code).endswith(FAILED_SUFFIX) for code in run.path)
        return failed / len(run.path) if run.path else None

    def _symbol(self, code: int) -> str:
        return self._symbols.text(code)


def _outside(run: KeptTrace) -> float | None:
    facts = run.trace.facts
    looked = any(told is not None for told in (facts.outside, facts.files, facts.insertions))
    return float(bool(facts.outside)) if looked else None


def _flag(*told: bool | None) -> float | None:
    """Of the first that is known."""
    return next((float(one) for one in told if one is not None), None)


def _any(count: int | None) -> float | None:
    return None if count is None else float(count > 0)


def _tokens(run: KeptTrace) -> int | None:
    usage = run.trace.usage
    return usage.input_total + usage.output if usage is not None else None


def _seconds(run: KeptTrace) -> float | None:
    started, ended = run.trace.started, run.trace.ended
    return ended - started if started is not None and ended is not None else None


def _log(value: float | None) -> float | None:
    return math.log(value) if value is not None and value > 0 else None
