"""Runs, steps and calls as three Parquet files, for DuckDB, pandas and the like. Rows are written in bounded groups."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from paddock.insight.exports.batches import ExportTally
from paddock.insight.extra import require_pyarrow
from paddock.insight.paths import Symbols, path_of, symbol_of
from paddock.insight.trace import ModelCall, Step, Trace

if TYPE_CHECKING:
    from pyarrow import Schema  # type: ignore[import-untyped]

ROWS = 50_000
_TEXT = ("label", "run", "task", "kind", "agent", "engine", "engine_version", "model", "host", "account")


def write_parquet(folder: Path, runs: Iterable[Trace], tally: ExportTally) -> None:
    """`runs.parquet`, `steps.parquet` and `calls.parquet`, joined by label and run. What is there of these names is
    replaced once all of it is written."""
    require_pyarrow("exporting as Parquet")
    schemas = _schemas()
    folder.mkdir(parents=True, exist_ok=True)
    tables = {name: _Table(folder / f".{name}.parquet.new", schema) for name, schema in schemas.items()}
    try:
        for trace in runs:
            tally.count(trace)
            tables["runs"].add(_run(trace))
            for number, step in enumerate(trace.steps, 1):
                tables["steps"].add(_step(trace, step, number))
            for number, call in enumerate(trace.calls, 1):
                tables["calls"].add(_call(trace, call, number))
        for table in tables.values():
            table.close()
        for name, table in tables.items():
            table.path.replace(folder / f"{name}.parquet")
    finally:
        for table in tables.values():
            table.abandon()


class _Table:
    def __init__(self, path: Path, schema: "Schema") -> None:
        from pyarrow.parquet import ParquetWriter  # type: ignore[import-untyped]

        self.path = path
        self._schema = schema
        self._rows: list[Mapping[str, object]] = []
        self._writer: Any = ParquetWriter(str(path), schema, compression="zstd")

    def add(self, row: Mapping[str, object]) -> None:
        self._rows.append(row)
        if len(self._rows) >= ROWS:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._writer.close()

    def abandon(self) -> None:
        self._writer.close()
        self.path.unlink(missing_ok=True)

    def _flush(self) -> None:
        if self._rows:
            from pyarrow import Table

            self._writer.write_table(Table.from_pylist(self._rows, schema=self._schema))
            self._rows = []


def _schemas() -> dict[str, "Schema"]:
    import pyarrow as pa

    at, name = pa.timestamp("us", tz="UTC"), pa.dictionary(pa.int32(), pa.string())
    tokens = [(f"tokens_{part}", pa.int64()) for part in ("in", "cache_read", "cache_write", "out")]
    money = [("cost_usd", pa.float64())]
    return {
        "runs": pa.schema(
            [
                *((field, pa.string() if field == "run" else name) for field in _TEXT),
                *(("started", at), ("ended", at), ("outcome", name), ("end_state", name), ("error", pa.string())),
                *(
                    ("model_spoke", pa.bool_()),
                    *tokens,
                    ("tokens_reasoning", pa.int64()),
                    *money,
                    ("cost_source", name),
                ),
                *((count, pa.int64()) for count in ("startup_tokens", "startup_cached", "model_calls", "steps")),
                *(("waited_seconds", pa.float64()), ("path", pa.list_(name)), ("tail", pa.string())),
                *((field, pa.string()) for field in ("facts", "tests", "attributes", "source")),
            ]
        ),
        "steps": pa.schema(
            [
                *(("label", name), ("run", name), ("number", pa.int32()), ("symbol", name), ("activity", name)),
                *(("tool", name), ("target", pa.string()), ("status", name), ("error", pa.string()), ("at", at)),
                *(("seconds", pa.float64()), ("exit", pa.int64()), ("subagent", name), ("turn", pa.int32())),
            ]
        ),
        "calls": pa.schema(
            [
                *(("label", name), ("run", name), ("number", pa.int32()), ("id", pa.string()), ("model", name)),
                *(*tokens, *money, ("at", at), ("seconds", pa.float64()), ("status", pa.int32())),
                ("retry_after", pa.float64()),
            ]
        ),
    }


def _run(trace: Trace) -> dict[str, object]:
    return {
        **{field: getattr(trace, field) for field in _TEXT},
        "started": _time(trace.started),
        "ended": _time(trace.ended),
        "outcome": trace.outcome.value,
        "end_state": trace.end_state.value,
        "error": trace.error,
        "model_spoke": trace.model_spoke,
        **_tokens(trace),
        "tokens_reasoning": trace.reasoning_tokens,
        "cost_source": trace.cost_source.value,
        "startup_tokens": trace.startup_tokens,
        "startup_cached": trace.startup_cached,
        "model_calls": trace.model_calls,
        "steps": len(trace.steps),
        "waited_seconds": trace.waited_seconds,
        "path": _path(trace),
        "tail": trace.tail,
        "facts": _json({name: getattr(trace.facts, name) for name in trace.facts.__struct_fields__}),
        "tests": _json(trace.tests),
        "attributes": _json(trace.attributes),
        "source": trace.source,
    }


def _path(trace: Trace) -> list[str]:
    symbols = Symbols()
    return [symbols.text(code) for code in path_of(trace.steps, symbols)]


def _step(trace: Trace, step: Step, number: int) -> dict[str, object]:
    return {
        "label": trace.label,
        "run": trace.run,
        "number": number,
        "symbol": symbol_of(step),
        "activity": step.activity,
        "tool": step.tool,
        "target": step.target,
        "status": step.status.value,
        "error": step.error,
        "at": _time(step.at),
        "seconds": step.seconds,
        "exit": step.exit,
        "subagent": step.agent,
        "turn": step.turn,
    }


def _call(trace: Trace, call: ModelCall, number: int) -> dict[str, object]:
    return {
        "label": trace.label,
        "run": trace.run,
        "number": number,
        "id": call.id,
        "model": call.model,
        **_tokens(call),
        "at": _time(call.at),
        "seconds": call.seconds,
        "status": call.status,
        "retry_after": call.retry_after,
    }


def _tokens(used: Trace | ModelCall) -> dict[str, object]:
    usage = used.usage
    if usage is None:
        return {}
    return {
        "tokens_in": usage.input_total,
        "tokens_cache_read": usage.cache_read,
        "tokens_cache_write": usage.cache_write,
        "tokens_out": usage.output,
        "cost_usd": usage.cost_usd,
    }


def _time(at: float | None) -> int | None:
    return None if at is None else round(at * 1_000_000)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
