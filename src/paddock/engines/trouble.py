"""Is the provider to blame? The one place that reads statuses and messages of model providers."""

import re
from collections.abc import Iterator

from paddock.core.trace import ERROR_LIMIT, Error, RateLimited, RequestFault, TraceEntry, TroubleKind, clip
from paddock.engines.jsonline import line_text, read_object

# A provider that asks for a longer pause than this has closed a window rather than a minute.
WINDOW_SECONDS = 300

_STATUS = re.compile(
    r"(?:status(?:[ _-]?code)?|http(?:/[\d.]+)?|api error|error code|error|code)\W{0,4}\b([45]\d\d)\b", re.IGNORECASE
)
_RETRY_AFTER = re.compile(
    r"(?:retry[ _-]?after|try again in|retry in|retrying in)\W{0,4}(\d+(?:\.\d+)?)\s*(ms|s\b|sec|m\b|min|h\b|hour)?",
    re.IGNORECASE,
)
_RESET_EPOCH = re.compile(r"(?:limit reached|resets?(?:[ _]?at)?)\W{1,4}(1[5-9]\d{8}|2\d{9})\b", re.IGNORECASE)
_UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "hour": 3600.0}

# Tried in this order: "usage limit" must win over the bare "limit" of a per-minute refusal, and a spent
# credit needs a person just as a bad key does.
_WORDS: tuple[tuple[TroubleKind, re.Pattern[str]], ...] = (
    (
        TroubleKind.AUTH,
        re.compile(
            r"authentication[ _]?(?:failed|error)|invalid (?:api|x-api)[ -]key|incorrect api key|api key not valid"
            r"|unauthori[sz]ed|not logged in|please run /login|login required|oauth token (?:has )?expired"
            r"|permission_error|credit balance is too low|billing[_ ](?:error|hard_limit)|insufficient_quota"
            r"|no auth(?:entication)? (?:method|credentials)|set an auth method",
            re.IGNORECASE,
        ),
    ),
    (
        TroubleKind.WINDOW,
        re.compile(
            r"usage[ _]limit|(?:5|five)[ -]?hour limit|weekly limit|daily limit|monthly limit|hit your limit"
            r"|quota (?:exceeded|exhausted)|exceeded your (?:current )?quota|out of (?:extra )?usage",
            re.IGNORECASE,
        ),
    ),
    (
        TroubleKind.PER_MINUTE,
        re.compile(
            r"rate[ _-]?limit|too many requests|resource[ _]?exhausted|ratelimiterror|exceeded retry limit"
            r"|request a quota increase",
            re.IGNORECASE,
        ),
    ),
    (
        TroubleKind.OVERLOAD,
        re.compile(
            r"overloaded|server[_ ]error|internal server error|service unavailable|bad gateway|gateway timeout"
            r"|high demand|at capacity|econnrefused|econnreset|connection ?(?:refused|error|reset)|peer closed"
            r"|unable to connect|fetch failed|stream disconnected|api error: terminated|error sending request"
            r"|\benotfound\b|\betimedout\b",
            re.IGNORECASE,
        ),
    ),
)

# What a provider says about a request it will never accept. Only these words count without a status.
_FAULT_WORDS: tuple[tuple[RequestFault, re.Pattern[str]], ...] = (
    (
        RequestFault.MODEL,
        re.compile(
            r"model[_ ]not[_ ]found|(?:unknown|unsupported|invalid|no such) model\b|issue with the selected model"
            r"|\bmodels?\b.{0,120}(?:does not exist|(?:is|was) not (?:found|supported|available)|not a valid model)",
            re.IGNORECASE,
        ),
    ),
    (
        RequestFault.TOO_LONG,
        re.compile(
            r"prompt[_ ](?:is )?too[_ ]long|context[_ ](?:length|window)|maximum context|input is too long"
            r"|request_too_large|token count.{0,60}exceeds|too many (?:input |total )?tokens",
            re.IGNORECASE,
        ),
    ),
    (
        RequestFault.CONTENT,
        re.compile(
            r"content[_ -]?filter|content[_ ](?:management )?policy|usage policy|(?:was|been) flagged"
            r"|safety (?:system|filter|settings)|prohibited_content",
            re.IGNORECASE,
        ),
    ),
)
_REQUEST_STATUSES = frozenset({400, 404, 405, 413, 422})
_INVALID = re.compile(r"invalid_request(?:_error)?\b|invalid_argument|bad ?request", re.IGNORECASE)
_NOT_FOUND = re.compile(r"\bnotfounderror", re.IGNORECASE)


