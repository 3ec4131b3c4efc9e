"""The normalised steps of a turn, and what they add up to.

Every engine's output is translated into the entries below; everything that reads a turn (the judge, `tail`,
insight) reads these and never an engine's own format. `observe` folds entries one at a time into a
`TurnSummary` of bounded size, so a turn of any length is summarised without being held.

Entries carry no time: most engines print none, and the reader of the output file knows better.
"""

import re
from enum import StrEnum
from typing import TypeAlias, assert_never

import msgspec
from msgspec.structs import replace

TEXT_LIMIT = 8_000
OUTPUT_LIMIT = 2_000
ARGUMENT_LIMIT = 1_000
ERROR_LIMIT = 2_000
STEP_LIMIT = 200
ID_LIMIT = 200
DIFF_LIMIT = 1_500
MODELS_LIMIT = 8

NOOP_WORD = "PADDOCK-NOOP:"
_NOOP = re.compile(rf"^[ \t>*`_]*{NOOP_WORD}[ \t]*(?P<reason>[^\r\n]*?)[ \t*`_]*$", re.MULTILINE)


class ToolStatus(StrEnum):
    OK = "ok"
    ERROR = "error"
    DENIED = "denied"


class UsageScope(StrEnum):
    """What a usage figure covers; it decides how `observe` takes it in.

    DELTA is new since the last figure and is added. TURN is the total of this turn so far and replaces what
    was added up. CONVERSATION is the total since the conversation began, earlier turns included: it replaces
    too, and `turn_usage` subtracts what was known when the turn began.
    """

    DELTA = "delta"
    TURN = "turn"
    CONVERSATION = "conversation"


class TroubleKind(StrEnum):
    """The provider's four ways to say no; each has a clock of its own."""

    PER_MINUTE = "per_minute"
    WINDOW = "window"
    OVERLOAD = "overload"
    AUTH = "auth"


class RequestFault(StrEnum):
    """Why a provider will not take a request, now or later: no clock helps, only another request or setting."""

    CONTENT = "content"
    TOO_LONG = "too_long"
    MODEL = "model"
    NOT_FOUND = "not_found"
    INVALID = "invalid"


class TroubleClass(StrEnum):
    NONE = "none"
    THROTTLED = "throttled"
    OVERLOADED = "overloaded"
    AUTH = "auth"


class Final(StrEnum):
    """The engine's own last word; NONE when it never gave one."""

    SUCCESS = "success"
    ERROR = "error"
    NONE = "none"


class TokenUsage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens by price class. Input is split: the sum of the first three is all the model read.

    `cost_usd` is None when the engine does not say; a known price is never mixed with a guessed one.
    """

    input_uncached: int = 0
    cache_write: int = 0
    cache_read: int = 0
    output: int = 0
    cost_usd: float | None = None

    @property
    def input_total(self) -> int:
        return self.input_uncached + self.cache_write + self.cache_read

    def plus(self, other: "TokenUsage") -> "TokenUsage":
        costs = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        return TokenUsage(
            input_uncached=self.input_uncached + other.input_uncached,
            cache_write=self.cache_write + other.cache_write,
            cache_read=self.cache_read + other.cache_read,
            output=self.output + other.output,
            cost_usd=sum(costs) if costs else None,
        )

    def minus(self, earlier: "TokenUsage") -> "TokenUsage":
        """What came on top of `earlier`; never negative."""
        return TokenUsage(
            input_uncached=max(0, self.input_uncached - earlier.input_uncached),
            cache_write=max(0, self.cache_write - earlier.cache_write),
            cache_read=max(0, self.cache_read - earlier.cache_read),
            output=max(0, self.output - earlier.output),
            cost_usd=None if self.cost_usd is None else max(0.0, self.cost_usd - (earlier.cost_usd or 0.0)),
        )


class ModelTokens(msgspec.Struct, frozen=True, omit_defaults=True):
    """The share one model has in a usage figure."""

    model: str
    tokens: TokenUsage


class SessionStarted(msgspec.Struct, frozen=True, omit_defaults=True, tag="session"):
    session_id: str
    model: str = ""
    engine_version: str = ""


class Text(msgspec.Struct, frozen=True, omit_defaults=True, tag="text"):
    """Words of the agent. `model_spoke` is False where a plain program's output stands in for them."""

    text: str
    model_spoke: bool = True


class Partial(msgspec.Struct, frozen=True, omit_defaults=True, tag="partial"):
    """A piece of an answer that is still being written; the whole of it follows as `Text`."""

    text: str = ""


