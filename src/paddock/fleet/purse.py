"""What an attempt at work may still spend: it is heard as it goes, and stopped when a budget has no more."""

import time

from paddock.core.admission.budget import Cost, OverBudget
from paddock.core.board import Board
from paddock.core.events import Draft
from paddock.core.ids import AttemptId, TaskId
from paddock.core.spending import ask_for_more, day_of, money_of, tokens_of
from paddock.core.task import Attempt
from paddock.core.trace import TokenUsage, TurnSummary, turn_usage
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.ledger import Ledger
from paddock.fleet.pricing import Startup, bill
from paddock.fleet.site import Site


class Purse:
    """One turn's. What it uses beyond its reservation is reserved in the log, where all budgets are checked."""

    def __init__(self, site: Site, ledger: Ledger, task: TaskId, attempt: Attempt) -> None:
        self._site = site
        self._ledger = ledger
        self._task = task
        self._attempt = attempt
        self._seen = TokenUsage()

    async def afford(self, summary: TurnSummary) -> str:
        """Why the attempt has to stop, or nothing."""
        if summary.usage == self._seen or not self._ledger.board.spending.ledger.limits:
            return ""
        self._seen = summary.usage
        used, refused = self._used(summary), [""]
        known = self._ledger.board
        if ask_for_more(known.spending, known.task(self._task), used) is None:
            return ""

        def decide(board: Board) -> list[Draft]:
            task = board.task(self._task)
            if task.live_attempt is None or task.live_attempt.id != self._attempt.id:
                return []
            answer = ask_for_more(board.spending, task, used)
            refused[0] = answer.reason if isinstance(answer, OverBudget) else ""
            if answer is None or isinstance(answer, OverBudget):
                return []
            return [Draft(answer, self._task, AttemptId(self._attempt.id))]

        checkpoint("budget.asked")
        await self._ledger.record(decide)
        checkpoint("budget.answered")
        return refused[0]

    def _used(self, summary: TurnSummary) -> Cost:
        """By the whole attempt, earlier turns included."""
        attempt = self._attempt
        usage = turn_usage(summary, TokenUsage(*attempt.conversation_used, attempt.conversation_cost))
        charged = bill(usage, summary.model or attempt.model, Startup(), self._site.prices, day_of(time.time()))
        money = charged.assumed if charged.cost is None else charged.cost
        return Cost(money_of(attempt) + money, float(tokens_of(attempt) + usage.input_total + usage.output))
