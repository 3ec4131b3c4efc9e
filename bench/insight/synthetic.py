"""Runs made up with a seed, to show that a benchmark runs and to measure time and memory on many of them."""

import random

from paddock.core.trace import TokenUsage
from paddock.insight.trace import EndState, Result, Step, StepStatus, Trace

ACTIVITIES = ("SEARCH", "READ:src", "READ:test", "EDIT:src", "EDIT:test", "RUN", "TEST", "GIT_READ", "BUILD", "PLAN")


def synthetic_runs(runs: int, *, steps: int = 30, tasks: int = 40, first: int = 0) -> list[Trace]:
    """Half of them are labelled `a`, half `b`; both behave alike. `steps` is how many a run has on average. The run
    with the number `first` is the first of them."""
    draw = random.Random(first)
    return [_run(number, steps, tasks, draw) for number in range(first, first + runs)]


def _run(number: int, steps: int, tasks: int, draw: random.Random) -> Trace:
    task = number // 2 % tasks
    length = max(3, round(draw.lognormvariate(0, 0.4) * steps))
    started = 1_700_000_000.0 + 60 * number
    return Trace(
        run=f"r{number}",
        task=f"task{task}",
        kind=f"kind{task % 5}",
        engine="made-up",
        model="made-up-1",
        label="ab"[number % 2],
        started=started,
        ended=started + 4 * length,
        outcome=Result.SUCCESS if draw.random() < (task + 1) / (tasks + 1) else Result.FAILURE,
        end_state=EndState.OK,
        usage=TokenUsage(length * 900, 0, length * 4000, length * 120),
        startup_tokens=round(draw.gauss(20_000, 500)),
        steps=tuple(_step(draw, place) for place in range(length)),
    )


def _step(draw: random.Random, place: int) -> Step:
    activity = ACTIVITIES[min(int(abs(draw.gauss(place / 8 % 4, 2.5))), len(ACTIVITIES) - 1)]
    status = StepStatus.ERROR if draw.random() < 0.08 else StepStatus.OK
    return Step(activity=activity, target="src/x.py", status=status)
