"""Whether several agents are worth it, as JSON."""

import msgspec

from paddock.core.economics.fanout import FanOut, FanoutPlan, Worth
from paddock.views.document import Document, view_of


class PlanView(msgspec.Struct, frozen=True):
    agents: int
    shares: tuple[tuple[str, ...], ...]
    wall_seconds: float
    straggle_seconds: float
    extra_tokens: float
    extra_money: float | None
    price_seconds: float
    gain_seconds: float


class FanOutView(Document, frozen=True, kw_only=True):
    fan_out: bool
    agents: int
    hour_usd: float
    hour_tokens: float
    chosen: PlanView
    serial: PlanView
    plans: list[PlanView]
    reasons: tuple[str, ...]


def view_fan_out(outcome: FanOut, worth: Worth) -> FanOutView:
    agents = len(outcome.chosen.shares)
    return FanOutView(
        fan_out=agents > 1,
        agents=agents,
        hour_usd=worth.money_per_hour,
        hour_tokens=worth.tokens_per_hour,
        chosen=_view_plan(outcome.chosen),
        serial=_view_plan(outcome.serial),
        plans=[_view_plan(plan) for plan in outcome.plans],
        reasons=tuple(outcome.reasons),
    )


def _view_plan(plan: FanoutPlan) -> PlanView:
    seconds = ("wall_seconds", "straggle_seconds", "price_seconds", "gain_seconds")
    rounded = {name: round(getattr(plan, name), 3) for name in seconds}
    return view_of(PlanView, plan, agents=len(plan.shares), **rounded)
