"""What can be asked for about plans: to have one made, to see it, to let it become tasks, to drop it."""

from typing import Annotated

from msgspec import Meta

from paddock.core.ids import parse_task
from paddock.core.intent.plan import PlanRequest, drop_plan, request_plan, require_open_plan
from paddock.core.intent.tasks import added_in
from paddock.core.plan.plan import MOST_TASKS
from paddock.core.wording import check_name
from paddock.fleet.plan_preview import look_at_plan, open_plan, record_acceptance
from paddock.views.plan import PlanPreviewView, view_preview
from paddock.web.endpoint import Asked, NoBody, NoQuery, Visit
from paddock.web.endpoints.answers import BulkAnswer, Text, done_answer
from paddock.web.endpoints.task_requests import AddedView


class PlanBody(Asked, frozen=True):
    """`paths` are what the plan may touch; none means anything."""

    goal: Text
    paths: tuple[str, ...] = ()
    agent: str | None = None
    engine: str | None = None
    max_tasks: Annotated[int, Meta(ge=1, le=MOST_TASKS)] | None = None


class AcceptPlanBody(Asked, frozen=True):
    """`seq` is the record with the plan that was seen; another one is not accepted in its place. `convoy` goes before
    what the planner calls it."""

    seq: int
    convoy: str | None = None


class DropPlanBody(Asked, frozen=True):
    seq: int
    message: Text = ""


def make(visit: Visit[NoQuery, PlanBody]) -> AddedView:
    """Only adds the task: a daemon has it done."""
    body, known = visit.body, visit.workspace.known
    request = PlanRequest(body.goal, body.paths, body.agent or None, body.engine or None, body.max_tasks or 0)
    records = visit.workspace.record(lambda board: request_plan(board, request, known))
    return AddedView(ids=[str(records[0].task)], convoy=None, seq=records[-1].seq)


def show(visit: Visit[NoQuery, NoBody]) -> PlanPreviewView:
    opened = look_at_plan(visit.workspace, visit.store, parse_task(visit.path["id"]))
    return view_preview(opened.proposed, opened.preview)


def accept(visit: Visit[NoQuery, AcceptPlanBody]) -> AddedView:
    name, body = parse_task(visit.path["id"]), visit.body
    require_open_plan(visit.workspace.board(), name, body.seq)
    if body.convoy:
        check_name("convoy", body.convoy)
    opened = open_plan(visit.workspace, name, body.convoy or None)
    records = record_acceptance(visit.workspace, opened, body.seq)
    return AddedView(ids=added_in(records), convoy=opened.plan.convoy, seq=records[-1].seq)


def drop(visit: Visit[NoQuery, DropPlanBody]) -> BulkAnswer:
    name, body = parse_task(visit.path["id"]), visit.body
    records = visit.workspace.record(lambda board: drop_plan(board, name, body.seq, body.message))
    return done_answer([name], records)
