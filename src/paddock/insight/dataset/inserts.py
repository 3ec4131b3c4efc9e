"""Runs, steps and calls into the tables of the dataset, in the transaction that is open."""

from collections.abc import Sequence

import apsw

from paddock.insight.dataset.rows import CALL_COLUMNS, STEP_COLUMNS, call_row, encode_kept, step_row
from paddock.insight.paths import Symbols
from paddock.insight.trace import EXTRACTOR_VERSION, KeptTrace, ModelCall, Step, Trace

_INSERT_STEP = f"INSERT INTO step(run, seq, {STEP_COLUMNS}) VALUES({','.join('?' * 12)})"
_INSERT_CALL = f"INSERT INTO call(run, seq, {CALL_COLUMNS}) VALUES({','.join('?' * 13)})"
_RUN_COLUMNS = (
    "key, label, run, task, kind, agent, engine, model, at, outcome, steps, calls, extractor, source, kept, tail"
)
_PUT_RUN = f"INSERT OR REPLACE INTO run({_RUN_COLUMNS}) VALUES({','.join('?' * 16)})"


def insert_steps(db: apsw.Connection, key: int, steps: Sequence[Step], first: int, symbols: Symbols) -> None:
    """`first` is the number of the first one in its run."""
    db.executemany(_INSERT_STEP, (step_row(step, key, seq, symbols) for seq, step in enumerate(steps, first)))


def insert_calls(db: apsw.Connection, key: int, calls: Sequence[ModelCall], first: int) -> None:
    if calls:
        db.executemany(_INSERT_CALL, (call_row(call, key, seq) for seq, call in enumerate(calls, first)))


def put_run(db: apsw.Connection, kept: KeptTrace, calls: int, source: int | None = None) -> None:
    trace = kept.trace
    blob, tail = encode_kept(kept)
    names = (trace.label, trace.run, trace.task, trace.kind, trace.agent, trace.engine, trace.model)
    counts = (kept.step_count, calls, EXTRACTOR_VERSION, source)
    db.execute(_PUT_RUN, (kept.key, *names, time_of(trace), trace.outcome.value, *counts, blob, tail))


def time_of(trace: Trace) -> float | None:
    return trace.ended if trace.ended is not None else trace.started
