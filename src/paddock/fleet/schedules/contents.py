"""What a schedule would add now: a workflow is read, and its branches looked up, when it fires."""

from paddock.config.roster import roster
from paddock.config.schema import Config
from paddock.config.workflows import find_workflow, parse_workflow
from paddock.core.intent.schedules import Contents, contents_of
from paddock.core.intent.tasks import Batch, Known
from paddock.core.schedules.events import ScheduledWork, WorkSort
from paddock.core.workflow import choose_values, expand, resolve_commits, with_known_kinds
from paddock.engines.registry import engine_names
from paddock.git.repo import Repo


def prepare_contents(repo: Repo, config: Config, known: Known, work: ScheduledWork, name: str) -> Contents:
    """Raises PaddockError for a workflow that is gone, is wrong, or lacks a value. Blocks on files and git."""
    workflow = _expand(repo, config, known, work) if work.sort is WorkSort.WORKFLOW else None
    return contents_of(work, name, workflow, config.limits.attempts)


def _expand(repo: Repo, config: Config, known: Known, work: ScheduledWork) -> Batch:
    top = repo.main or repo.top or repo.common_dir
    workflow = parse_workflow(find_workflow(top, work.text))
    values = resolve_commits(workflow, choose_values(workflow, work.variables), repo.resolve)
    batch = expand(workflow, values, attempts=config.limits.attempts, engine=work.engine)
    return with_known_kinds(workflow, batch, known)


def known_in(config: Config) -> Known:
    """The agents, engines and kinds of work that tasks may name."""
    names = frozenset((*engine_names(), *config.engines))
    return Known(frozenset(config.agents), names, roster(config))
