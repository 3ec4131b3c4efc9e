"""The normalised steps of a turn.

Every engine's output is translated into the entries below; everything that reads a turn (the judge, `tail`,
insight) reads these and never an engine's own format. `core/summary.py` adds them up.

Entries carry no time: most engines print none, and the reader of the output file knows better.
"""

from enum import StrEnum
from typing import TypeAlias

import msgspec

TEXT_LIMIT = 8_000
OUTPUT_LIMIT = 2_000
ARGUMENT_LIMIT = 1_000
ERROR_LIMIT = 2_000
STEP_LIMIT = 200
ID_LIMIT = 200
DIFF_LIMIT = 1_500


class ToolStatus(StrEnum):
    OK = "ok"
    ERROR = "error"
    DENIED = "denied"


class UsageScope(StrEnum):
    """What a usage figure covers; it decides how a summary takes it in.

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


class TokenUsage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens by price class. Input is split: the sum of the first three is all the model read.

    `cost_usd` is None when the engine does not say; a known price is never mixed with a guessed one.
    """

    input_uncached: int = 0
    cache_write: int = 0
    cache_read: int = 0
    output: int = 0
    cost_usd: float | None = None

    @classmethod
    def of_all_input(cls, read: int, output: int, *, cached: int, written: int = 0) -> "TokenUsage":
        """Where the figure for input is all the model read: what the cache gave and took is within."""
        return cls(max(0, read - cached - written), written, cached, output)

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
    """What a tool call is about to change in a file, as the lines of a small diff; follows its `ToolCall`.

    `insertions` and `deletions` count all lines, also those that the diff leaves out.
    """

    call_id: str
    path: str
    diff: str = ""
    insertions: int = 0
    deletions: int = 0


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


class Prompted(msgspec.Struct, frozen=True, omit_defaults=True, tag="prompted"):
    """Words of whoever talks to the agent, as the engine has them in its conversation."""

    text: str


class MessagesTaken(msgspec.Struct, frozen=True, omit_defaults=True, tag="taken"):
    """The engine has these messages, each named by its record's number; `evidence` is where that is seen."""

    messages: tuple[int, ...]
    evidence: str = ""


class DialogOpened(msgspec.Struct, frozen=True, omit_defaults=True, tag="dialog"):
    """The engine waits for a person to choose one of `options`. `request` is its own name for what it asks."""

    request: str
    text: str
    options: tuple[str, ...]


class DialogClosed(msgspec.Struct, frozen=True, omit_defaults=True, tag="dialog_closed"):
    """It waits no longer: it was answered, or something else happened."""

    request: str


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
    | Prompted
    | MessagesTaken
    | DialogOpened
    | DialogClosed
    | Progress
    | End
)


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
