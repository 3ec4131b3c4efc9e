"""Traces as rows of the dataset, and back."""

import zlib
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from paddock.core.trace import TokenUsage
from paddock.insight.paths import Symbols
from paddock.insight.trace import KeptTrace, ModelCall, Step, StepStatus

Value: TypeAlias = int | float | str | bytes | None
Row: TypeAlias = tuple[Value, ...]

STEP_COLUMNS = "tool, activity, target, status, error, at, seconds, exit, agent, turn"
CALL_COLUMNS = "id, model, input_uncached, cache_write, cache_read, output, cost_usd, at, seconds, status, retry_after"
_STATUSES = tuple(StepStatus)
_CODES: dict[StepStatus, int | None] = {status: code or None for code, status in enumerate(_STATUSES)}
_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(KeptTrace)


def step_row(step: Step, key: int, seq: int, symbols: Symbols) -> Row:
    return (
        key,
        seq,
        step.tool or None,
        symbols.code(step.activity) if step.activity else None,
        step.target or None,
        _CODES[step.status],
        step.error or None,
        step.at,
        step.seconds,
        step.exit,
        step.agent or None,
        step.turn or None,
    )


def step_of(row: tuple[Any, ...], symbols: Symbols) -> Step:
    """`row` has the columns of STEP_COLUMNS."""
    tool, activity, target, status, error, at, seconds, exit_status, agent, turn = row
    return Step(
        tool=tool or "",
        activity="" if activity is None else symbols.text(activity),
        target=target or "",
        status=_STATUSES[status or 0],
        error=error or "",
        at=at,
        seconds=seconds,
        exit=exit_status,
        agent=agent or "",
        turn=turn or 0,
    )


def call_row(call: ModelCall, key: int, seq: int) -> Row:
    used = call.usage
    tokens: tuple[Value, ...] = (None, None, None, None, None)
    if used is not None:
        tokens = (used.input_uncached, used.cache_write, used.cache_read, used.output, used.cost_usd)
    return (
        key,
        seq,
        call.id or None,
        call.model or None,
        *tokens,
        call.at,
        call.seconds,
        call.status,
        call.retry_after,
    )


def call_of(row: tuple[Any, ...]) -> ModelCall:
    """`row` has the columns of CALL_COLUMNS."""
    id, model, uncached, written, read, output, cost, at, seconds, status, retry_after = row
    usage = None if uncached is None else TokenUsage(uncached, written, read, output, cost)
    return ModelCall(
        id=id or "",
        model=model or "",
        usage=usage,
        at=at,
        seconds=seconds,
        status=status,
        retry_after=retry_after,
    )


def encode_kept(kept: KeptTrace) -> tuple[bytes, bytes | None]:
    """The trace without its tail, and the tail."""
    if not kept.trace.tail:
        return _ENCODER.encode(kept), None
    bare = replace(kept, trace=replace(kept.trace, tail=""))
    return _ENCODER.encode(bare), zlib.compress(kept.trace.tail.encode("utf-8", "replace"), 1)


def decode_kept(blob: bytes, tail: bytes | None) -> KeptTrace:
    """Raises msgspec.DecodeError or zlib.error."""
    kept = _DECODER.decode(blob)
    if tail is None:
        return kept
    return replace(kept, trace=replace(kept.trace, tail=zlib.decompress(tail).decode("utf-8", "replace")))
