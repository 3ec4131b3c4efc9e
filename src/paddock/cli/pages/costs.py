"""The report of costs as text: where the money went, what was thrown away, and what makes starts expensive."""

from collections.abc import Iterable, Iterator

from paddock.cli.terminal.amounts import UNKNOWN, UNPRICED
from paddock.cli.terminal.text import cut, paint, plural, width
from paddock.insight.costs.report import CostReport
from paddock.insight.costs.shares import LengthShare, StartupShare
from paddock.insight.costs.starts import AgentStart, LongBrief
from paddock.insight.costs.waste import FATE_WORDS, MoneySplit, ThrownAway

MOST_ROWS = 12
MOST_FILES = 5
_NAME = 34
_COLUMNS = 72
"""What stands behind a name. A narrow terminal gets the median alone of what starts read."""


def report_lines(report: CostReport) -> list[str]:
    """Nothing of a part that has nothing to say."""
    return [
        *_split(report.split),
        *_thrown_away(report),
        *_agents(report),
        *_lengths(report),
        *_starts(report),
        *_briefs(report),
    ]


def unpriced_warnings(report: CostReport, unit: str) -> list[str]:
    """`unit` is what is counted: a turn, or an imported run."""
    return [_unpriced(one.model, one.count, unit) for one in report.unpriced_models]


def _unpriced(model: str, count: int, unit: str) -> str:
    if not model:
        return f"{plural(count, unit)} without a price: nobody told the model"
    named = cut(model, 60)
    return f'{plural(count, unit)} of `{named}` without a price: add [prices."{named}"] to paddock.toml'


def money(dollars: float | None) -> str:
    return UNPRICED if dollars is None else f"${dollars:,.2f}" if dollars >= 100 else f"${dollars:,.4f}"


def tokens(count: float | None) -> str:
    return UNKNOWN if count is None else f"{count / 1000:,.1f}k" if count >= 1000 else f"{count:,.0f}"


def _split(split: MoneySplit) -> Iterator[str]:
    if not split.cost_usd:
        return
    parts = (
        ("start-up context", split.startup_usd),
        ("work", split.work_usd),
        ("start-up or work, nobody tells which", split.unsplit_usd),
        ("reviews", split.review_usd),
        ("thrown away", split.thrown_usd),
    )
    yield from _heading(f"where {money(split.cost_usd)} went", "cost", "share")
    for name, dollars in parts:
        if dollars:
            yield f"  {name:<38} {money(dollars):>12} {_percent(dollars, split.cost_usd):>10}"


def _thrown_away(report: CostReport) -> Iterator[str]:
    if not report.thrown_away:
        return
    yield from _heading("thrown away", "attempts", "cost")
    for row in report.thrown_away:
        line, carried = f"  {FATE_WORDS[row.fate]:<43} {row.lost:>7,} {_lost(row):>10}", _carried(row)
        yield line if len(line) + len(carried) > width() else line + carried
        if len(line) + len(carried) > width():
            yield f"  {carried}"


def _lost(row: ThrownAway) -> str:
    if not row.lost:
        return "-"
    return f"{'>' if row.unpriced and row.lost_usd else ''}{money(row.lost_usd or None)}"


def _carried(row: ThrownAway) -> str:
    if not row.carried:
        return ""
    again = f", at {money(row.again_usd)} for starting again" if row.again_usd else ""
    return f"   {row.carried:,} {'more ' if row.lost else ''}were continued{again}"


def _agents(report: CostReport) -> Iterator[str]:
    shares = [share for share in report.agents if share.startup_tokens is not None]
    if not shares:
        return
    yield ""
    wide = width() >= _NAME + _COLUMNS
    name = _NAME if wide else max(16, min(_NAME, width() - _COLUMNS + 16))
    read = f"{'p5':>7} {'median':>7} {'p95':>7}" if wide else f"{'median':>7}"
    columns = f"{'runs':>6} {read} {'of input':>9} {'of cost':>8} {'cold start':>10} {'warm':>9}"
    yield paint(f"{cut('start-up context by agent', name):<{name}} {columns}", bold=True)
    yield from (_agent(share, name, wide=wide) for share in shares[:MOST_ROWS])
    yield from _more(len(shares), "agent")


