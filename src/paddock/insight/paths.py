"""The path of a run: its steps as a sequence of symbols, each of them a number."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from paddock.insight.trace import KeptTrace, Result, Step, StepStatus, Trace

FAILED_SUFFIX = "!"
ODD = "OTHER"
CLOSING_STEPS = 10


class Symbols:
    """Which number stands for which symbol, in the order in which symbols were met. Numbers never change."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._texts = list(known)
        self._codes = {text: code for code, text in enumerate(self._texts)}

    def __len__(self) -> int:
        return len(self._texts)

    def code(self, symbol: str) -> int:
        code = self._codes.setdefault(symbol, len(self._texts))
        if code == len(self._texts):
            self._texts.append(symbol)
        return code

    def text(self, code: int) -> str:
        return self._texts[code]


def symbol_of(step: Step) -> str:
    activity = step.activity or ODD
    return activity if step.status is StepStatus.OK or step.status is StepStatus.UNKNOWN else activity + FAILED_SUFFIX


def path_of(steps: Sequence[Step], symbols: Symbols) -> tuple[int, ...]:
    """Immediate repeats are told once."""
    path: list[int] = []
    for step in steps:
        code = symbols.code(symbol_of(step))
        if not path or path[-1] != code:
            path.append(code)
    return tuple(path)


def keep(trace: Trace, key: int, symbols: Symbols) -> KeptTrace:
    return KeptTrace(
        key=key,
        trace=replace(trace, steps=(), calls=()),
        path=path_of(trace.steps, symbols),
        step_count=len(trace.steps),
        odd_steps=sum(not step.activity or step.activity.startswith(ODD) for step in trace.steps),
        closing=() if trace.outcome is Result.SUCCESS else trace.steps[-CLOSING_STEPS:],
    )
