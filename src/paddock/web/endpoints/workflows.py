"""Workflows, and what came of tasks."""

from typing import Annotated

from msgspec import Meta, field

from paddock.config.workflows import find_workflow, list_workflows, parse_workflow
from paddock.core.errors import Misuse
from paddock.core.events import TaskAdded
from paddock.core.ids import parse_task
from paddock.core.intent.selection import require_convoy
from paddock.fleet.workflows import RunOrder, run_workflow
from paddock.views.document import Document
from paddock.views.results import ResultView, results_of, results_of_convoy
from paddock.views.workflows import WorkflowView, look_at, view_workflow
from paddock.web.endpoint import Asked, NoBody, NoQuery, Visit
from paddock.web.endpoints.task_requests import AddedView

MOST_VARIABLES = 100
Value = Annotated[str, Meta(max_length=64 * 1024)]


class WorkflowsView(Document, frozen=True, kw_only=True):
    workflows: list[WorkflowView]


def read_workflows(visit: Visit[NoQuery, NoBody]) -> WorkflowsView:
    return WorkflowsView(workflows=[look_at(file) for file in list_workflows(visit.workspace.top)])


class WorkflowPage(Document, frozen=True, kw_only=True):
    workflow: WorkflowView


def read_workflow(visit: Visit[NoQuery, NoBody]) -> WorkflowPage:
    file = find_workflow(visit.workspace.top, visit.path["name"])
    return WorkflowPage(workflow=view_workflow(file, parse_workflow(file)))


class RunBody(Asked, frozen=True):
    """`convoy` is null for the workflow's name and a number; `engine` is for steps that name none."""

    variables: dict[str, Value] = field(default_factory=dict)
    convoy: str | None = None
    engine: str | None = None


def run(visit: Visit[NoQuery, RunBody]) -> AddedView:
    body = visit.body
    if len(body.variables) > MOST_VARIABLES:
        raise Misuse(f"there are {len(body.variables):,} variables; the limit is {MOST_VARIABLES}")
    workflow = parse_workflow(find_workflow(visit.workspace.top, visit.path["name"]))
    order = RunOrder(workflow, body.variables, body.convoy or None, body.engine or None)
    records = run_workflow(visit.workspace, order)
    added = [(record.task, record.event) for record in records if isinstance(record.event, TaskAdded)]
    return AddedView(ids=[str(name) for name, _ in added], convoy=added[0][1].convoy, seq=records[-1].seq)


class ResultsView(Document, frozen=True, kw_only=True):
    results: list[ResultView]


def read_result(visit: Visit[NoQuery, NoBody]) -> ResultsView:
    return ResultsView(results=results_of(visit.workspace, [parse_task(visit.path["id"])]))


def read_convoy_results(visit: Visit[NoQuery, NoBody]) -> ResultsView:
    name, board = visit.path["name"], visit.workspace.board()
    require_convoy(board, name)
    return ResultsView(results=results_of_convoy(visit.workspace, board, name))