class ToolCall(msgspec.Struct, frozen=True, omit_defaults=True, tag="call"):
    """`argument` is for people; `digest` stands for all arguments and is empty where the engine does not show them."""

    call_id: str
    tool: str
    argument: str = ""
    digest: str = ""


class ToolResult(msgspec.Struct, frozen=True, omit_defaults=True, tag="result"):
    call_id: str
    status: ToolStatus
    output: str = ""
    exit_code: int | None = None


class FileEdit(msgspec.Struct, frozen=True, omit_defaults=True, tag="edit"):
    """What a tool call is about to change in a file, as the lines of a small diff; follows its `ToolCall`."""

    call_id: str
    path: str
    diff: str = ""


class Usage(msgspec.Struct, frozen=True, omit_defaults=True, tag="usage"):
    """`models` splits the tokens by model, where several have a part in them and the engine says which."""

    tokens: TokenUsage
    scope: UsageScope
    models: tuple[ModelTokens, ...] = ()


class Uncounted(msgspec.Struct, frozen=True, omit_defaults=True, tag="uncounted"):
    """Calls of a model whose tokens the engine does not report."""

    calls: int = 1
    why: str = ""


class RateLimited(msgspec.Struct, frozen=True, omit_defaults=True, tag="limited"):
    """The provider refused a call. `retry_after` is in seconds, `resets_at` in epoch seconds."""

    kind: TroubleKind
    status: int | None = None
    retry_after: float | None = None
    resets_at: float | None = None
    message: str = ""


class WindowUse(msgspec.Struct, frozen=True):
    """How far one of an account's quota windows is used up, as a share; `resets_at` in epoch seconds."""

    name: str
    used: float
    resets_at: float


class WindowsTold(msgspec.Struct, frozen=True, omit_defaults=True, tag="windows"):
    """What the provider said of the account's quota windows while it took calls.

    `extra`: calls beyond them are taken too, and paid for.
    """

    windows: tuple[WindowUse, ...]
    extra: bool = False


class Error(msgspec.Struct, frozen=True, omit_defaults=True, tag="error"):
    """`fault` is set when the provider refused the request itself, such as with a 400."""

    message: str
    fault: RequestFault | None = None


class Progress(msgspec.Struct, frozen=True, omit_defaults=True, tag="progress"):
    """A structured sign of life with nothing in it worth keeping."""

    what: str = ""


class End(msgspec.Struct, frozen=True, omit_defaults=True, tag="end"):
    """The engine's final word on the turn."""

    success: bool
    reason: str = ""
    permission_denials: int = 0
    refused: bool = False


TraceEntry: TypeAlias = (
    SessionStarted
    | Text
    | Partial
    | ToolCall
    | FileEdit
    | ToolResult
    | Usage
    | Uncounted
    | RateLimited
    | WindowsTold
    | Error
    | Progress
    | End
)


class TurnSummary(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a turn's entries add up to. Bounded: every field is a number, a flag or a cut string.

    `trouble` is the provider's refusal that still stands: work done after it clears it, so a turn that timed
    out in backoff keeps its cause and one that recovered does not. `refusals` counts all of them. `fault` is likewise
    the refused request that still stands.
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
    refused: bool = False
    final: Final = Final.NONE
    final_reason: str = ""

    @property
    def trouble_class(self) -> TroubleClass:
        if self.trouble is None:
            return TroubleClass.NONE
        match self.trouble.kind:
            case TroubleKind.PER_MINUTE | TroubleKind.WINDOW:
                return TroubleClass.THROTTLED
            case TroubleKind.OVERLOAD:
                return TroubleClass.OVERLOADED
            case TroubleKind.AUTH:
                return TroubleClass.AUTH

    @property
    def retry_after(self) -> float | None:
        return None if self.trouble is None else self.trouble.retry_after


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
        case Progress() | FileEdit() | WindowsTold():
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
        reason = match["reason"].strip()
        if reason and not (reason.startswith("<") and reason.endswith(">")):
            found = clip(reason, STEP_LIMIT)
    return found


def clip(text: str, limit: int) -> str:
    """`text` in at most `limit` characters, keeping head and tail, and always encodable as UTF-8."""
    if len(text) > limit:
        head = max(0, limit * 2 // 3 - 3)
        tail = max(0, limit - head - 3)
        text = f"{text[:head]} … {text[len(text) - tail :]}"[:limit]
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def one_line(text: str, limit: int) -> str:
    """The first `limit` characters with runs of white space made single spaces."""
    words = " ".join(text[: limit * 4].split())
    cut = words if len(words) <= limit else words[: limit - 1] + "…"
    return clip(cut, limit)
