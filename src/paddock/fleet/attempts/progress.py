"""How far running attempts are, for those who look at them."""

from dataclasses import dataclass, field

from msgspec.structs import replace

from paddock.core.board import Board
from paddock.core.ids import TaskId
from paddock.core.money.spending import day_of
from paddock.core.money.startup import Startup
from paddock.core.summary import TurnSummary, main_model, turn_usage
from paddock.core.tasks.edits import EditTally
from paddock.core.tasks.task import Attempt
from paddock.core.trace import TokenUsage
from paddock.fleet.attempts.attempt import AttemptRun
from paddock.fleet.dispatch.pricing import Bill, bill
from paddock.fleet.glance import AgentGlance
from paddock.fleet.site import Site

PREPARING = "preparing its worktree"
STARTING = "starting"

_Seen = tuple[Attempt, TurnSummary | None, EditTally, str]


@dataclass
class ProgressBook:
    """Keeps what it has worked out of each attempt until something of it changes."""

    site: Site
    _known: dict[str, tuple[_Seen, AgentGlance]] = field(default_factory=dict)

    def look(self, board: Board, runs: dict[TaskId, AttemptRun]) -> dict[str, AgentGlance]:
        """Of every attempt at work, by its id."""
        known = {}
        for name, run in runs.items():
            attempt = board.tasks[name].live_attempt
            if attempt is not None and attempt.id == run.attempt_id:
                known[str(attempt.id)] = self._look_at(run, attempt)
        self._known = known
        return {name: glance for name, (_, glance) in known.items()}

    def _look_at(self, run: AttemptRun, attempt: Attempt) -> tuple[_Seen, AgentGlance]:
        turn = run.turn
        is_open = turn is not None and attempt.turn_open and turn.number == attempt.turn
        summary = turn.reader.summary if turn is not None else None
        seen = (attempt, summary, run.edits, turn.why_stuck() if turn is not None and is_open else "")
        before = self._known.get(attempt.id)
        if before is not None and all(new is old or new == old for new, old in zip(seen, before[0], strict=True)):
            return before
        bare = AgentGlance(
            step=PREPARING if turn is None or summary is None else summary.last_step or STARTING,
            step_at=turn.reader.step_at if turn is not None else None,
            turn=attempt.turn,
            insertions=run.edits.insertions,
            deletions=run.edits.deletions,
            files=len(run.edits.files),
            stuck=seen[3],
        )
        return seen, self._with_costs(bare, attempt, summary if is_open and summary is not None else TurnSummary())

    def _with_costs(self, bare: AgentGlance, attempt: Attempt, summary: TurnSummary) -> AgentGlance:
        """`summary` is that of the open turn; the log has the turns before."""
        usage = turn_usage(summary, TokenUsage(*attempt.conversation_used, attempt.conversation_cost))
        charged = self._charge(attempt, summary, usage)
        is_unknown = charged.cost is None and not self.site.capabilities_of(attempt.engine).free
        costs = [cost for cost in (attempt.cost_usd, charged.cost) if cost is not None]
        read = attempt.input_tokens + attempt.cache_write_tokens + attempt.cache_read_tokens
        return replace(
            bare,
            steps=attempt.steps + summary.steps,
            cost_usd=sum(costs) if costs else None,
            assumed_usd=attempt.assumed_usd + (charged.assumed if is_unknown else 0.0),
            input_tokens=read + usage.input_total,
            output_tokens=attempt.output_tokens + usage.output,
        )

    def _charge(self, attempt: Attempt, summary: TurnSummary, usage: TokenUsage) -> Bill:
        model, day = main_model(summary) or attempt.model, day_of(self.site.clock.now())
        return bill(usage, model, Startup(), self.site.prices, day, summary.models)
