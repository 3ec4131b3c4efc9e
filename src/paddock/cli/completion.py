"""What tab completion offers besides commands and options: tasks, convoys, agents, engines, keys, kinds, files,
schedules, alerts, causes, attempts and batches of runs.

Imported only while a shell completes. A completion that fails offers nothing: tab completion must not print errors.
"""

from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from paddock.cli.terminal.text import cut
from paddock.core.errors import PaddockError
from paddock.core.ids import task_number
from paddock.fleet.workspace import Workspace
from paddock.git.repo import discover

MOST = 100

Offer = Callable[[Workspace], Iterable[tuple[str, str]]]
"""Words with a description of each, best first."""


def offer_to(command: click.Command, path: tuple[str, ...]) -> None:
    """Lets every parameter of the command, and of those below it, whose name says what it takes, offer that."""
    for parameter in command.params:
        name = parameter.name or ""
        offer = _OFFERS.get((*path, name)) or _OFFERS.get((name,))
        if name == "where":
            parameter.shell_complete = _complete_filter  # type: ignore[method-assign]
        elif name in _FILES:
            parameter.shell_complete = partial(_complete_file, _FILES[name])  # type: ignore[method-assign]
        elif offer is not None and not isinstance(parameter.type, click.Choice):
            parameter.shell_complete = partial(_complete, offer)  # type: ignore[method-assign]
    if isinstance(command, click.Group):
        ctx = click.Context(command)
        for name in command.list_commands(ctx):
            if (below := command.get_command(ctx, name)) is not None:
                offer_to(below, (*path, name))


def _complete_file(kind: str, _ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(incomplete, type=kind)]


