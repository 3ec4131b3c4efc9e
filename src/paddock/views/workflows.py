"""Workflows as JSON."""

import msgspec

from paddock.config.workflows import WorkflowFile, parse_workflow
from paddock.core.errors import Misuse
from paddock.core.intent.tasks import TaskSpec
from paddock.core.workflow import Variable, Workflow, WorkflowStep


class VariableView(msgspec.Struct, frozen=True):
    """`default` is null for one that must be given. `commit`: it names a branch or a commit."""

    name: str
    required: bool
    default: str | None
    description: str
    commit: bool


class WorkflowStepView(msgspec.Struct, frozen=True):
    """`for_each` is a list, the name of a variable, or null for a step that is done once."""

    name: str
    title: str | None
    role: str
    needs: tuple[str, ...]
    for_each: tuple[str, ...] | str | None
    agent: str | None
    engine: str | None
    kind: str | None
    paths: tuple[str, ...]
    labels: tuple[str, ...]
    brief: str


class WorkflowView(msgspec.Struct, frozen=True):
    """`source` is its file, or says that it is shipped; `hides`: one that is shipped has the same name. `problem` says
    what is wrong with its file, else it is empty."""

    name: str
    source: str
    shipped: bool
    hides: bool
    description: str
    variables: list[VariableView]
    steps: list[WorkflowStepView]
    problem: str = ""


class ExpandedTask(msgspec.Struct, frozen=True):
    """A task that a run would add. `inputs` are keys of others."""

    key: str
    title: str | None
    role: str
    inputs: tuple[str, ...]
    agent: str | None
    engine: str | None
    kind: str | None
    paths: tuple[str, ...]
    brief: str


def view_workflow(file: WorkflowFile, workflow: Workflow) -> WorkflowView:
    return WorkflowView(
        name=workflow.name,
        source=workflow.source,
        shipped=workflow.shipped,
        hides=file.hides,
        description=workflow.description,
        variables=[_view_variable(one) for one in workflow.variables],
        steps=[_view_step(one) for one in workflow.steps],
    )


def look_at(file: WorkflowFile) -> WorkflowView:
    """Also of one that is broken: then with what is wrong with it."""
    try:
        return view_workflow(file, parse_workflow(file))
    except Misuse as refusal:
        return WorkflowView(file.name, file.shown, file.shipped, file.hides, "", [], [], refusal.message)


def view_planned(spec: TaskSpec) -> ExpandedTask:
    return ExpandedTask(
        key=spec.key or "",
        title=spec.title,
        role=spec.role.value,
        inputs=spec.inputs,
        agent=spec.agent,
        engine=spec.engine,
        kind=spec.kind,
        paths=spec.paths,
        brief=spec.brief,
    )


def _view_variable(one: Variable) -> VariableView:
    return VariableView(one.name, one.default is None, one.default, one.description, one.is_commit)


def _view_step(step: WorkflowStep) -> WorkflowStepView:
    return WorkflowStepView(
        name=step.name,
        title=step.title,
        role=step.role.value,
        needs=step.needs,
        for_each=step.for_each,
        agent=step.agent,
        engine=step.engine,
        kind=step.kind,
        paths=step.paths,
        labels=step.labels,
        brief=step.brief,
    )
