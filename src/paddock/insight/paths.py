"""The path of a run: its steps as a sequence of symbols, each of them a number."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from msgspec.structs import replace

from paddock.insight.command_words import PHASE_OF_COMMAND
from paddock.insight.tool_names import (
    EDITOR_TOOLS,
    PATCH_TOOLS,
    PHASE_OF_TOOL,
    SHELL_TOOLS,
    bare_name,
    tool_key,
)
from paddock.insight.trace import KeptTrace, Result, Step, StepStatus, Trace

FAILED_SUFFIX = "!"
ODD = "OTHER"
CLOSING_STEPS = 10
MOST_SYMBOLS = 4_000
"""Beyond these a tool of no table is told by its phase alone, so that names made up without end are no symbols."""


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


_PLAIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,39}")


@lru_cache(maxsize=4096)
def stranger_name(tool: str) -> str:
    """Of a tool that no table knows, the name; empty for all others. Two tools of one phase are two ways to go about
    it, and where all tools are strangers their names are most of what a path tells."""
    bare = bare_name(tool)
    key = tool_key(bare)
    known = key in PHASE_OF_TOOL or key in SHELL_TOOLS or key in PATCH_TOOLS or key in EDITOR_TOOLS
    plain = _PLAIN_NAME.fullmatch(bare) is not None and bare not in PHASE_OF_COMMAND
    return bare.lower() if plain and not known else ""


def symbol_of(step: Step, *, with_strangers: bool = True) -> str:
    activity = step.activity or ODD
    if with_strangers and ":" not in activity and (name := stranger_name(step.tool)):
        activity = f"{activity}:{name}"
    return activity if step.status is StepStatus.OK or step.status is StepStatus.UNKNOWN else activity + FAILED_SUFFIX


def path_of(steps: Sequence[Step], symbols: Symbols) -> tuple[int, ...]:
    """Immediate repeats are told once."""
    path: list[int] = []
    for step in steps:
        code = symbols.code(symbol_of(step, with_strangers=len(symbols) < MOST_SYMBOLS))
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
