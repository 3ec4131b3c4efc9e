"""A look at a change before it is queued: does it touch what is protected, meet a gate, or take back landed work?"""

from dataclasses import dataclass

from paddock.core.ids import WORKERS, recordable
from paddock.core.merge.gates import ChangeSize, gate_reasons, outside_reasons
from paddock.core.merge.protection import protection_reasons
from paddock.core.merge.reversals import Remit, Reversal, unclaimed
from paddock.core.tasks.task import Task
from paddock.core.tasks.vocabulary import Role
from paddock.fleet.attempts.prompts import read_brief
from paddock.fleet.site import Site
from paddock.git.landing.ci_files import ci_files
from paddock.git.landing.differences import ChangedKinds, count_lines, differences, kinds_of
from paddock.git.landing.history import OwnWork, own_work
from paddock.git.landing.reversals import find_reversals
from paddock.git.landing.workbench import Workbench, open_workbench
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
    """The change `id` at `head`, whose work began at `started_from` (empty: not known), and what it is about.

    A task's judge found the files `outside` its `paths`; a branch has neither, nor a `kind` and `agents`.
    """

    id: str
    head: str
    started_from: str = ""
    claims: Remit = NO_CLAIMS
    kind: str | None = None
    agents: frozenset[str] = frozenset()
    paths: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()


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
    concerns = (
        *concerns,
        *_gates(site, bench, work, kinds, subject),
        *_outside(site, kinds, subject),
        *_stray(site, work, subject.started_from),
    )
    return Examined(concerns, reversals, unclaimed(reversals, subject.claims))


def _gates(site: Site, bench: Workbench, work: OwnWork, kinds: ChangedKinds, subject: Subject) -> tuple[str, ...]:
    gates = site.config.land.gate
    if not gates:
        return ()
    counts = any(gate.lines is not None for gate in gates)
    lines = max((count_lines(bench, base, work.head) for base in work.bases), default=0) if counts else 0
    return gate_reasons(gates, ChangeSize(kinds.files, kinds.links, lines, subject.kind, subject.agents))


def _outside(site: Site, kinds: ChangedKinds, subject: Subject) -> tuple[str, ...]:
    if site.config.land.outside_paths == "allow":
        return ()
    return outside_reasons(subject.outside, {*kinds.files, *kinds.links}, subject.paths)


def _stray(site: Site, work: OwnWork, began: str) -> tuple[str, ...]:
    """Work that began on a commit which main has lost brings that commit back, whoever made it."""
    if began not in work.commits or site.config.land.remote:
        return ()
    return (f"brings back commit {began[:10]}, which is no longer in {site.config.landing_branch}",)


def subject_of(store: Store, task: Task, head: str) -> Subject:
    """A task, and what people said it is about. What an agent wrote into a brief claims nothing."""
    worker = task.worker
    by_agent = store.record(task.brief_seq).actor.startswith(WORKERS)
    words = "" if by_agent else f"{task.title}\n{read_brief(store, task)}"
    return Subject(
        task.id,
        head,
        started_from=worker.base if worker is not None else "",
        claims=Remit(() if by_agent else task.paths, words),
        kind=task.kind,
        agents=frozenset(one.agent for one in task.attempts if one.agent and one.role is Role.WORK),
        paths=task.paths,
        outside=worker.outside if worker is not None else (),
    )
