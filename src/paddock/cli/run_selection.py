"""The options by which commands about traces choose runs."""

import time
from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from paddock.core.durations import parse_moment
from paddock.insight.selection import Selection

SINCE = "Only runs that ended since then: a time such as 2026-11-15T10:00, or an age such as 7d."
_OPTIONS = (
    click.option("--task", metavar="NAME", help="Only runs at this task."),
    click.option("--kind", metavar="NAME", help="Only runs at tasks of this kind."),
    click.option("--agent", metavar="NAME", help="Only runs of this agent."),
    click.option("--engine", metavar="NAME", help="Only runs of this engine."),
    click.option("--model", metavar="NAME", help="Only runs with this model."),
    click.option("--label", metavar="NAME", help="Only this batch; `fleet` are Paddock's own attempts."),
    click.option("--since", metavar="TIME", help=SINCE),
)


def selects_runs(command: Callable[..., None]) -> Callable[..., None]:
    """The command gets what is chosen as `chosen`."""

    @wraps(command)
    def with_selection(*args: Any, since: str | None, **others: Any) -> None:
        names = {name: others.pop(name) for name in ("task", "kind", "agent", "engine", "model", "label")}
        moment = None if since is None else parse_moment(since, time.time())
        command(*args, chosen=Selection(**names, since=moment), **others)

    for option in reversed(_OPTIONS):
        with_selection = option(with_selection)
    return with_selection
