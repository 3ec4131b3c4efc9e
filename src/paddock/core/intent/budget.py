"""What people ask about money and engines: to limit spending, and to re-enable an engine."""

import math
from collections.abc import Collection

from paddock.core.board import Board
from paddock.core.errors import Misuse
from paddock.core.events import BudgetSet, Draft, LimitsReset
from paddock.core.ids import parse_attempt, parse_task, printable, task_of
from paddock.core.intent.selection import require_convoy
from paddock.core.wording import did_you_mean

SCOPES = ("fleet", "day", "convoy", "task", "attempt")


def set_budget(board: Board, scope: str, usd: float | None, tokens: float | None, *, lift: bool) -> list[Draft]:
    """A limit in dollars, in tokens or in both; `lift` removes it."""
    amounts = [value for value in (usd, tokens) if value is not None]
    if lift and amounts:
        raise Misuse("--none and an amount cannot be used together", "use one or the other")
    if not lift and not amounts:
        raise Misuse("no amount was given", "use --usd 5, --tokens 1000000, or --none to remove the limit")
    if wrong := [value for value in amounts if not 0 < value < math.inf]:
        hint = "--none removes the limit; `paddock down --now` stops all spending"
        raise Misuse(f"the budget must be above 0, not {wrong[0]:g}", hint)
    return [Draft(BudgetSet(_scope(board, scope), usd, tokens))]


def _scope(board: Board, text: str) -> str:
    """The scope as the log spells it. Raises Misuse or PaddockError for an unknown one."""
    kind, colon, name = text.partition(":")
    if kind not in SCOPES or (colon and (kind in ("fleet", "day") or not name)):
        raise Misuse(f"`{printable(text, 40)}` is not a scope", "use fleet, day, convoy:NAME, task:t4, task or attempt")
    if kind == "task" and name:
        return f"task:{board.task(parse_task(name)).id}"
    if kind == "attempt" and name:
        attempt = parse_attempt(name)
        board.task(task_of(attempt))
        return f"attempt:{attempt}"
    if kind == "convoy" and name:
        require_convoy(board, name)
    return text


def reset_limits(name: str, known: Collection[str]) -> list[Draft]:
    """`known` are the engines and accounts there are."""
    if name not in known:
        hint = did_you_mean(name, known, f"known: {', '.join(sorted(known))}")
        raise Misuse(f"there is no engine or account `{printable(name, 60)}`", hint)
    return [Draft(LimitsReset(name))]
