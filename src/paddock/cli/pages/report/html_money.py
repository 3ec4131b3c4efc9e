"""What a report says of money: where it went, what a landed change costs, and who threw most of it away."""

from paddock.cli.pages.report.charts import share_bar, weeks_chart
from paddock.cli.pages.report.markup import Child, Markup, element, join
from paddock.cli.pages.report.parts import dim, key, panel, table
from paddock.cli.pages.report.words import SPLIT, money, percent, split_parts, thrown_words
from paddock.views.insight.report import ReportView


def cost_panel(report: ReportView) -> Markup:
    split = report.costs.split
    if not split.attempts:
        return panel("What it cost", "", dim("No agent was at work."))
    rows = [
        (key(state, name), money(usd), percent(usd / split.cost_usd), share_bar([(state, usd)], split.cost_usd, name))
        for name, state, usd in split_parts(split)
        if split.cost_usd
    ]
    lost = [(thrown_words(row), f"{row.lost:,}", money(row.lost_usd)) for row in report.costs.thrown_away]
    chart: Child = None
    if len(report.weeks) > 1:
        title = element("h3", "Cost of a landed change, week by week")
        chart = join(title, element("div", weeks_chart(report.weeks), class_="tw"), _weeks_table(report))
        chart = join(title, element("div", weeks_chart(report.weeks), class_="tw"), _weeks_table(report))
    return panel(
        "What it cost",
        f"{money(report.costs.per_landed_usd)} a landed change",
        table(("where it went", "cost", "share", ""), rows, numbers=(1, 2)) if rows else dim("No attempt has a price."),
        table(("thrown away", "attempts", "cost"), lost, numbers=(1, 2)) if lost else None,
        chart,
        _dear(report),
        _untold(report),
    )


def _weeks_table(report: ReportView) -> Markup:
    """What the picture shows, for those who see no colours."""
    rows = []
    for week in report.weeks:
        each = [money(getattr(week.split, field) / week.landed) if week.landed else "" for _, _, field in SPLIT]
        rows.append((f"from {week.began[:10]}", f"{week.landed:,}", money(week.per_landed_usd), *each))
    head = ("week", "landed", "a change", *(key(state, name) for name, state, _ in SPLIT))
    return table(head, rows, numbers=range(1, 3 + len(SPLIT)))


def _dear(report: ReportView) -> Markup | None:
    """Which agent file or brief makes starts dear."""
    words = [
        f"Every start of {start.agent} reads {start.tokens:,.0f} tokens, where the engine's other agents read "
        f"{start.others or 0:,.0f}."
        for start in report.costs.starts
        if start.dear
    ]
    files = [
        (file.path, start.agent, f"about {file.about_tokens:,}", f"{start.tokens:,.0f}", f"{start.starts:,}")
        for start in report.costs.starts
        for file in start.files[:3]
    ]
    files.sort(key=lambda row: -int(row[2].split()[1].replace(",", "")))
    briefs = [
        f"{row.task} starts with {row.tokens:,} tokens instead of {row.usual:,.0f}; its brief has about "
        f"{row.about_tokens:,}."
        for row in report.costs.briefs
    ]
    if not (words or files or briefs):
        return None
    head = ("file that starts read", "agent", "tokens", "of", "starts")
    told = table(head, files[:5], numbers=(2, 3, 4)) if files else None
    return join(told, [element("p", line, class_="soft") for line in (*words, *briefs)])


def _untold(report: ReportView) -> Markup | None:
    split = report.costs.split
    if not (split.unpriced or split.unknown):
        return None
    models = ", ".join(one.model or "a model nobody named" for one in report.costs.unpriced_models[:5])
    words = f"{split.unpriced:,} turns have no price{f' ({models})' if models else ''}"
    return dim(f"Not included: {words}, and {split.unknown:,} have told no tokens.")


def offenders_panel(report: ReportView) -> Markup:
    offenders = report.offenders
    if not offenders.tasks and not offenders.agents:
        return panel("Worst offenders", "", dim("Nothing was thrown away."))
    tasks = [
        (row.task, row.title, row.phase, f"{row.lost} of {row.attempts}", money(row.lost_usd))
        for row in offenders.tasks
    ]
    agents = [
        (
            row.agent,
            row.engine,
            f"{row.lost:,} of {row.attempts:,}",
            percent(row.lost / row.attempts),
            money(row.lost_usd),
        )
        for row in offenders.agents
    ]
    return panel(
        "Worst offenders",
        "by what was thrown away",
        table(("task", "title", "now", "attempts lost", "cost"), tasks, numbers=(3, 4)) if tasks else None,
        table(("agent", "engine", "attempts lost", "share", "cost"), agents, numbers=(2, 3, 4)) if agents else None,
    )