def _agent(share: StartupShare, name: int, *, wide: bool) -> str:
    spread = share.startup_tokens
    assert spread is not None
    shown = (spread.p5, spread.p50, spread.p95) if wide else (spread.p50,)
    read = " ".join(f"{tokens(value):>7}" for value in shown)
    warmth = share.starts
    cold, warm = (_dash(value) for value in (warmth.cold_usd, warmth.warm_usd))
    of_input, of_cost = (_share(value) for value in (share.share_of_input, share.share_of_cost))
    named = cut(_named(share.agent, share.engine), name - 2)
    return f"  {named:<{name - 2}} {share.runs:>6} {read} {of_input:>9} {of_cost:>8} {cold:>10} {warm:>9}"


def _lengths(report: CostReport) -> Iterator[str]:
    if len(report.lengths) < 2:
        return
    yield from _heading("by number of model calls", "median cost", "start-up")
    yield from (_length(row) for row in report.lengths)


def _length(row: LengthShare) -> str:
    return f"  {row.calls + ' calls':<14} {plural(row.runs, 'run'):<23} {money(row.cost_usd):>12} {row.share:>10.0%}"


def _starts(report: CostReport) -> Iterator[str]:
    for start in (start for start in report.starts if start.is_dear):
        yield ""
        yield _dear(start)

    yield from _files(report.starts)


def _files(starts: Iterable[AgentStart]) -> Iterator[str]:
    """What weighs most in all starts first: a file of every agent of an engine is told of each."""
    rows = [(start, file) for start in starts for file in start.files if file.about_tokens]
    if not rows:
        return
    rows.sort(key=lambda row: -row[1].about_tokens * row[0].starts)
    yield ""
    yield paint("files that starts read, by their size", bold=True)
    for start, file in rows[:MOST_FILES]:
        named = cut(_named(start.agent, start.engine), 30)
        of_all = f"about {tokens(file.about_tokens)} of {tokens(start.tokens)} tokens"
        yield f"  {cut(file.path, 40):<40}  {of_all}, {plural(start.starts, 'start')} of {named}"


def _dear(start: AgentStart) -> str:
    week = f", {money(start.week_usd)} in the last week" if start.week_usd else ""
    named = cut(_named(start.agent, start.engine), 60)
    more = f"{tokens(start.tokens)} tokens, where the engine's other agents read {tokens(start.others)}"
    return f"every start of {named} reads {more}{week}"


def _briefs(report: CostReport) -> Iterator[str]:
    if not report.briefs:
        return
    yield ""
    yield paint("tasks whose start reads much more than others of their agent", bold=True)
    yield from (_brief(row) for row in report.briefs)


def _brief(row: LongBrief) -> str:
    usual = f"{tokens(row.tokens)} tokens instead of {tokens(row.usual)}"
    return f"  {row.task:<6} {usual}; its brief has about {tokens(row.about_tokens)}"


def _heading(title: str, *columns: str) -> Iterator[str]:
    yield ""
    first, second = columns
    yield paint(f"{title:<40} {first:>12} {second:>10}", bold=True)


def _named(agent: str, engine: str) -> str:
    return agent if agent in ("", engine) else f"{agent} · {engine}"


def _more(count: int, word: str) -> Iterator[str]:
    if count > MOST_ROWS:
        yield f"  and {plural(count - MOST_ROWS, f'more {word}')}: --json has all"


def _percent(part: float, whole: float) -> str:
    return f"{part / whole:.0%}" if whole else "-"


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def _dash(dollars: float | None) -> str:
    return "-" if dollars is None else money(dollars)
