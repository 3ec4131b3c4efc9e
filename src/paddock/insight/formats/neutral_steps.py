"""The steps of a neutral line: objects, or plain words."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache

from paddock.core.trace import clip
from paddock.insight.activities import activity_of
from paddock.insight.formats.bounds import name_text, plain_text
from paddock.insight.formats.failed_output import says_failed
from paddock.insight.formats.neutral_fields import STEP_FIELDS, STEP_NAMES
from paddock.insight.formats.words import (
    LATEST_SECONDS,
    plain_key,
    read_count,
    read_duration,
    read_number,
    read_result,
    read_step_status,
    read_time,
)
from paddock.insight.phases import Phase, one_word
from paddock.insight.trace import NAME_CHARS, STEP_ERROR_CHARS, TARGET_CHARS, Result, Step, StepStatus

_SYMBOL = re.compile(r"([A-Z][A-Z_]{1,30})(:[a-z][a-z_-]{0,30})?\Z")
_PHASES = frozenset(phase.value for phase in Phase)
_STATUSES = {status.value: status for status in StepStatus}
_BAD = (StepStatus.ERROR, StepStatus.DENIED)
_WORD_CHARS = 20
_STATUS_OF_WORD = {
    "ok": StepStatus.OK,
    "success": StepStatus.OK,
    "error": StepStatus.ERROR,
    "failed": StepStatus.ERROR,
    "denied": StepStatus.DENIED,
}
_ABSENT = "\0absent"
_MOST_EXIT = 2**31


@dataclass(frozen=True, slots=True)
class _StepShape:
    """Under which key a step of some sort has each field."""

    tool: str = _ABSENT
    activity: str = _ABSENT
    target: str = _ABSENT
    argument: str = _ABSENT
    status: str = _ABSENT
    success: str = _ABSENT
    is_error: str = _ABSENT
    error: str = _ABSENT
    output: str = _ABSENT
    exit: str = _ABSENT
    at: str = _ABSENT
    seconds: str = _ABSENT
    milliseconds: str = _ABSENT
    agent: str = _ABSENT
    turn: str = _ABSENT


assert {field.name for field in fields(_StepShape)} == set(STEP_FIELDS)


def read_steps(value: object, most: int) -> tuple[Step, ...]:
    if not isinstance(value, list):
        return ()
    steps = [
        _read_object(item) if isinstance(item, dict) else _read_words(item)
        for item in value[:most]
        if isinstance(item, dict | str)
    ]
    return tuple(step for step in steps if step is not None)


@lru_cache(maxsize=1024)
def _shape_of(keys: tuple[str, ...]) -> _StepShape:
    found: dict[str, str] = {}
    for key in keys:
        name = STEP_NAMES.get(key) or STEP_NAMES.get(plain_key(key))
        if name is not None and (name not in found or key == name):
            found[name] = key
    return _StepShape(**found)


def _read_object(item: Mapping[str, object]) -> Step | None:
    """None of what is no call of a tool, such as a thought."""
    shape, get = _shape_of(tuple(item)), item.get
    called, argument = get(shape.tool), get(shape.argument)
    if isinstance(called, dict):
        # As OpenAI has it: a function with its name and arguments.
        function: Mapping[str, object] = called
        called = function.get("name") or function.get("tool")
        argument = next((function[name] for name in ("arguments", "args", "input") if name in function), argument)
    tool = _name(called)
    word = _name(get(shape.activity))
    activity, failed = _symbol(word)
    target = _text(get(shape.target), 1 << 13)
    if word and not activity and not tool:
        activity = _of_own_word(word, target if argument is None else _argument(argument))
    if not activity and (tool or target or argument is not None):
        seen = activity_of(tool or "bash", target if argument is None else _argument(argument))
        activity, target = seen.symbol, target if target and len(target) <= TARGET_CHARS else seen.target
    error, output = get(shape.error), get(shape.output)
    status, code = _status(item, shape, output, error is True or bool(error))
    if failed and status is StepStatus.OK:
        status = StepStatus.ERROR
    if error is None and output is not None and status in _BAD:
        error = output
    if not activity and status is StepStatus.OK and code is None and not error:
        return None
    seconds, turn, at = get(shape.seconds), get(shape.turn), get(shape.at)
    milliseconds = None
    if seconds is None and (told := get(shape.milliseconds)) is not None:
        milliseconds = read_duration(told)
    return Step(
        tool,
        activity,
        target if len(target) <= TARGET_CHARS else one_word(target),
        status,
        "" if error is None or error is True else _text(error, STEP_ERROR_CHARS),
        at if type(at) is float and 0 <= at < LATEST_SECONDS else None if at is None else read_time(at),
        _duration(seconds) if milliseconds is None else milliseconds / 1000,
        code,
        _name(get(shape.agent)),
        0 if turn is None else read_count(turn) or 0,
    )


def _status(
    item: Mapping[str, object], shape: _StepShape, output: object, told_error: bool
) -> tuple[StepStatus, int | None]:
    """What is said, else what the rest amounts to, and the exit code; a number that is said is one as well."""
    code, told = _whole(item.get(shape.exit)), item.get(shape.status)
    if type(told) is str:
        known = _STATUSES.get(told)
        if known is not None:
            return known, code
    elif type(told) is int and 200 <= told < 300:
        return StepStatus.OK, code
    elif isinstance(told, int | float) and told is not True and told is not False and code is None:
        code = _whole(told)
    status = read_step_status(told)
    if status is None and type(output) is str and len(output) < _WORD_CHARS and code is None:
        status = _STATUS_OF_WORD.get(output.strip().lower())
    if status is not None:
        return status, code
    success, wrong = item.get(shape.success), item.get(shape.is_error)
    if success is not None or wrong is not None or code is not None or told_error:
        failed = _is(wrong, Result.SUCCESS) or _is(success, Result.FAILURE) or bool(code) or told_error
        return StepStatus.ERROR if failed else StepStatus.OK, code
    failed = type(output) is str and says_failed(output)
    return StepStatus.ERROR if failed else StepStatus.OK, code


def _duration(value: object) -> float | None:
    if value is None or (type(value) is float and 0 <= value < LATEST_SECONDS):
        return value
    return read_duration(value)


def _is(value: object, result: Result) -> bool:
    return value is not None and read_result(value) is result


def _whole(value: object) -> int | None:
    if value is None:
        return None
    if type(value) is int:
        return value if -_MOST_EXIT < value < _MOST_EXIT else None
    number = read_number(value)
    return int(number) if number is not None and abs(number) < _MOST_EXIT else None


def _read_words(words: str) -> Step:
    """A symbol, or a tool and what it was called with: `Bash: pytest -q`, `Edit(src/a.py)`, `pytest -q`."""
    activity, failed = _symbol(words[:NAME_CHARS].strip())
    if activity:
        return Step(activity=activity, status=StepStatus.ERROR if failed else StepStatus.OK)
    match = _CALLED.match(words[:8000])
    tool, argument = (match[1], match[2].removesuffix(")")) if match else (words, "")
    seen = activity_of(clip(tool, NAME_CHARS), argument)
    return Step(tool=clip(tool, NAME_CHARS), activity=seen.symbol, target=seen.target)


_CALLED = re.compile(r"([\w.-]{1,80})(?::\s*|\()(.*)", re.DOTALL)


@lru_cache(maxsize=4096)
def _symbol(text: str) -> tuple[str, bool]:
    """The symbol and whether it says that the step has failed; empty where the text is none."""
    if not text:
        return "", False
    plain = text.removesuffix("!")
    if not _SYMBOL.match(plain):
        phase, colon, sort = plain.partition(":")
        phase = plain_key(phase).upper()
        plain = f"{phase}{colon}{sort.strip().lower()}" if phase in _PHASES else ""
    return (plain, plain != text and text.endswith("!")) if _SYMBOL.match(plain) else ("", False)


def _of_own_word(word: str, argument: str | Mapping[str, object]) -> str:
    """Of a word that is none of ours, what a tool of that name does: `run_tests`, `Edit file`. What nobody knows keeps
    its word, so that it is told apart from others."""
    name = plain_key(word)
    symbol = activity_of(name, argument).symbol
    return f"{symbol}:{name}" if symbol == Phase.OTHER and _SYMBOL.match(f"{symbol}:{name}") else symbol


def _name(value: object) -> str:
    if value is None:
        return ""
    if type(value) is str and len(value) <= NAME_CHARS and value.isascii():
        return value
    return name_text(value)


def _text(value: object, limit: int) -> str:
    if value is None:
        return ""
    if type(value) is str and len(value) <= limit and value.isascii():
        return value
    return plain_text(value, limit)


def _argument(value: object) -> str | Mapping[str, object]:
    if isinstance(value, dict):
        return value
    if isinstance(value, list):
        return {"command": value}
    return _text(value, 1 << 14)
