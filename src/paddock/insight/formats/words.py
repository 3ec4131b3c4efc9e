"""What sources say, in our words: outcomes, ends, states of steps, times. For any value, None where it says nothing."""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache

from paddock.insight.trace import EndState, Result, StepStatus

SUCCESS_WORDS = frozenset(
    "success successful succeeded succeed passed pass passing resolved solved ok okay true yes y t 1 landed delivered"  # noqa: SIM905
    " merged accepted correct good complete completed done approved fixed green resolved_full ✅ ✓ ✔".split()
)
FAILURE_WORDS = frozenset(
    "failure failed fail failing unresolved unsolved error errored false no n f 0 incorrect wrong rejected bad empty"  # noqa: SIM905
    " unsaved not_resolved red incomplete partial reverted broken discarded abandoned resolved_no resolved_partial"
    " ❌ ✗ ✘".split()
)
END_WORDS: dict[EndState, str] = {
    EndState.OK: "ok okay completed complete finished done normal success succeeded submitted end_turn stop exited"
    " delivered landed resolved passed unset none noop empty unsaved end_of_turn tool_use test_timeout parse_error"
    " tests_failed test_failed tests_timed_out verification_failed stop_sequence user_stop agent_stop",
    EndState.GAVE_UP: "gave_up give_up giveup forfeit exit_forfeit no_submission no_patch stuck gaveup early_exit"
    " abandoned stalled exit_format not_submitted not_finished unfinished empty_patch no_generation no_change"
    " no_changes no_diff",
    EndState.TIMEOUT: "timeout timed_out agent_timeout time_out deadline deadline_exceeded time_limit timedout"
    " exit_timeout exit_total_execution_time command_timeout",
    EndState.KILLED: "killed kill cancelled canceled interrupted aborted abort terminated sigkill sigterm oom stopped"
    " user_cancelled turn_aborted lost",
    EndState.CRASHED: "crashed crash exception internal_error error errored exit_error unknown_agent_error agent_error"
    " fatal exit_environment_error exit_api runtime_error panic segfault failed_to_finish",
    EndState.NEVER_RAN: "never_ran neverran never_run not_started never_started not_run did_not_run no_run"
    " agent_installation_failed installation_failed install_failed setup_failed setup_error failed_to_start",
    EndState.BUDGET: "budget over_budget cost_limit exit_cost exit_context context_length_exceeded max_turns"
    " token_limit max_tokens max_steps step_limit turn_limit context_window output_length_exceeded limit_exceeded"
    " length max_iterations limitsexceeded out_of_budget cost_limit_exceeded submitted_exit_cost"
    " submitted_exit_context early_exit_cost error_max_turns error_max_budget_usd",
    EndState.REFUSED: "refused refusal content_filter content_filtered declined policy safety blocked",
    EndState.THROTTLED: "throttled rate_limit rate_limited ratelimit ratelimited rate_limit_error too_many_requests 429"
    " quota quota_exceeded retries_exhausted usage_limit",
    EndState.OVERLOADED: "overloaded overload overloaded_error 529 503 service_unavailable server_error",
    EndState.UNKNOWN: "unknown null na n/a",
}
_END_OF_WORD = {word: state for state, known in END_WORDS.items() for word in known.split()}
_END_PARTS: tuple[tuple[str, EndState], ...] = (
    ("never", EndState.NEVER_RAN),
    ("not_start", EndState.NEVER_RAN),
    ("not_run", EndState.NEVER_RAN),
    ("failed_to_start", EndState.NEVER_RAN),
    ("setup_failed", EndState.NEVER_RAN),
    ("setup_error", EndState.NEVER_RAN),
    ("install_failed", EndState.NEVER_RAN),
    ("installation_failed", EndState.NEVER_RAN),
    ("rate_limit", EndState.THROTTLED),
    ("ratelimit", EndState.THROTTLED),
    ("quota", EndState.THROTTLED),
    ("overload", EndState.OVERLOADED),
    ("timeout", EndState.TIMEOUT),
    ("timed_out", EndState.TIMEOUT),
    ("exit_cost", EndState.BUDGET),
    ("exit_context", EndState.BUDGET),
    ("budget", EndState.BUDGET),
    ("context_length", EndState.BUDGET),
    ("context_window", EndState.BUDGET),
    ("max_turns", EndState.BUDGET),
    ("max_steps", EndState.BUDGET),
    ("max_iterations", EndState.BUDGET),
    ("limit", EndState.BUDGET),
    ("refus", EndState.REFUSED),
    ("content_policy", EndState.REFUSED),
    ("contentpolicy", EndState.REFUSED),
    ("stuck", EndState.GAVE_UP),
    ("not_submitted", EndState.GAVE_UP),
    ("kill", EndState.KILLED),
    ("cancel", EndState.KILLED),
    ("interrupt", EndState.KILLED),
    ("abort", EndState.KILLED),
    ("crash", EndState.CRASHED),
    ("exception", EndState.CRASHED),
    ("error", EndState.CRASHED),
    ("submitted", EndState.OK),
)
# What is longer is prose, in which any word may stand for anything.
_LONGEST_END = 60
STEP_OK_WORDS = frozenset(
    "ok okay success succeeded successful completed complete done passed pass true 0 finished".split()  # noqa: SIM905
)
STEP_DENIED_WORDS = frozenset(
    "denied declined rejected refused forbidden not_allowed blocked permission_denied".split()  # noqa: SIM905
)
STEP_UNKNOWN_WORDS = frozenset(
    "unknown unset pending running in_progress cancelled canceled none null".split()  # noqa: SIM905
)
_KEY_GAP = re.compile(r"[\s-]+|(?<=[a-z0-9])(?=[A-Z])")
_GAP = re.compile(r"[\s-]+")
_MEMBER = re.compile(r"[a-z_]+\.(?=[a-z_]+\Z)")
_EXIT = re.compile(r"(?:exit|exited|exit_code|exit_status|exited_with_code|returncode)?[ _:=(]*(-?\d{1,4})\)?\Z")
_EXITS = {0: EndState.OK, 124: EndState.TIMEOUT, 130: EndState.KILLED, 137: EndState.KILLED, 143: EndState.KILLED}
_NO_RESULT = frozenset({"unknown", "none", "null", "unset", "n/a", "na", "skipped", "inconclusive"})
_GOOD = frozenset("passed resolved solved succeeded success successful correct".split())  # noqa: SIM905
_BAD = frozenset("failed failure unresolved unsolved unsuccessful incorrect wrong".split())  # noqa: SIM905
_TURNED = frozenset("not no never none non without partially partly partial 0 zero almost".split())  # noqa: SIM905
_MOST_WORDS = 3
_VERDICT_KEYS = ("resolved", "passed", "success", "outcome", "result", "status", "ok", "reward", "score")
ENOUGH = 0.999_999
"""A reward that counts as the whole of it, whatever it has been added up from."""


