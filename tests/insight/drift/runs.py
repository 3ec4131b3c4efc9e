"""Runs made up for drift, each at a task, with a path."""

import random
from collections.abc import Sequence

from paddock.core.trace import TokenUsage
from paddock.insight.paths import Symbols, keep
from paddock.insight.trace import EndState, Facts, KeptTrace, Result, Step, StepStatus, Trace

USUAL = ("SEARCH", "READ:src", "EDIT:src", "TEST", "SUBMIT")


class Made:
    """What keeps runs that are made one after the other, with the symbols of all."""

    def __init__(self) -> None:
        self.symbols = Symbols()
        self.number = 0

    def run(
        self, task: str = "", path: Sequence[str] = USUAL, *, ok: bool | None = True, tokens: int = 1000, **more: object
    ) -> KeptTrace:
        self.number += 1
        outcome = Result.UNKNOWN if ok is None else Result.SUCCESS if ok else Result.FAILURE
        fields: dict[str, object] = {
            "run": f"r{self.number}",
            "task": task,
            "outcome": outcome,
            "end_state": EndState.OK,
            "usage": TokenUsage(tokens, 0, 0, 10) if tokens else None,
            "steps": tuple(_step(word) for word in path),
            **more,
        }
        return keep(Trace(**fields), self.number, self.symbols)  # type: ignore[arg-type]

    def cohort(self, draw: random.Random, tasks: int, runs: int = 1, **more: object) -> list[KeptTrace]:
        """Runs that behave alike, whoever asks for them."""
        return [self.run(f"t{task}", wander(draw, task), **more) for task in range(tasks) for _ in range(runs)]  # type: ignore[arg-type]


def wander(draw: random.Random, task: int) -> list[str]:
    """A path that depends on the task and on chance."""
    middle = [draw.choice(("READ:src", "RUN", "EDIT:src", "TEST")) for _ in range(3 + task % 4)]
    return ["SEARCH", *middle, "EDIT:src", *(["TEST"] if draw.random() < 0.5 else []), "SUBMIT"]


def _step(word: str) -> Step:
    failed = word.endswith("!")
    return Step(activity=word.removesuffix("!"), status=StepStatus.ERROR if failed else StepStatus.OK)


def facts(**more: object) -> Facts:
    return Facts(**more)  # type: ignore[arg-type]
