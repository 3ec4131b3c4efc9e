"""Workflows: steps that are written once and become a convoy of tasks whenever they are run. Pure.

A variable stands as `{{ name }}` in a text and is replaced by its value, once: values are not looked into. There is no
other template language. What a step needs, it is told as results of those tasks (`core/tasks/results.py`).
"""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from paddock.core.errors import Misuse
from paddock.core.events import Acceptance, AcceptFile
from paddock.core.ids import printable
from paddock.core.intent.tasks import Batch, Known, TaskSpec
from paddock.core.tasks.vocabulary import Role
from paddock.core.wording import did_you_mean, split_list

TASK_LIMIT = 500
VALUE_LIMIT = 64 * 1024
TITLE_CHARS = 100
ITEM = "item"
"""What a step that is done for each of several things calls the one at hand."""
ABOUT = """\
This is about commit `{commit}`: `git diff HEAD...{commit}` shows what it changes, and `git show {commit}:PATH` a file \
as it is there. The files around you are those of main."""
_PLACE = re.compile(r"\{\{\s*(?P<name>[^{}]*?)\s*\}\}")


@dataclass(frozen=True, slots=True)
class Variable:
    """Without a `default` it must be given. `is_commit`: its value names a branch or a commit of the repository, and is
    replaced by the commit's id when the workflow is run."""

    name: str
    default: str | None = None
    description: str = ""
    is_commit: bool = False


@dataclass(frozen=True, slots=True)
class WorkflowStep:
    """`for_each` are the things to do it for, or the name of the variable that lists them; None: once. `commit` is the
    name of the variable with the commit it is about, where that has a value."""

    name: str
    brief: str
    title: str | None = None
    needs: tuple[str, ...] = ()
    for_each: tuple[str, ...] | str | None = None
    commit: str | None = None
    agent: str | None = None
    engine: str | None = None
    kind: str | None = None
    role: Role = Role.WORK
    paths: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    accept: Acceptance | None = None
    priority: int = 0
    attempts: int | None = None
    where: str = ""


@dataclass(frozen=True, slots=True)
class Workflow:
    """`source` says where it is written. One that is `shipped` must run in every repository."""

    name: str
    source: str
    steps: tuple[WorkflowStep, ...]
    description: str = ""
    title: str = ""
    variables: tuple[Variable, ...] = ()
    shipped: bool = False


def places_in(text: str) -> list[str]:
    """The names that stand in it, in order."""
    return [match["name"] for match in _PLACE.finditer(text)]


def close_up(text: str) -> str:
    """Each place as one word, for texts that are split into words before they are filled."""
    return _PLACE.sub(lambda match: f"{{{{{match['name']}}}}}", text)


def fill(text: str, values: Mapping[str, str]) -> str:
    """Every name must have a value."""
    return _PLACE.sub(lambda match: values[match["name"]], text)


def choose_values(workflow: Workflow, given: Mapping[str, str]) -> dict[str, str]:
    """Of each variable, given or by default. Raises Misuse that names all that are missing, and what they mean."""
    known = {one.name: one for one in workflow.variables}
    for name, value in given.items():
        if name not in known:
            hint = did_you_mean(name, known, f"it has {_listed(known) or 'none'}")
            raise Misuse(f"workflow `{workflow.name}` has no variable `{printable(name, 80)}`", hint)
        if len(value) > VALUE_LIMIT or "\0" in value:
            raise Misuse(f"the value of `{name}` is not text of at most {VALUE_LIMIT:,} characters")
    missing = [one for one in workflow.variables if one.default is None and not given.get(one.name, "").strip()]
    if missing:
        told = "; ".join(f"`{one.name}`{f', {one.description}' if one.description else ''}" for one in missing)
        wanted = " ".join(f"-v {one.name}=…" for one in missing)
        count = "a variable" if len(missing) == 1 else f"{len(missing)} variables"
        raise Misuse(f"workflow `{workflow.name}` needs {count}: {told}", f"add `{wanted}`")
    return {one.name: given.get(one.name, one.default or "") for one in workflow.variables}


def resolve_commits(workflow: Workflow, values: Mapping[str, str], find: Callable[[str], str | None]) -> dict[str, str]:
    """The values with branches replaced by the commits they are at. Raises Misuse for what `find` does not know."""
    found = dict(values)
    for one in workflow.variables:
        if one.is_commit and (name := values[one.name].strip()):
            commit = find(name)
            if commit is None:
                raise Misuse(
                    f"`{one.name}`: the repository has no commit `{printable(name, 80)}`",
                    "name a branch, a tag or a commit; `git branch --all` lists the branches",
                )
            found[one.name] = commit
    return found