@lru_cache(maxsize=4096)
def plain_key(key: str) -> str:
    """In lower case with underscores, also where `camelCase` has a hump."""
    return _KEY_GAP.sub("_", key.strip()).lower()


def word_of(value: object) -> str:
    """In lower case with underscores; a member of an enumeration without its name."""
    if not isinstance(value, str):
        return ""
    return _MEMBER.sub("", _GAP.sub("_", value[:200].strip().rstrip(".!").lower()))


def read_result(value: object) -> Result | None:
    """Of words, booleans and shares: 1 is success and less a failure. What is beyond 1 is a count of something else."""
    if isinstance(value, bool):
        return Result.SUCCESS if value else Result.FAILURE
    if isinstance(value, Mapping):
        return next((read_result(value[key]) for key in _VERDICT_KEYS if key in value), None)
    number = read_number(value)
    if number is not None:
        return None if not 0 <= number <= 1 else Result.SUCCESS if number >= ENOUGH else Result.FAILURE
    word = word_of(value)
    if word in SUCCESS_WORDS:
        return Result.SUCCESS
    if word in FAILURE_WORDS:
        return Result.FAILURE
    return Result.UNKNOWN if word in _NO_RESULT else _result_of_phrase(word.split("_"))


def _result_of_phrase(words: list[str]) -> Result | None:
    """Such as `tests failed` or `partially resolved`; `0 failed` says too little."""
    if not 1 < len(words) <= _MOST_WORDS:
        return None
    is_good, is_bad, is_turned = (not known.isdisjoint(words) for known in (_GOOD, _BAD, _TURNED))
    if is_good is is_bad or (is_bad and is_turned):
        return None
    return Result.SUCCESS if is_good and not is_turned else Result.FAILURE


