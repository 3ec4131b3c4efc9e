"""A plan for people: its tasks as a tree, what Paddock added or noticed, what it may take."""

import shlex
from collections.abc import Iterator

from paddock.cli.terminal.text import cut, paint, plural, width
from paddock.core.durations import format_duration
from paddock.core.ids import harmless, printable, some_names
from paddock.views.plan import OverlapView, PlanForecastView, PlannedTaskView, PlanPreviewView

DEEPEST = 8
NOTES_LINES = 40
UNKNOWN = "unknown"


def render_plan(plan: PlanPreviewView) -> Iterator[str]:
    title = f"  {cut(plan.title, 80)}" if plan.title else ""
    yield paint(f"convoy {plan.convoy}", bold=True) + f"  {plural(len(plan.tasks), 'task')}{title}"
    for task, depth in _tree(plan.tasks):
        yield from _task(task, depth)
    yield ""
    if plan.decided:
        yield paint(f"decided: {plan.decided}", "yellow")
    if plan.joins:
        yield paint(f"convoy {plan.convoy} exists already: these tasks would join it", "yellow")
    for one in plan.added:
        yield f"order added: {one.task} waits for {one.after}; both may change {cut(one.path, 60)}"
    for overlap in plan.overlaps:
        yield paint(f"overlap: {_overlap(overlap)}", "yellow")
    yield from _forecast(plan.forecast, len(plan.tasks))
    yield from _words("notes", plan.notes)
    for risk in plan.risks:
        yield f"risk: {cut(risk, 400)}"


def _tree(tasks: tuple[PlannedTaskView, ...]) -> Iterator[tuple[PlannedTaskView, int]]:
    """Every task below the last of what it waits for."""
    place = {task.key: number for number, task in enumerate(tasks)}
    children: dict[str | None, list[PlannedTaskView]] = {}
    for task in tasks:
        parents = [name for name in task.after if name in place]
        children.setdefault(max(parents, key=lambda name: place[name]) if parents else None, []).append(task)
    stack = [(task, 0) for task in reversed(children.get(None, []))]
    while stack:
        task, depth = stack.pop()
        yield task, depth
        stack += [(child, min(depth + 1, DEEPEST)) for child in reversed(children.get(task.key, []))]


def _task(task: PlannedTaskView, depth: int) -> Iterator[str]:
    indent = "  " * (depth + 1)
    room = width() - len(indent) - 2
    yield f"{indent}{paint(task.key, bold=True)}  {cut(task.title, max(20, room - len(task.key) - 2))}"
    who = "/".join(part for part in (task.agent, task.engine) if part) or "no engine is set"
    facts = [task.size, *([task.kind] if task.kind else []), who, f"about {format_duration(round(task.seconds_p50))}"]
    facts.append(f"cost {money_range(task.usd_p50, task.usd_p90)}")
    if len(task.after) > (1 if depth else 0):
        facts.append(f"after {', '.join(task.after)}")
    yield paint(f"{indent}  {cut(' · '.join(facts), room)}", dim=True)
    yield paint(
        f"{indent}  paths {cut(', '.join(task.paths), room)}" if task.paths else f"{indent}  any path", dim=True
    )
    if task.accept is not None:
        commands = "; ".join(shlex.join(argv) for argv in task.accept.commands)
        files = some_names(tuple(file.path for file in task.accept.files), 3)
        yield paint(f"{indent}  accept {cut(commands + (f' with {files}' if files else ''), room)}", dim=True)


def _overlap(one: OverlapView) -> str:
    if one.other is None:
        return f"{one.task} names no paths: it may touch what others change"
    return f"{one.task} and {one.other} may change {cut(one.path or '', 60)} at the same time"


def _forecast(forecast: PlanForecastView, count: int) -> Iterator[str]:
    alone = f", one agent alone {format_duration(round(forecast.serial_seconds))}" if forecast.agents > 1 else ""
    agents = plural(forecast.agents, "agent")
    yield f"time: about {format_duration(round(forecast.wall_seconds))} with {agents} of {forecast.slots}{alone}"
    for reason in forecast.reasons:
        yield paint(f"  {reason}", dim=True)
    if len(forecast.chain) > 1:
        chain = " → ".join(forecast.chain)
        yield paint(f"  longest chain: {cut(chain, 100)}, {format_duration(round(forecast.chain_seconds))}", dim=True)
    rest = (
        f" for {count - forecast.unpriced} of {count}; the others have no price"
        if 0 < forecast.unpriced < count
        else ""
    )
    tokens = f"{_thousands(forecast.tokens_p50)} tokens, {_thousands(forecast.tokens_p90)} in a bad case"
    yield f"cost: {money_range(forecast.usd_p50, forecast.usd_p90)}{rest}  ({tokens})"


def money_range(middle: float | None, high: float | None) -> str:
    """What is not known is never $0; nothing is what a free engine costs."""
    if middle is None or high is None:
        return UNKNOWN
    if not high:
        return "nothing"
    return f"${middle:.2f} to ${high:.2f}"


def _thousands(tokens: int) -> str:
    return f"{tokens / 1000:,.0f}k"


def _words(name: str, text: str) -> Iterator[str]:
    lines = harmless(text).strip().splitlines()[:NOTES_LINES]
    if lines:
        yield f"{name}: {printable(lines[0], 1000)}"
        yield from (f"  {printable(line, 1000)}" for line in lines[1:])
