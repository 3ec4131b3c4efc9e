"""Costs, told honestly, as JSON: start-up context against work, what was thrown away, and what makes starts dear."""

import msgspec

from paddock.core.ids import printable
from paddock.insight.costs.report import CostReport
from paddock.insight.costs.shares import LengthShare, Spread, StartupShare
from paddock.insight.costs.starts import AgentStart, LongBrief
from paddock.insight.costs.waste import FATE_WORDS, MoneySplit, ThrownAway
from paddock.views.costs import CostsView
from paddock.views.document import Document


class SplitView(msgspec.Struct, frozen=True):
    """The parts add up to `cost_usd`, which is None if nothing has a price. `unpriced` and `unknown` turns, or imported
    runs, are left out of it: they have no price, or not even tokens. `unsplit_usd` is of use, and nobody can tell how
    much of it was start-up context."""

    cost_usd: float | None
    startup_usd: float
    work_usd: float
    unsplit_usd: float
    review_usd: float
    thrown_usd: float
    attempts: int
    unpriced: int
    unknown: int


class ThrownAwayView(msgspec.Struct, frozen=True):
    """`lost` attempts came to nothing. `carried` ones were gone on with by a later attempt, which paid `again_usd` for
    its start-up. None where no price is known; `unpriced` attempts have none."""

    fate: str
    words: str
    attempts: int
    lost: int
    lost_usd: float | None
    carried: int
    carried_usd: float | None
    again_usd: float | None
    unpriced: int


class StartupView(msgspec.Struct, frozen=True):
    """Of an agent with an engine, or of all. `tokens` are what first calls read. Shares are of the input and of the
    money of which it is known; None if of none. A start is cold if a cache had less than a tenth of what its first call
    read, warm from nine tenths on; `cold_usd` and `warm_usd` are what such a first call costs, in the middle."""

    agent: str
    engine: str
    runs: int
    calls: int
    tokens: Spread | None
    share_of_input: float | None
    share_of_cost: float | None
    cost_usd: float | None
    startup_usd: float
    work_usd: float
    unsplit_usd: float
    unpriced: int
    unknown: int
    cold: int
    partly: int
    warm: int
    warmth_unknown: int
    cold_usd: float | None
    warm_usd: float | None


class LengthView(msgspec.Struct, frozen=True):
    """Runs of so many model calls: medians."""

    calls: str
    runs: int
    cost_usd: float
    startup_share: float


class StartupFileView(msgspec.Struct, frozen=True):
    """`about_tokens` is a quarter of the file's bytes."""

    path: str
    about_tokens: int


class AgentStartView(msgspec.Struct, frozen=True):
    """`tokens` is the median of what starts read, `others` that of the engine's other agents. `usd_per_start` is a mean
    of the start-up context in all calls; `week` is the last seven days. `dear`: a quarter above the others or more."""

    agent: str
    engine: str
    starts: int
    tokens: float
    others: float | None
    dear: bool
    usd_per_start: float | None
    week_starts: int
    week_tokens: int
    week_usd: float | None
    unpriced: int
    files: list[StartupFileView]


class LongBriefView(msgspec.Struct, frozen=True):
    """A task whose start reads much more than is `usual` for its agent; its brief has `about_tokens`."""

    task: str
    agent: str
    engine: str
    tokens: int
    usual: float
    about_tokens: int


class UnpricedModelView(msgspec.Struct, frozen=True):
    """`count` turns, or imported runs, of a model without a price; its name is empty where nobody told it."""

    model: str
    count: int


class CostReportView(Document, frozen=True, kw_only=True):
    """`landed` is None for imported runs."""

    split: SplitView
    landed: int | None
    per_landed_usd: float | None
    thrown_away: list[ThrownAwayView]
    startup: StartupView
    agents: list[StartupView]
    lengths: list[LengthView]
    starts: list[AgentStartView]
    briefs: list[LongBriefView]
    unpriced_models: list[UnpricedModelView]


class LabelCostsView(CostReportView, frozen=True, kw_only=True):
    """Of imported runs."""

    label: str


class FullCostsView(CostsView, frozen=True, kw_only=True):
    """`rows` and `total` are of turns, `split` and all that follows of attempts: those that ended since `since`, or are
    at work."""

    since: str | None
    split: SplitView
    thrown_away: list[ThrownAwayView]
    startup: StartupView
    agents: list[StartupView]
    lengths: list[LengthView]
    starts: list[AgentStartView]
    briefs: list[LongBriefView]
    unpriced_models: list[UnpricedModelView]


