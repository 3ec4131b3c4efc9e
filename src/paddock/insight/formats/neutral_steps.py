"""The steps of a neutral line: objects, or plain words."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache

from paddock.core.trace import clip
from paddock.insight.activities import activity_of
from paddock.insight.formats.bounds import name_text, plain_text
from paddock.insight.formats.neutral_fields import STEP_FIELDS, STEP_NAMES, plain_key
from paddock.insight.formats.words import read_count, read_duration, read_number, read_step_status, read_time
from paddock.insight.phases import Phase, one_word
from paddock.insight.trace import NAME_CHARS, STEP_ERROR_CHARS, TARGET_CHARS, Step, StepStatus

_SYMBOL = re.compile(r"([A-Z][A-Z_]{1,30})(:[a-z][a-z_-]{0,30})?\Z")
_PHASES = frozenset(phase.value for phase in Phase)
_STATUSES = {status.value: status for status in StepStatus}
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
    return tuple(
        [
            _read_object(item) if isinstance(item, dict) else _read_words(item)
            for item in value[:most]
            if isinstance(item, dict | str)
        ]
    )


@lru_cache(maxsize=1024)
def _shape_of(keys: tuple[str, ...]) -> _StepShape:
    found: dict[str, str] = {}
    for key in keys:
        name = STEP_NAMES.get(key) or STEP_NAMES.get(plain_key(key))
        if name is not None and (name not in found or key == name):
            found[name] = key
    return _StepShape(**found)


def _read_object(item: Mapping[str, object]) -> Step:
    shape, get = _shape_of(tuple(item)), item.get
    called, argument = get(shape.tool), get(shape.argument)
    if isinstance(called, dict):
        # As OpenAI has it: a function with its name and arguments.
        function: Mapping[str, object] = called
        called, argument = function.get("name"), function.get("arguments", argument)
    tool = _name(called)
    activity, failed = _symbol(_name(get(shape.activity)))
    target = _text(get(shape.target), 1 << 13)
    if not activity and (argument is not None or len(target) > TARGET_CHARS):
        seen = activity_of(tool or "bash", _argument(argument) if argument is not None else target)
        activity, target = seen.symbol, target if target and len(target) <= TARGET_CHARS else seen.target
    code = read_number(get(shape.exit))
    error = get(shape.error)
    status, code = _status(item, shape, code, told_error=error is True or bool(error))
    seconds = get(shape.seconds)
    milliseconds = None if seconds is not None else read_duration(get(shape.milliseconds))
    turn = get(shape.turn)
    at = get(shape.at)
    return Step(
        tool,
        activity,
        target if len(target) <= TARGET_CHARS else one_word(target),
        StepStatus.ERROR if failed and status is StepStatus.OK else status,
        "" if error is None or error is True else _text(error, STEP_ERROR_CHARS),
        None if at is None else read_time(at),
        read_duration(seconds) if milliseconds is None else milliseconds / 1000,
        int(code) if code is not None and abs(code) < _MOST_EXIT else None,
        _name(get(shape.agent)),
        0 if turn is None else read_count(turn) or 0,
    )


def _status(
    item: Mapping[str, object], shape: _StepShape, code: float | None, *, told_error: bool
) -> tuple[StepStatus, float | None]:
    """What is said, else what the rest amounts to; a number among it is the exit code."""
    told = item.get(shape.status)
    if isinstance(told, str) and (known := _STATUSES.get(told)) is not None:
        return known, code
    if isinstance(told, int | float) and not isinstance(told, bool) and code is None and not 200 <= told < 300:
        code = read_number(told)
    status = StepStatus.OK if isinstance(told, int) and 200 <= told < 300 else read_step_status(told)
    if status is None:
        success, wrong = item.get(shape.success), item.get(shape.is_error)
        failed = wrong is True or success is False or bool(code) or told_error
        status = StepStatus.ERROR if failed else StepStatus.OK
    return status, code


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


def _name(value: object) -> str:
    if type(value) is str and len(value) <= NAME_CHARS and value.isascii():
        return value
    return name_text(value)


def _text(value: object, limit: int) -> str:
    if type(value) is str and len(value) <= limit and value.isascii():
        return value
    return plain_text(value, limit)


def _argument(value: object) -> str | Mapping[str, object]:
    if isinstance(value, dict):
        return value
    if isinstance(value, list):
        return {"command": value}
    return plain_text(value, 1 << 14)
