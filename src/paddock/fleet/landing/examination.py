"""A look at a change before it is queued: does it touch what is protected, or take back landed work?"""

from dataclasses import dataclass

from paddock.core.ids import WORKERS, recordable
from paddock.core.merge.protection import protection_reasons
from paddock.core.merge.reversals import Remit, Reversal, unclaimed
from paddock.core.tasks.task import Task
from paddock.fleet.attempts.prompts import read_brief
from paddock.fleet.site import Site
from paddock.git.landing.ci_files import ci_files
from paddock.git.landing.differences import differences, kinds_of
from paddock.git.landing.history import OwnWork, own_work
from paddock.git.landing.reversals import find_reversals
from paddock.git.landing.workbench import open_workbench
from paddock.git.sandboxes.ci import CiDefinition
from paddock.git.usertree.versions import Change
from paddock.store.protocol import Store

NO_CLAIMS = Remit()


@dataclass(frozen=True, slots=True)
class Examined:
    """`reversals` are all that the change takes back, `unwanted` those nobody asked for."""

    concerns: tuple[str, ...] = ()
    reversals: tuple[Reversal, ...] = ()
    unwanted: tuple[Reversal, ...] = ()

    @property
    def needs_person(self) -> bool:
        return bool(self.concerns or self.unwanted)


@dataclass(frozen=True, slots=True)
class Subject:
    """The change `id` at `head`, whose work began at `started_from` (empty: not known), and what it is about."""

    id: str
    head: str
    started_from: str = ""
    claims: Remit = NO_CLAIMS


def examine(site: Site, definition: CiDefinition, main: str, subject: Subject) -> Examined:
    """On today's main. A handful of git processes."""
    bench = open_workbench(site.repo)
    changed: dict[str, Change] = {}
    work = own_work(bench, main, subject.head)
    for base in work.bases:
        changed.update(differences(bench, base, subject.head))
    kinds = kinds_of({recordable(path): versions for path, versions in changed.items()})
    concerns = protection_reasons(
        kinds.files,
        kinds.links,
        ci_files=ci_files(bench, definition, main),
        globs=site.config.land.protected,
    )
    reversals = find_reversals(site.repo, subject.head, main, subject.id, subject.started_from)
    concerns = (*concerns, *_stray(site, work, subject.started_from))
    return Examined(concerns, reversals, unclaimed(reversals, subject.claims))


def _stray(site: Site, work: OwnWork, began: str) -> tuple[str, ...]:
    """Work that began on a commit which main has lost brings that commit back, whoever made it."""
    if began not in work.commits or site.config.land.remote:
        return ()
    return (f"brings back commit {began[:10]}, which is no longer in {site.config.landing_branch}",)


def subject_of(store: Store, task: Task, head: str) -> Subject:
    """A task, and what people said it is about. What an agent wrote into a brief claims nothing."""
    last = task.worker
    by_agent = store.record(task.brief_seq).actor.startswith(WORKERS)
    words = "" if by_agent else f"{task.title}\n{read_brief(store, task)}"
    claims = Remit(() if by_agent else task.paths, words)
    return Subject(task.id, head, last.base if last is not None else "", claims)