def expand(workflow: Workflow, values: Mapping[str, str], *, attempts: int = 3, engine: str | None = None) -> Batch:
    """The tasks of one run. `values` has every variable; `attempts` and `engine` are for steps that set none.

    Raises Misuse where a list is empty, or where there would be too many tasks.
    """
    items = {step.name: _items(step, values) for step in workflow.steps}
    count = sum(len(one) for one in items.values())
    if count > TASK_LIMIT:
        raise Misuse(
            f"workflow `{workflow.name}` would add {count:,} tasks; the limit is {TASK_LIMIT}",
            "give a shorter list, or run it in parts",
        )
    specs: list[TaskSpec] = []
    for step in workflow.steps:
        inputs = tuple(_key(name, n, items[name]) for name in step.needs for n in range(1, len(items[name]) + 1))
        for number, item in enumerate(items[step.name], 1):
            spec = _spec(step, {**values, **({} if item is None else {ITEM: item})}, item)
            key = _key(step.name, number, items[step.name])
            specs.append(
                replace(spec, key=key, inputs=inputs, engine=step.engine or engine, attempts=step.attempts or attempts)
            )
    return Batch(tuple(specs), None, _title(fill(workflow.title or workflow.description, values)))


def with_known_kinds(workflow: Workflow, batch: Batch, known: Known) -> Batch:
    """A shipped workflow cannot know which kinds the agents here take: one that nobody takes is left out."""
    kinds = known.kinds
    if not workflow.shipped or not kinds:
        return batch
    tasks = [one if one.kind in kinds else replace(one, kind=None) for one in batch.tasks]
    return replace(batch, tasks=tuple(tasks))


def free_convoy(workflow: str, taken: Collection[str]) -> str:
    """`feature-3`: the first number that no convoy has."""
    number = 1
    while f"{workflow}-{number}" in taken:
        number += 1
    return f"{workflow}-{number}"


def read_items(text: str) -> tuple[str, ...]:
    """A list as people give it: JSON, else the parts between commas. Each once."""
    found: Sequence[object] = split_list(text)
    if text.lstrip().startswith("["):
        try:
            read = json.loads(text)
        except (ValueError, RecursionError):
            read = None
        if isinstance(read, list):
            found = read
    words = (one if isinstance(one, str) else json.dumps(one) for one in found)
    return tuple(dict.fromkeys(word.strip() for word in words if word.strip()))


def _items(step: WorkflowStep, values: Mapping[str, str]) -> tuple[str | None, ...]:
    match step.for_each:
        case None:
            return (None,)
        case str(variable):
            found = read_items(values[variable])
            if not found:
                raise Misuse(
                    f"step `{step.name}` is done for each of `{variable}`, and that list is empty",
                    f"give it: `-v {variable}=a,b`",
                )
            return found
        case listed:
            return tuple(fill(item, values) for item in listed)


def _key(step: str, number: int, items: Sequence[str | None]) -> str:
    return step if items == (None,) else f"{step}.{number}"


def _spec(step: WorkflowStep, values: Mapping[str, str], item: str | None) -> TaskSpec:
    brief = fill(step.brief, values)
    if step.commit is not None and (commit := values[step.commit].strip()):
        brief = f"{brief.rstrip()}\n\n{ABOUT.format(commit=commit)}"
    title = fill(step.title, values) if step.title is not None else None
    if title is None and item is not None:
        title = f"{step.name}: {item}"
    paths = [part for path in step.paths for part in split_list(fill(path, values))]
    return TaskSpec(
        brief=brief,
        title=_title(title) if title is not None else None,
        agent=step.agent,
        priority=step.priority,
        paths=tuple(dict.fromkeys(paths)),
        where=f"{step.where} (`{printable(step.name if item is None else f'{step.name}: {item}', 60)}`)",
        kind=step.kind,
        labels=step.labels,
        role=step.role,
        accept=_fill_acceptance(step.accept, values) if step.accept is not None else None,
    )


def _fill_acceptance(accept: Acceptance, values: Mapping[str, str]) -> Acceptance:
    """A value stays within the word or the file it stands in."""
    return Acceptance(
        commands=tuple(tuple(fill(word, values) for word in argv) for argv in accept.commands),
        files=tuple(AcceptFile(fill(one.path, values), fill(one.text, values)) for one in accept.files),
    )


def _title(text: str) -> str:
    """One line that a title may be, whatever the values were."""
    return printable(" ".join(text.split()), TITLE_CHARS)


def _listed(names: Collection[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
