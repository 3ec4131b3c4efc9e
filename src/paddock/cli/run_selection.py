"""The options by which commands about traces choose runs."""

import time
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeAlias

import click

from paddock.core.durations import parse_moment
from paddock.insight.selection import Selection

SINCE = "Only runs that ended since then: a time such as 2026-11-15T10:00, or an age such as 7d."
_OPTIONS = {
    "task": click.option("--task", metavar="NAME", help="Only runs at this task."),
    "kind": click.option("--kind", metavar="NAME", help="Only runs at tasks of this kind."),
    "agent": click.option("--agent", metavar="NAME", help="Only runs of this agent."),
    "engine": click.option("--engine", metavar="NAME", help="Only runs of this engine."),
    "model": click.option("--model", metavar="NAME", help="Only runs with this model."),
    "label": click.option("--label", metavar="NAME", help="Only this batch; `fleet` are Paddock's own attempts."),
    "since": click.option("--since", metavar="TIME", help=SINCE),
}
Command: TypeAlias = Callable[..., None]


def selects_runs(command: Command) -> Command:
    """The command gets what is chosen as `chosen`."""
    return selects_runs_by(*_OPTIONS)(command)


def selects_runs_by(*names: str) -> Callable[[Command], Command]:
    """As `selects_runs`, with these of its options alone."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def with_selection(*args: Any, **others: Any) -> None:
            told = {name: others.pop(name) for name in names}
            if told.get("since") is not None:
                told["since"] = parse_moment(told["since"], time.time())
            command(*args, chosen=Selection(**told), **others)

        for name in reversed(names):
            with_selection = _OPTIONS[name](with_selection)
        return with_selection

    return decorate