def _complete(offer: Offer, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Completes the last of several comma-separated words; those before it stay."""
    before, comma, begun = incomplete.rpartition(",")
    given = before.split(",")
    try:
        workspace = Workspace(discover(Path(ctx.find_root().params.get("directory") or ".")))
        found = ((word, about) for word, about in offer(workspace) if word.startswith(begun) and word not in given)
        return [CompletionItem(f"{before}{comma}{word}", help=about or None) for word, about in islice(found, MOST)]
    except (PaddockError, OSError):
        return []


def _complete_filter(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Completes the last comparison of a filter; what is before it stays."""
    start = max(incomplete.rfind(mark) for mark in " (-") + 1
    before, begun = incomplete[:start], incomplete[start:]
    name, is_compared, value = begun.partition("=")
    if is_compared:
        items = _complete(partial(_values_of, name.lower()), ctx, value)
        return [CompletionItem(f"{before}{name}={item.value}", help=item.help) for item in items]
    return [CompletionItem(before + word, help=about) for word, about in _field_words() if word.startswith(begun)]


def _field_words() -> Iterable[tuple[str, str]]:
    """Each field with two comparisons: a shell would put a blank behind the only candidate."""
    from paddock.core.filter.fields import FIELDS

    for field in FIELDS.values():
        for operator in (">", "<") if field.values.is_amount else ("=", "!="):
            yield f"{field.name}{operator}", field.about


def _values_of(name: str, workspace: Workspace) -> Iterable[tuple[str, str]]:
    from paddock.core.filter.fields import FIELDS

    if name in FIELDS and FIELDS[name].choices:
        return [(choice, "") for choice in FIELDS[name].choices]
    offers = {
        "agent": _agents,
        "engine": _engines,
        "convoy": _convoys,
        "kind": _work_kinds,
        "id": _tasks,
        "after": _tasks,
    }
    return offers[name](workspace) if name in offers else []


def _tasks(workspace: Workspace) -> Iterable[tuple[str, str]]:
    """Newest first; finished ones last."""
    board = workspace.board()
    newest = sorted(board.tasks, key=task_number, reverse=True)
    for name in (*(n for n in newest if n in board.open), *(n for n in newest if n not in board.open)):
        task = board.tasks[name]
        yield name, f"{task.phase.value}: {cut(task.title, 50)}"


def _plans(workspace: Workspace) -> Iterable[tuple[str, str]]:
    """Tasks whose plan waits for a person."""
    tasks = workspace.board().tasks
    return [(name, cut(tasks[name].title, 50)) for name in tasks if tasks[name].plan_waits]


def _findings(workspace: Workspace) -> Iterable[tuple[str, str]]:
    """The open ones, newest first."""
    found = [one for one in workspace.board().reviews.findings.values() if one.is_open]
    return [(one.id, f"{one.task}: {cut(one.claim, 50)}") for one in reversed(found)]


def _convoys(workspace: Workspace) -> Iterable[tuple[str, str]]:
    return [(name, cut(convoy.title, 50)) for name, convoy in workspace.board().convoys.items()]


def _agents(workspace: Workspace) -> Iterable[tuple[str, str]]:
    return [(name, agent.engine) for name, agent in workspace.config.agents.items()]


def _engines(workspace: Workspace) -> Iterable[tuple[str, str]]:
    from paddock.engines.registry import engine_names

    return [(name, "") for name in engine_names(workspace.config.engines)]


def _work_kinds(workspace: Workspace) -> Iterable[tuple[str, str]]:
    return [(kind, f"for {name}") for name, agent in workspace.config.agents.items() for kind in agent.kinds]


def _event_kinds(_: Workspace) -> Iterable[tuple[str, str]]:
    from paddock.core.kinds import all_kinds

    return [(kind, "") for kind in sorted(all_kinds())]


def _settings(workspace: Workspace) -> Iterable[tuple[str, str]]:
    return [(setting.key, cut(str(setting.value), 40)) for setting in workspace.load().settings]


def _workflows(workspace: Workspace) -> Iterable[tuple[str, str]]:
    from paddock.config.workflows import list_workflows

    return [(file.name, file.shown) for file in list_workflows(workspace.top)]


def _schedules(workspace: Workspace) -> Iterable[tuple[str, str]]:
    board = workspace.board()
    known = {} if board.schedule_part.is_nothing else board.schedules.by_name
    return [(name, one.cron) for name, one in known.items()]


def _zones(_: Workspace) -> Iterable[tuple[str, str]]:
    from zoneinfo import available_timezones

    return [(name, "") for name in sorted(available_timezones())]


def _alerts(workspace: Workspace) -> Iterable[tuple[str, str]]:
    """Those that wait for somebody."""
    from paddock.core.intent.alerts import open_alerts

    return [(alert.id, f"{alert.severity.value}: {cut(alert.title, 60)}") for alert in open_alerts(workspace.board())]


def _alert_rules(_: Workspace) -> Iterable[tuple[str, str]]:
    from paddock.core.alerts.catalogue import rule_names

    return [(name, "") for name in rule_names()]


def _causes(workspace: Workspace) -> Iterable[tuple[str, str]]:
    """Those that stand, the newest first."""
    board = workspace.board()
    standing = [] if board.cause_part.is_nothing else list(board.causes.standing.values())
    return [(one.id, f"{one.cause.value}: {cut(one.symptom, 60)}") for one in reversed(standing)]


def _cause_classes(_: Workspace) -> Iterable[tuple[str, str]]:
    from paddock.core.intent.causes import SETTLED_CLASSES

    return [(cause.value, "") for cause in SETTLED_CLASSES]


def _attempts(workspace: Workspace) -> Iterable[tuple[str, str]]:
    """Newest first."""
    tasks = workspace.board().tasks
    for name in sorted(tasks, key=task_number, reverse=True):
        for attempt in reversed(tasks[name].attempts):
            yield attempt.id, cut(tasks[name].title, 50)


def _batches(workspace: Workspace) -> Iterable[tuple[str, str]]:
    """Runs in the dataset, as far as it was made."""
    from paddock.insight.dataset.dataset import Dataset
    from paddock.insight.dataset.location import dataset_path

    dataset = Dataset.open(dataset_path(workspace.state_dir))
    try:
        return [(one.label, f"{one.runs:,} runs") for one in dataset.labels()]
    finally:
        dataset.close()


def _imported(workspace: Workspace) -> Iterable[tuple[str, str]]:
    from paddock.insight.dataset.headers import FLEET

    return [(label, about) for label, about in _batches(workspace) if label != FLEET]


def _nodes(workspace: Workspace) -> Iterable[tuple[str, str]]:
    from paddock.core.nodes.tenure import told_nodes
    from paddock.fleet.nodes.drains import seen_nodes

    board = workspace.board()
    names = sorted({*told_nodes(board), *seen_nodes(workspace)})
    return [(name, "drained" if name in board.drains else "") for name in names]


def _remotes(workspace: Workspace) -> Iterable[tuple[str, str]]:
    return [(name, "") for name in workspace.repo.git("remote").lines]


_DECISIONS = (("waive", "lets a change go on"), ("confirm", "says that it is true"), ("file", "makes a task of it"))
"""What may follow `paddock findings`, which lists where nothing of this does."""
_FILES = {"file": "file", "directory": "dir"}
_OFFERS: dict[tuple[str, ...], Offer] = {
    **{(name,): _tasks for name in ("task", "tasks", "words", "change", "after", "inputs", "only")},
    ("convoy",): _convoys,
    ("agent",): _agents,
    ("engine",): _engines,
    ("kind",): _work_kinds,
    ("remote",): _remotes,
    ("log", "kind"): _event_kinds,
    ("convoy", "show", "name"): _convoys,
    **{("workflow", command, "name"): _workflows for command in ("show", "check", "run")},
    ("schedule",): _schedules,
    ("schedule", "add", "workflow"): _workflows,
    ("schedule", "add", "tz"): _zones,
    ("alerts", "ack", "names"): _alerts,
    ("alerts", "test", "rules"): _alert_rules,
    ("failures", "probe"): _causes,
    ("failures", "clear", "names"): _causes,
    **{("failures", command, "name"): _causes for command in ("settle", "probe")},
    ("failures", "settle", "word"): _cause_classes,
    ("traces", "show", "run"): _attempts,
    **{("traces", "diff", side): _attempts for side in ("left", "right")},
    ("traces", "crosscheck", "names"): lambda workspace: (*_tasks(workspace), *_attempts(workspace)),
    **{("traces", command, "label"): _batches for command in ("list", "show", "export")},
    **{("traces", command, "label"): _imported for command in ("forget", "crosscheck")},
    **{(command, "label"): _batches for command in ("failures", "costs")},
    **{("drift", side): _batches for side in ("batch", "baseline")},
    ("engines", "check", "name"): _engines,
    ("agents", "show", "name"): _agents,
    ("audit", "agents"): _agents,
    ("results", "names"): lambda workspace: (*_tasks(workspace), *_convoys(workspace)),
    ("findings", "list", "names"): lambda workspace: (*_DECISIONS, *_findings(workspace), *_tasks(workspace)),
    **{("findings", command, "names"): _findings for command in ("waive", "confirm", "file")},
    **{("plan", option): _plans for option in ("shown", "accepted", "edited", "dropped")},
    ("config", "show", "key"): _settings,
    ("drain", "nodes"): _nodes,
}
