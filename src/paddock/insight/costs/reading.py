"""What the report of costs is made of, looked up: the log, transcripts where they were taken in, and agents' files."""

from collections.abc import Collection, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from paddock.core.board import Board
from paddock.core.events import TaskAdded, TaskEdited
from paddock.core.ids import TaskId
from paddock.insight.costs.attempts import FleetCosts, ask_costs, with_traces
from paddock.insight.costs.report import CostReport, report_costs, report_runs
from paddock.insight.costs.runs import RunCost, cost_of_run, costs_of_runs
from paddock.insight.dataset.current import open_current
from paddock.insight.dataset.headers import FLEET
from paddock.insight.dataset.trouble import DatasetUnusable
from paddock.insight.selection import Selection
from paddock.store.protocol import Ask, Query

if TYPE_CHECKING:
    from paddock.fleet.workspace import Workspace


def read_fleet_costs(workspace: "Workspace", board: Board, ask: Ask) -> FleetCosts:
    costs = ask_costs(board, ask)
    return with_traces(costs, _traced_costs(workspace)) if costs.attempts else costs


def read_cost_report(
    workspace: "Workspace", board: Board, now: float, since: float = 0.0, only: Collection[TaskId] | None = None
) -> CostReport:
    """Of the fleet's own attempts; with `only`, of these tasks."""
    from paddock.insight.costs.context_files import find_context_files

    with closing(workspace.read()) as store:
        costs = read_fleet_costs(workspace, board, store.records)
        briefs = brief_sizes(store.records)
    files = find_context_files(workspace.top, Path.home(), workspace.config)
    return report_costs(board, costs, now, since, only=only, files=files, brief_bytes=briefs)


def read_label_report(workspace: "Workspace", label: str, since: float | None = None) -> CostReport:
    """Of imported runs. Raises DatasetUnusable."""
    with open_current(workspace) as dataset:
        traces = dataset.runs(Selection(label=label, since=since))
    return report_runs(costs_of_runs(traces, workspace.site.prices))


def brief_sizes(ask: Ask) -> dict[TaskId, int]:
    """In bytes, as they were last edited."""
    sizes: dict[TaskId, int] = {}
    for kind in (TaskAdded.kind, TaskEdited.kind):
        for record in ask(Query(kind=kind)):
            brief = getattr(record.event, "brief", None)
            if record.task is not None and isinstance(brief, str):
                sizes[record.task] = len(brief.encode("utf-8", "replace"))
    return sizes


def _traced_costs(workspace: "Workspace") -> Mapping[str, RunCost]:
    """Nothing where transcripts are out of reach: the log alone tells what it knows."""
    try:
        with open_current(workspace) as dataset:
            traces = dataset.runs(Selection(label=FLEET))
    except DatasetUnusable:
        return {}
    prices = workspace.site.prices
    return {kept.trace.run: cost_of_run(kept.trace, prices) for kept in traces}
