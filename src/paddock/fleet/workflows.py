"""Running a workflow: its tasks are added in one transaction, as a convoy of their own."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from paddock.config.workflows import WorkflowFile, parse_workflow
from paddock.core.board import Board
from paddock.core.errors import Misuse, words_of
from paddock.core.events import Record
from paddock.core.intent.tasks import Batch, TaskSpec, add_tasks
from paddock.core.workflow import Workflow, choose_values, expand, free_convoy, resolve_commits, with_known_kinds
from paddock.fleet.workspace import Workspace


@dataclass(frozen=True, slots=True)
class RunOrder:
    """`convoy` is None for the next free name; `engine` is for steps that name none."""

    workflow: Workflow
    given: Mapping[str, str]
    convoy: str | None = None
    engine: str | None = None


def prepare_run(workspace: Workspace, order: RunOrder) -> Batch:
    """The tasks it would add. Raises Misuse."""
    workflow = order.workflow
    values = resolve_commits(workflow, choose_values(workflow, order.given), workspace.repo.resolve)
    batch = expand(workflow, values, attempts=workspace.config.limits.attempts, engine=order.engine)
    return with_known_kinds(workflow, batch, workspace.known)


def name_convoy(board: Board, order: RunOrder, batch: Batch) -> Batch:
    return replace(batch, convoy=order.convoy or free_convoy(order.workflow.name, board.convoys))


def run_workflow(workspace: Workspace, order: RunOrder) -> list[Record]:
    """The name of its convoy is chosen in the transaction that adds it."""
    batch, known = prepare_run(workspace, order), workspace.known
    return workspace.record(lambda board: add_tasks(board, name_convoy(board, order, batch), known))


def find_problem(workspace: Workspace, file: WorkflowFile) -> str:
    """What is wrong with a workflow, as far as can be told without values for its variables; empty if nothing is."""
    try:
        steps = parse_workflow(file).steps
        specs = tuple(TaskSpec("check", agent=one.agent, engine=one.engine, where=one.where) for one in steps)
        add_tasks(workspace.board(), Batch(specs), workspace.known)
    except Misuse as refusal:
        return words_of(refusal)
    return ""
