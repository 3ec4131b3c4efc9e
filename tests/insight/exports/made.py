"""Runs to export, with all that a run can have."""

from pathlib import Path

from paddock.core.trace import TokenUsage
from paddock.insight.dataset.dataset import Dataset
from paddock.insight.dataset.writer import DatasetWriter
from paddock.insight.trace import CostSource, EndState, Facts, ModelCall, Result, Step, StepStatus, Trace

SECRET = "ghp_" + "a1" * 15


def full(run: str = "r1", label: str = "b", **fields: object) -> Trace:
    told: dict[str, object] = {
        "task": "t",
        "kind": "fix",
        "agent": "fixer",
        "engine": "claude",
        "engine_version": "2.1",
        "model": "claude-opus-5",
        "host": "h1",
        "account": "acme",
        "started": 1_700_000_000.25,
        "ended": 1_700_000_060.0,
        "outcome": Result.FAILURE,
        "end_state": EndState.TIMEOUT,
        "error": f"it said {SECRET} and gave up",
        "tail": "one\ntwo ✗",
        "model_spoke": True,
        "usage": TokenUsage(10, 20, 70, 5, 0.125),
        "reasoning_tokens": 3,
        "cost_source": CostSource.TOLD,
        "startup_tokens": 40,
        "startup_cached": 30,
        "waited_seconds": 1.5,
        "model_calls": 2,
        "steps": (
            Step(tool="Read", activity="READ:src", target="a.py", at=1_700_000_001.0, seconds=0.5, turn=1),
            Step(tool="Bash", activity="TEST", target="pytest", status=StepStatus.ERROR, error=SECRET, exit=2),
            Step(tool="Bash", activity="RUN", status=StepStatus.DENIED, agent="helper"),
            Step(tool="x", activity="OTHER", status=StepStatus.UNKNOWN),
        ),
        "calls": (
            ModelCall(id="m1", model="claude-opus-5", usage=TokenUsage(1, 2, 7, 4), at=1_700_000_000.5, seconds=2.0),
            ModelCall(status=429, retry_after=3.0),
        ),
        "facts": Facts(
            files=("a.py",), insertions=3, deletions=0, tests_run=1, no_verify=True, force_push=False, gate="red"
        ),
        "tests": {"one": True, "two": False},
        "source": "/runs/r1.json",
        "attributes": {"title": "Fix it"},
    }
    return Trace(run=run, label=label, **{**told, **fields})  # type: ignore[arg-type]


def kept(path: Path, *traces: Trace) -> Dataset:
    with DatasetWriter.open(path) as writer:
        for trace in traces:
            writer.add(trace)
    return Dataset.open(path)
