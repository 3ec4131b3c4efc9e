"""What the entries of a turn add up to.

`observe` folds them one at a time into a `TurnSummary` of bounded size, so a turn of any length is summarised without
being held.
"""

import re
from enum import StrEnum
from typing import assert_never

import msgspec
from msgspec.structs import replace

from paddock.core.trace import (
    ERROR_LIMIT,
    ID_LIMIT,
    STEP_LIMIT,
    DialogClosed,
    DialogOpened,
    End,
    Error,
    FileEdit,
    MessagesTaken,
    ModelTokens,
    Partial,
    Progress,
    Prompted,
    RateLimited,
    SessionStarted,
    Text,
    TokenUsage,
    ToolCall,
    ToolResult,
    ToolStatus,
    TraceEntry,
    Uncounted,
    Usage,
    UsageScope,
    WindowsTold,
    clip,
    one_line,
)

MODELS_LIMIT = 8

NOOP_WORD = "PADDOCK-NOOP:"
REFUTE_WORD = "PADDOCK-REFUTE:"
# Each part ends where the next can begin: agents write these lines, and a pattern that tries again would not end.
_NOOP = re.compile(rf"^[ \t>*`_]*{NOOP_WORD}(?P<reason>[^\r\n]*)", re.MULTILINE)
_REFUTED = re.compile(rf"^[ \t>*`_-]*{REFUTE_WORD}[ \t]*`?(?P<id>f[0-9]{{1,9}})`?[ \t:](?P<why>[^\r\n]*)", re.MULTILINE)
_DECORATION = " \t*`_"
MOST_REFUTED = 50


class Final(StrEnum):
    """The engine's own last word; NONE when it never gave one."""

    SUCCESS = "success"
    ERROR = "error"
    NONE = "none"


