"""Changes of behaviour, made to runs that were recorded: each as a worse model might behave."""

from collections.abc import Callable

import numpy as np
from msgspec.structs import replace

from paddock.insight.trace import Step, StepStatus, Trace

Change = Callable[[Trace, np.random.Generator], Trace]


def skip_steps(trace: Trace, draw: np.random.Generator) -> Trace:
    """Every third step is not taken."""
    return replace(trace, steps=tuple(step for step in trace.steps if draw.random() > 1 / 3) or trace.steps[:1])


def give_up(trace: Trace, draw: np.random.Generator) -> Trace:
    """It stops after a part of its steps."""
    return replace(trace, steps=trace.steps[: max(1, round(len(trace.steps) * draw.uniform(0.4, 0.8)))])


def err(trace: Trace, draw: np.random.Generator) -> Trace:
    """Every fifth step fails, as with a tool that is missing."""
    return replace(trace, steps=tuple(_failed(step) if draw.random() < 0.2 else step for step in trace.steps))


def repeat(trace: Trace, draw: np.random.Generator) -> Trace:
    """After a third of the steps it goes back to the one before and does both again."""
    steps: list[Step] = []
    for step in trace.steps:
        steps.append(step)
        if len(steps) > 1 and draw.random() < 1 / 3:
            steps += [steps[-2], step]
    return replace(trace, steps=tuple(steps))


def _failed(step: Step) -> Step:
    return replace(step, status=StepStatus.ERROR, error="made to fail")


CHANGES: dict[str, Change] = {
    "steps skipped": skip_steps,
    "gives up early": give_up,
    "a tool fails": err,
    "goes in circles": repeat,
}
