"""Is a turn going round in circles? Follows its tool calls, one entry at a time.

An agent that calls the same tool with the same arguments and gets the same result, over and over, has stopped
working. Nothing else is a loop by itself; but there is a number of calls and answers that no sensible turn needs.
Bounded: a few open calls, one digest and three numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from zlib import crc32

from paddock.core.trace import STEP_LIMIT, End, Text, ToolCall, ToolResult, ToolStatus, TraceEntry, one_line

KEPT_OPEN_CALLS = 64


@dataclass(frozen=True, slots=True)
class LoopLimits:
    """0 is no limit. `repeats` of one call with one result in a row; `calls` of tools and `answers` of the model in
    one turn."""

    repeats: int = 0
    calls: int = 0
    answers: int = 0


@dataclass(frozen=True, slots=True)
class ToolUse:
    """`open` are calls without a result yet, by their id, with what was called; `what` is the latest that has ended,
    and `failed` says whether it did.

    `repeats` counts how often in a row a call like the latest has ended as it did.
    """

    open: Mapping[str, ToolCall] = field(default_factory=dict)
    calls: int = 0
    answers: int = 0
    repeats: int = 0
    what: str = ""
    latest: tuple[str, str, int] | None = None
    is_answering: bool = False
    failed: bool = False

    @property
    def is_running(self) -> bool:
        return bool(self.open)


def follow(use: ToolUse, entry: TraceEntry) -> ToolUse:
    """An answer is a stretch of words and calls with no result in between, whatever number of lines it comes in."""
    match entry:
        case ToolCall():
            opened = {**use.open, entry.call_id: entry}
            while len(opened) > KEPT_OPEN_CALLS:
                del opened[next(iter(opened))]
            return replace(_answered(use), open=opened, calls=use.calls + 1)
        case Text(model_spoke=True):
            return _answered(use)
        case ToolResult():
            return _ended(use, entry)
        case End():
            return replace(use, open={}, is_answering=False)
        case _:
            return use


def why_looping(use: ToolUse, limits: LoopLimits) -> str:
    """In words what shows that the turn is in a loop, or nothing."""
    if limits.repeats and use.repeats >= limits.repeats:
        return f"the same call with the same result {use.repeats} times in a row: {use.what}"
    if limits.calls and use.calls > limits.calls:
        return f"more than {limits.calls:,} tool calls in one turn (`limits.max_calls`); the latest: {use.what}"
    if limits.answers and use.answers > limits.answers:
        return f"more than {limits.answers:,} model answers in one turn (`limits.max_turns`)"
    return ""


def _answered(use: ToolUse) -> ToolUse:
    return use if use.is_answering else replace(use, answers=use.answers + 1, is_answering=True)


def _ended(use: ToolUse, result: ToolResult) -> ToolUse:
    call = use.open.get(result.call_id)
    left = {name: one for name, one in use.open.items() if name != result.call_id}
    failed = result.status is not ToolStatus.OK or bool(result.exit_code)
    ended = replace(use, open=left, is_answering=False, failed=failed)
    if call is None:
        return ended
    what = one_line(f"{call.tool} {call.argument}", STEP_LIMIT)
    if not call.digest:
        # Its arguments are not shown: two of them are never known to be the same.
        return replace(ended, repeats=0, what=what, latest=None)
    outcome = f"{result.status.value} {result.exit_code} {result.output}"
    latest = (call.tool, call.digest, crc32(outcome.encode("utf-8", "replace")))
    return replace(ended, repeats=use.repeats + 1 if latest == use.latest else 1, what=what, latest=latest)