class TurnSummary(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a turn's entries add up to. Bounded: every field is a number, a flag or a cut string.

    `trouble` is the provider's refusal that still stands: work done after it clears it, so a turn that timed
    out in backoff keeps its cause and one that recovered does not. `refusals` counts all of them. `fault` is likewise
    the refused request that still stands. `refuted` are findings of a review that it holds to be wrong, and why.
    `calls` are those to a model that the engine told the use of by itself.
    `permission_denials` takes the greater of denied results seen and the engine's own count.
    """

    entries: int = 0
    session_id: str = ""
    model: str = ""
    saw_llm_call: bool = False
    steps: int = 0
    failed_steps: int = 0
    last_step: str = ""
    usage: TokenUsage = TokenUsage()
    usage_scope: UsageScope = UsageScope.DELTA
    calls: int = 0
    usage_told: bool = False
    models: tuple[ModelTokens, ...] = ()
    uncounted: int = 0
    trouble: RateLimited | None = None
    refusals: int = 0
    fault: Error | None = None
    last_error: str = ""
    permission_denials: int = 0
    noop_reason: str | None = None
    refuted: tuple[tuple[str, str], ...] = ()
    refused: bool = False
    final: Final = Final.NONE
    final_reason: str = ""


def observe(summary: TurnSummary, entry: TraceEntry) -> TurnSummary:
    """Take one more entry into the summary."""
    if isinstance(entry, Partial):
        # There are thousands of them in a turn, and nothing is sure before the whole answer.
        return summary
    seen = replace(summary, entries=summary.entries + 1)
    match entry:
        case SessionStarted():
            return _observe_session(seen, entry)
        case Text():
            return _observe_text(seen, entry)
        case ToolCall():
            step = one_line(f"{entry.tool} {entry.argument}", STEP_LIMIT)
            return replace(seen, saw_llm_call=True, steps=seen.steps + 1, last_step=step, trouble=None, fault=None)
        case ToolResult():
            return _observe_result(seen, entry)
        case Usage():
            return _observe_usage(seen, entry)
        case RateLimited():
            return _observe_refusal(seen, entry)
        case Error():
            return _observe_error(seen, entry)
        case Uncounted():
            return replace(seen, uncounted=seen.uncounted + entry.calls)
        case MessagesTaken():
            # Whatever it had ended with, it goes on.
            return replace(seen, final=Final.NONE, final_reason="")
        case Progress() | FileEdit() | WindowsTold() | Prompted() | DialogOpened() | DialogClosed():
            return seen
        case End():
            return _observe_end(seen, entry)
        case _:
            assert_never(entry)


def turn_usage(summary: TurnSummary, before: TokenUsage) -> TokenUsage:
    """What this turn alone used; `before` is the conversation's total when the turn began."""
    total = summary.usage
    counted_on = total.input_total >= before.input_total and total.output >= before.output
    if summary.usage_scope is UsageScope.CONVERSATION and counted_on:
        return total.minus(before)
    # An engine whose total fell has started counting from zero again.
    return total


def main_model(summary: TurnSummary) -> str:
    """The model that did most of the turn, as far as the engine tells."""
    if not summary.models:
        return summary.model
    return max(summary.models, key=lambda share: share.tokens.input_total + share.tokens.output).model


def uncounted_calls(summary: TurnSummary) -> int:
    """How many of the turn's calls are in no figure, at the least. A model that has spoken was called."""
    if summary.usage_told or not summary.saw_llm_call:
        return summary.uncounted
    return max(1, summary.uncounted)


def _observe_session(seen: TurnSummary, entry: SessionStarted) -> TurnSummary:
    # The first id stays: a sub-agent that announces its own must not steal the conversation.
    return replace(
        seen,
        session_id=seen.session_id or clip(entry.session_id, ID_LIMIT),
        model=seen.model or clip(entry.model, ID_LIMIT),
    )


def _observe_text(seen: TurnSummary, entry: Text) -> TurnSummary:
    step = one_line(entry.text, STEP_LIMIT)
    reason = find_noop(entry.text)
    seen = replace(
        seen,
        last_step=step or seen.last_step,
        noop_reason=seen.noop_reason if reason is None else reason,
        refuted=_refuted(seen.refuted, entry.text),
    )
    return replace(seen, saw_llm_call=True, trouble=None, fault=None) if entry.model_spoke else seen


def _observe_result(seen: TurnSummary, entry: ToolResult) -> TurnSummary:
    match entry.status:
        case ToolStatus.OK:
            return seen
        case ToolStatus.ERROR:
            return replace(seen, failed_steps=seen.failed_steps + 1)
        case ToolStatus.DENIED:
            denials = seen.permission_denials + 1
            return replace(seen, failed_steps=seen.failed_steps + 1, permission_denials=denials)


def _observe_usage(seen: TurnSummary, entry: Usage) -> TurnSummary:
    spoke = seen.saw_llm_call or entry.tokens.output > 0
    seen = replace(seen, usage_told=True, models=entry.models[:MODELS_LIMIT])
    if entry.scope is UsageScope.DELTA:
        calls = seen.calls + (1 if entry.tokens.input_total else 0)
        return replace(seen, usage=seen.usage.plus(entry.tokens), calls=calls, saw_llm_call=spoke)
    return replace(seen, usage=entry.tokens, usage_scope=entry.scope, saw_llm_call=spoke)


def _observe_refusal(seen: TurnSummary, entry: RateLimited) -> TurnSummary:
    # An engine tells the provider's pause when it retries and leaves it out when it gives up.
    before, message = seen.trouble, clip(entry.message, ERROR_LIMIT)
    if seen.final is Final.SUCCESS:
        # Read late, from another stream: the turn has got over it.
        return replace(seen, refusals=seen.refusals + 1)
    untimed = entry.retry_after is None and entry.resets_at is None
    if before is not None and untimed and before.kind is entry.kind:
        entry = replace(entry, retry_after=before.retry_after, resets_at=before.resets_at)
    return replace(
        seen,
        trouble=replace(entry, message=message),
        fault=None,
        refusals=seen.refusals + 1,
        last_error=message or seen.last_error,
    )


def _observe_error(seen: TurnSummary, entry: Error) -> TurnSummary:
    message = clip(entry.message, ERROR_LIMIT)
    if entry.fault is None or seen.final is Final.SUCCESS:
        return replace(seen, last_error=message)
    return replace(seen, last_error=message, fault=replace(entry, message=message), trouble=None)


def _observe_end(seen: TurnSummary, entry: End) -> TurnSummary:
    return replace(
        seen,
        final=Final.SUCCESS if entry.success else Final.ERROR,
        final_reason=one_line(entry.reason, STEP_LIMIT),
        permission_denials=max(seen.permission_denials, entry.permission_denials),
        refused=seen.refused or entry.refused,
        trouble=None if entry.success else seen.trouble,
        fault=None if entry.success else seen.fault,
    )


def find_noop(text: str) -> str | None:
    """The reason on the last `PADDOCK-NOOP:` line, or None. A placeholder such as `<reason>` is no reason."""
    found = None
    for match in _NOOP.finditer(text):
        reason = match["reason"].lstrip(" \t").rstrip(_DECORATION)
        if reason and not (reason.startswith("<") and reason.endswith(">")):
            found = clip(reason, STEP_LIMIT)
    return found


def _refuted(so_far: tuple[tuple[str, str], ...], text: str) -> tuple[tuple[str, str], ...]:
    """The findings that the agent holds to be wrong, each with its last word on why."""
    if REFUTE_WORD not in text:
        return so_far
    found = dict(so_far)
    for match in _REFUTED.finditer(text):
        why = match["why"].lstrip(" \t:").rstrip(_DECORATION)
        if why and not (why.startswith("<") and why.endswith(">")):
            found[match["id"]] = clip(why, ERROR_LIMIT)
    return tuple(found.items())[:MOST_REFUTED]