def read_end_state(value: object) -> EndState | None:
    """Of words, and of the exit status of a process."""
    word = str(value) if isinstance(value, int) and not isinstance(value, bool) else word_of(value)
    if not word:
        return None
    known = _END_OF_WORD.get(word)
    if known is not None or len(word) > _LONGEST_END:
        return known
    if (exited := _EXIT.match(word)) is not None:
        status = int(exited[1])
        return _EXITS.get(status, EndState.KILLED if status < 0 else EndState.CRASHED)
    return next((state for part, state in _END_PARTS if part in word), None)


def read_step_status(value: object) -> StepStatus | None:
    """Numbers are exit codes."""
    if value is None:
        return None
    if isinstance(value, bool):
        return StepStatus.OK if value else StepStatus.ERROR
    if isinstance(value, int | float):
        return StepStatus.OK if value == 0 else StepStatus.ERROR
    word = word_of(value)
    if word in STEP_OK_WORDS or not word:
        return StepStatus.OK
    if word in STEP_DENIED_WORDS:
        return StepStatus.DENIED
    return StepStatus.UNKNOWN if word in STEP_UNKNOWN_WORDS else StepStatus.ERROR


def read_number(value: object) -> float | None:
    """A finite one, also where it is written as text."""
    kind = type(value)
    if kind is float:
        return value if math.isfinite(value) else None  # type: ignore[return-value, arg-type]
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and len(value) > 40:
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def read_count(value: object) -> int | None:
    """Never negative, never absurd."""
    number = read_number(value)
    return None if number is None or number < 0 else int(min(number, 2**53))


# Beyond these a number cannot be in seconds, milliseconds or microseconds: they are of the year 5138.
LATEST_SECONDS = 1e11


def read_time(value: object) -> float | None:
    """Seconds since the epoch, of ISO 8601 (without a zone: UTC), of a date as mails have it, or of seconds, milli-,
    micro- or nanoseconds."""
    if isinstance(value, str) and not _NUMBER.issuperset(value):
        return _of_text(value.strip())
    number = read_number(value)
    if number is None or number < 0:
        return None
    while number >= LATEST_SECONDS:
        number /= 1000
    return number


def _of_text(text: str) -> float | None:
    if len(text) > 60:
        return None
    try:
        moment = parsedate_to_datetime(text) if "," in text else datetime.fromisoformat(_as_iso(text))
    except (ValueError, IndexError, TypeError):
        return None
    try:
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
    return seconds if 0 <= seconds < LATEST_SECONDS else None


def _as_iso(text: str) -> str:
    if text.endswith(" UTC"):
        text = text[:-4] + "+00:00"
    return text.replace("/", "-") if text[4:5] == "/" else text


_NUMBER = frozenset("0123456789.+eE")
_CLOCK = re.compile(r"(?:(\d{1,4}):)?(\d{1,2}):(\d{2}(?:\.\d+)?)\Z")
_WORDS = re.compile(r"(\d{1,9}(?:\.\d+)?)\s?(ms|s|sec|secs|seconds?|m|min|mins|minutes?|h|hours?)\Z")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(r"P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?\Z")


def read_duration(value: object) -> float | None:
    """Seconds, of a number of them, of ISO 8601 (`PT1M2.5S`), of a clock (`0:01:30`) or with a unit; never negative."""
    if isinstance(value, str) and len(value) < 40:
        if (clock := _CLOCK.match(value)) is not None:
            hours, minutes, seconds = (float(part or 0) for part in clock.groups())
            return (hours * 60 + minutes) * 60 + seconds
        if (told := _WORDS.match(value.strip().lower())) is not None:
            return float(told[1]) * _UNITS["ms" if told[2] == "ms" else told[2][0]]
    if isinstance(value, str) and value.startswith("P") and len(value) < 40:
        match = _DURATION.match(value)
        if match is None:
            return None
        days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
        return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    number = read_number(value)
    return number if number is not None and number >= 0 else None
