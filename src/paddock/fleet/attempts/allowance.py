"""What a running attempt may still spend: its usage is followed, and it is stopped before a budget runs out."""

from collections import deque

from paddock.core.board import Board
from paddock.core.events import Draft
from paddock.core.ids import AttemptId, TaskId
from paddock.core.money.budget import Amount, Cost, OverBudget
from paddock.core.money.spending import ask_for_more, day_of, money_of, tokens_of, used_up
from paddock.core.money.startup import Startup
from paddock.core.summary import TurnSummary, main_model, turn_usage
from paddock.core.tasks.task import Attempt
from paddock.core.trace import TokenUsage
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.dispatch.pricing import bill
from paddock.fleet.ledger import Ledger
from paddock.fleet.site import Site

KEPT_CALLS = 3


class Purse:
    """One turn's. What it uses beyond its reservation is reserved in the log, where all budgets are checked.

    The next call is assumed to cost what the dearest of the last few did: it must fit before it is made.
    """

    def __init__(self, site: Site, ledger: Ledger, task: TaskId, attempt: Attempt) -> None:
        self._site = site
        self._ledger = ledger
        self._task = task
        self._attempt = attempt
        self._seen = TokenUsage()
        self._called = 0
        self._counted = Cost(money_of(attempt), float(tokens_of(attempt)))
        self._calls: deque[Cost] = deque(maxlen=KEPT_CALLS)

    async def afford(self, summary: TurnSummary) -> str:
        """Why the attempt must stop; None if it need not."""
        if summary.usage == self._seen:
            return ""
        used, refused = self._used(summary), [""]
        ahead = self._look_ahead(used, summary.calls - self._called)
        self._seen, self._called = summary.usage, summary.calls
        known = self._ledger.board
        if over := self._beyond_own_limit(known, used, ahead):
            return over
        if ask_for_more(known.spending, known.task(self._task), used, ahead) is None:
            return ""

        def decide(board: Board) -> list[Draft]:
            task = board.task(self._task)
            if task.live_attempt is None or task.live_attempt.id != self._attempt.id:
                return []
            answer = ask_for_more(board.spending, task, used, ahead)
            refused[0] = answer.reason if isinstance(answer, OverBudget) else ""
            if answer is None or isinstance(answer, OverBudget):
                return []
            return [Draft(answer, self._task, AttemptId(self._attempt.id))]

        checkpoint("budget.asked")
        await self._ledger.record(decide)
        checkpoint("budget.answered")
        return refused[0]

    def _look_ahead(self, used: Cost, calls: int) -> Cost:
        """What the next call may cost. Several may be reported at once, or the rest of one when it has ended."""
        each = max(1, calls)
        money = max(0.0, (used.money or 0.0) - (self._counted.money or 0.0)) / each
        grown = Cost(money, max(0.0, used.tokens - self._counted.tokens) / each)
        self._counted = used
        if calls or not self._calls:
            self._calls.append(grown)
        else:
            self._calls[-1] = self._calls[-1].plus(grown)
        return Cost(max(one.money or 0.0 for one in self._calls), max(one.tokens for one in self._calls))

    def _beyond_own_limit(self, board: Board, used: Cost, ahead: Cost) -> str:
        """`limits.attempt_usd`, which needs no budget to be set."""
        most = self._site.attempt_usd(board.task(self._task))
        if not most or (used.money or 0.0) + (ahead.money or 0.0) <= most:
            return ""
        return used_up(f"attempt:{self._attempt.id}", used, ahead, Amount(most), " (`limits.attempt_usd`)").reason

    def _used(self, summary: TurnSummary) -> Cost:
        """Spent by the whole attempt, earlier turns included."""
        attempt = self._attempt
        usage = turn_usage(summary, TokenUsage(*attempt.conversation_used, attempt.conversation_cost))
        model, day = main_model(summary) or attempt.model, day_of(self._site.clock.now())
        charged = bill(usage, model, Startup(), self._site.prices, day, summary.models)
        money = charged.assumed if charged.cost is None else charged.cost
        return Cost(money_of(attempt) + money, float(tokens_of(attempt) + usage.input_total + usage.output))
