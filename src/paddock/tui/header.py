"""The lines above the list: counts and the daemon, agents with what limits them and money, the merge queue."""

from collections.abc import Sequence

from rich.text import Text

from paddock.core.durations import rough_duration
from paddock.core.tasks.task import Phase
from paddock.tui.alerts import count_words
from paddock.tui.feed import QuotaUse
from paddock.tui.order import moment
from paddock.tui.style import BETWEEN, badge_of, bar, joined, safe
from paddock.views.board.page import BoardView

SHOWN_RUNS = 4
SHOWN_MEMBERS = 3
_PHASES = (
    Phase.RUNNING, Phase.REVIEWING, Phase.QUEUED, Phase.APPROVAL, Phase.BLOCKED, Phase.FAILED, Phase.READY,
    Phase.WAITING, Phase.LANDED, Phase.DONE, Phase.NOOP, Phase.CANCELLED,
)  # fmt: skip
NEARLY = 0.8
"""From this share on a budget or a quota is worth a colour."""


def header_lines(view: BoardView, quotas: Sequence[QuotaUse], width: int, most: int, now: float) -> list[Text]:
    """At most so many lines, the most important first."""
    lines = [_counts(view, width, now)]
    lines += [_notice(view, width)] if view.notices else []
    lines += [_agents(view, quotas, width, now), _queue(view, width, now)]
    return lines[:most]


def _counts(view: BoardView, width: int, now: float) -> Text:
    daemon = daemon_words(view, now)
    needs = len(view.needs)
    first = [Text(safe(view.repo, 24), "bold")]
    first += [Text(f"{needs} {'needs' if needs == 1 else 'need'} you", "bold")] if needs else []
    first += [count_words(view.alerts)] if view.alerts else []
    room = max(10, width - daemon.cell_len - 2)
    taken = sum(part.cell_len + 2 for part in first)
    left = joined([*first, *(_phases(view, room - taken) or [Text("no tasks yet")])], room, "  ", least=100)
    gap = max(1, width - left.cell_len - daemon.cell_len)
    line = Text.assemble(left, " " * gap, daemon, no_wrap=True, end="")
    line.truncate(width, overflow="ellipsis")
    return line


def _phases(view: BoardView, room: int) -> list[Text]:
    """How many are in each, in words as far as there is room, the others as symbols."""
    found = [(phase.value, count) for phase in _PHASES if (count := view.counts.get(phase.value))]
    parts = [Text(f"{badge_of(name)[0]} {count:,}", badge_of(name)[1]) for name, count in found]
    left = room - sum(part.cell_len + 2 for part in parts) + 2
    for part, (name, _) in zip(parts, found, strict=True):
        if (left := left - len(name) - 1) < 0:
            break
        part.append(f" {name}")
    return parts


def daemon_words(view: BoardView, now: float) -> Text:
    daemon = view.daemon
    match daemon.state:
        case "running":
            age = f" {rough_duration(now - moment(daemon.since))}" if daemon.since else ""
            return Text(f"daemon up{age}", "green")
        case "none":
            return Text("no daemon: paddock up", "yellow")
        case state:
            return Text(f"daemon {safe(state, 20)}: paddock up", "red")


def _notice(view: BoardView, width: int) -> Text:
    """What to run is told whole where it takes no more than half of the line."""
    first, more = view.notices[0], len(view.notices) - 1
    how = "! shows them" if first.kind == "alerts" else f"run: {safe(first.run, 200)}"
    run, words = Text(how, "dim"), Text(f"! {safe(first.text, 400)}", "yellow")
    if run.cell_len <= width // 2:
        words.truncate(width - run.cell_len - len(BETWEEN), overflow="ellipsis")
    rest = [Text(f"and {more} more: paddock status", "dim")] if more else []
    return joined([words, run, *rest], width)


def trouble_lines(trouble: str, hint: str) -> list[Text]:
    """What is in the way of seeing anything new."""
    lines = [Text(f"! {safe(trouble, 400)}", "red")]
    return [*lines, Text(f"  {safe(hint, 400)}", "dim")] if hint else lines


def _agents(view: BoardView, quotas: Sequence[QuotaUse], width: int, now: float) -> Text:
    agents = view.agents
    parts = [Text(f"agents {agents.running} of {agents.cap}")]
    if agents.reason:
        until = f" for {rough_duration(moment(agents.until) - now)}" if agents.until else ""
        parts.append(Text(f"{safe(agents.reason, 200)}{until}", "yellow"))
    parts[1:1] = [Text(safe(view.nodes, 80)), _money(view)] if view.nodes else [_money(view)]
    return joined([*parts, *map(_quota, sorted(quotas, key=lambda one: -one.used))], width)


def _quota(quota: QuotaUse) -> Text:
    colour = "red" if quota.used >= 1 else "yellow" if quota.used > NEARLY else ""
    return Text(f"{safe(quota.account, 20)} {safe(quota.window, 12)} {quota.used:.0%} {bar(quota.used)}", colour)


def _money(view: BoardView) -> Text:
    spend = view.spend
    spent = (spend.cost_usd or 0.0) + spend.assumed_usd
    words = Text(f"${spent:,.2f} today")
    if spend.budget_usd:
        share = spent / spend.budget_usd
        words.append(
            f" of ${spend.budget_usd:,.2f} {bar(share)}", "red" if share >= 1 else "yellow" if share > NEARLY else ""
        )
    return words


def _queue(view: BoardView, width: int, now: float) -> Text:
    queue = view.queue
    parts = [Text(f"queue {queue.state}", "" if queue.state == "open" else "red")]
    if queue.state != "open" and queue.reason:
        parts[0].append(f": {safe(queue.reason, 160)}")
    if queue.next is not None:
        when = rough_duration(moment(queue.next.eta) - now)
        parts.append(Text(f"next {some(queue.next.members)} in about {when}", "cyan"))
    for run in queue.runs[:SHOWN_RUNS]:
        what = some(run.members) or view.branch
        parts.append(Text(f"● {run.run} {run.purpose} {what} {rough_duration(now - moment(run.since))}", "blue"))
    if (hidden := len(queue.runs) - SHOWN_RUNS) > 0:
        parts.append(Text(f"{hidden} more runs"))
    waiting = f"{queue.queued} queued" if queue.queued else "nothing queued"
    parts.insert(1, Text(waiting, "dim"))
    return joined(parts, width)


def some(names: Sequence[str]) -> str:
    """The first few of them."""
    more = len(names) - SHOWN_MEMBERS
    return safe(" ".join(names[:SHOWN_MEMBERS]), 60) + (f" +{more}" if more > 0 else "")