def kind_of_status(status: int | None) -> TroubleKind | None:
    """The trouble an HTTP status alone stands for. 400 and 404 are our own mistake, not the provider's."""
    match status:
        case 429:
            return TroubleKind.PER_MINUTE
        case 401 | 402 | 403:
            return TroubleKind.AUTH
        case int() if status == 408 or 500 <= status <= 599:
            return TroubleKind.OVERLOAD
        case _:
            return None


def classify(
    message: str, status: int | None = None, retry_after: float | None = None, resets_at: float | None = None
) -> RateLimited | None:
    """The refusal these words and numbers describe, or None when they tell of something else."""
    message = clip(message, ERROR_LIMIT)
    status = status if status is not None else _status_in(message)
    kind = kind_of_status(status)
    if kind in (None, TroubleKind.PER_MINUTE):
        worded = next((kind for kind, words in _WORDS if words.search(message)), None)
        kind = worded if kind is None or worded is TroubleKind.WINDOW else kind
    if kind is None:
        return None
    retry_after = retry_after if retry_after is not None else _retry_after_in(message)
    resets_at = resets_at if resets_at is not None else _reset_in(message)
    if kind in (TroubleKind.PER_MINUTE, TroubleKind.WINDOW):
        kind = _by_length(kind, message, retry_after, resets_at)
    return RateLimited(kind=kind, status=status, retry_after=retry_after, resets_at=resets_at, message=message)


def _by_length(kind: TroubleKind, message: str, retry_after: float | None, resets_at: float | None) -> TroubleKind:
    """Numbers are better witnesses than words: some call a minute's limit a quota."""
    if resets_at is not None:
        return TroubleKind.WINDOW
    if retry_after is not None:
        return TroubleKind.WINDOW if retry_after > WINDOW_SECONDS else TroubleKind.PER_MINUTE
    return TroubleKind.PER_MINUTE if "per minute" in message.lower() else kind


def describe_error(message: str, status: int | None = None, retry_after: float | None = None) -> TraceEntry:
    """The refusal if the provider is to blame, else an error, with the fault it found in the request if it did."""
    status = status if status is not None else _status_in(message)
    worded = _worded_fault(message)
    is_request = status in _REQUEST_STATUSES
    trouble = None if is_request and worded is not None else classify(message, status, retry_after)
    if trouble is not None:
        return trouble
    fault = worded if status is None or is_request else None
    if fault is None and (status == 404 or (status is None and _NOT_FOUND.search(message))):
        fault = RequestFault.NOT_FOUND
    elif fault is None and (is_request or (status is None and _INVALID.search(message))):
        fault = RequestFault.INVALID
    return Error(clip(_words_in(message), ERROR_LIMIT), fault)


def _worded_fault(message: str) -> RequestFault | None:
    return next((fault for fault, words in _FAULT_WORDS if words.search(message)), None)


def _words_in(message: str) -> str:
    """What the body of an answer says, where an engine passes it on as it is."""
    start, end = message.find("{"), message.rfind("}") + 1
    body = read_object(message[start:end].encode("utf-8", "replace")) if 0 <= start < end else None
    said = body.text("error", "message") or body.text("message") if body is not None else ""
    return said or message


def read_complaint(line: bytes) -> Iterator[TraceEntry]:
    """What a line on standard error tells, where an engine begins errors with that word and the rest is chatter."""
    text = line_text(line, ERROR_LIMIT)
    if text.lower().lstrip().startswith("error"):
        yield describe_error(text)


def _status_in(message: str) -> int | None:
    found = _STATUS.search(message)
    return int(found[1]) if found else None


def _retry_after_in(message: str) -> float | None:
    found = _RETRY_AFTER.search(message)
    if not found or len(found[1]) > 12:
        return None
    return float(found[1]) * _UNIT_SECONDS.get((found[2] or "s").lower(), 1.0)


def _reset_in(message: str) -> float | None:
    found = _RESET_EPOCH.search(message)
    return float(found[1]) if found else None