def view_cost_report(report: CostReport) -> CostReportView:
    return CostReportView(
        split=view_split(report.split),
        landed=report.landed,
        per_landed_usd=dollars(report.per_landed_usd),
        thrown_away=[view_thrown_away(row) for row in report.thrown_away],
        startup=view_startup(report.startup),
        agents=[view_startup(share) for share in report.agents],
        lengths=[view_length(row) for row in report.lengths],
        starts=[view_agent_start(row) for row in report.starts],
        briefs=[view_long_brief(row) for row in report.briefs],
        unpriced_models=[UnpricedModelView(printable(one.model, 80), one.count) for one in report.unpriced_models],
    )


def view_label_costs(report: CostReport, label: str) -> LabelCostsView:
    shared = msgspec.structs.asdict(view_cost_report(report))
    return LabelCostsView(label=printable(label, 80), **shared)


def view_full_costs(costs: CostsView, report: CostReport, since: str | None) -> FullCostsView:
    told = msgspec.structs.asdict(view_cost_report(report))
    return FullCostsView(**{**told, **msgspec.structs.asdict(costs)}, since=since)


def view_split(split: MoneySplit) -> SplitView:
    return SplitView(
        cost_usd=dollars(split.cost_usd),
        startup_usd=round(split.startup_usd, 6),
        work_usd=round(split.work_usd, 6),
        unsplit_usd=round(split.unsplit_usd, 6),
        review_usd=round(split.review_usd, 6),
        thrown_usd=round(split.thrown_usd, 6),
        attempts=split.attempts,
        unpriced=split.unpriced,
        unknown=split.unknown,
    )


def view_thrown_away(row: ThrownAway) -> ThrownAwayView:
    return ThrownAwayView(
        fate=row.fate.value,
        words=FATE_WORDS[row.fate],
        attempts=row.attempts,
        lost=row.lost,
        lost_usd=dollars(row.lost_usd),
        carried=row.carried,
        carried_usd=dollars(row.carried_usd),
        again_usd=dollars(row.again_usd),
        unpriced=row.unpriced,
    )


def view_startup(share: StartupShare) -> StartupView:
    starts = share.starts
    return StartupView(
        agent=printable(share.agent, 80),
        engine=printable(share.engine, 80),
        runs=share.runs,
        calls=share.calls,
        tokens=share.startup_tokens,
        share_of_input=_share(share.share_of_input),
        share_of_cost=_share(share.share_of_cost),
        cost_usd=dollars(share.cost_usd),
        startup_usd=round(share.startup_usd, 6),
        work_usd=round(share.work_usd, 6),
        unsplit_usd=round(share.unsplit_usd, 6),
        unpriced=share.unpriced,
        unknown=share.unknown,
        cold=starts.cold,
        partly=starts.partly,
        warm=starts.warm,
        warmth_unknown=starts.unknown,
        cold_usd=dollars(starts.cold_usd),
        warm_usd=dollars(starts.warm_usd),
    )


def view_length(row: LengthShare) -> LengthView:
    return LengthView(row.calls, row.runs, round(row.cost_usd, 6), round(row.share, 4))


def view_agent_start(row: AgentStart) -> AgentStartView:
    return AgentStartView(
        agent=printable(row.agent, 80),
        engine=printable(row.engine, 80),
        starts=row.starts,
        tokens=row.tokens,
        others=row.others,
        dear=row.is_dear,
        usd_per_start=dollars(row.usd_per_start),
        week_starts=row.week_starts,
        week_tokens=row.week_tokens,
        week_usd=dollars(row.week_usd),
        unpriced=row.unpriced,
        files=[StartupFileView(printable(file.path, 200), file.about_tokens) for file in row.files],
    )


def view_long_brief(row: LongBrief) -> LongBriefView:
    named = (row.task, printable(row.agent, 80), printable(row.engine, 80))
    return LongBriefView(*named, row.tokens, row.usual, row.about_tokens)


def dollars(amount: float | None) -> float | None:
    """None stays None: what nobody knows is not nothing."""
    return None if amount is None else round(amount, 6)


def _share(share: float | None) -> float | None:
    return None if share is None else round(share, 4)
