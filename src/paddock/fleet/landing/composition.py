"""The commit a run tests, built from its members, and the checks it needs. Blocks on git: called in threads."""

from collections.abc import Mapping

from paddock.core.merge.actions import StartRun
from paddock.core.merge.events import CompositionRefused
from paddock.core.merge.model import Entry
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.landing.entrance import ci_of
from paddock.fleet.site import Site
from paddock.git.landing.compose import Composed, Policy, Unit, compose
from paddock.git.landing.held import hold_unit
from paddock.git.landing.messages import NamedMember
from paddock.git.landing.workbench import open_workbench


def compose_run(site: Site, action: StartRun, entries: Mapping[str, Entry]) -> Composed | CompositionRefused:
    if not action.members:
        return Composed(action.base, action.base_tree)
    parts = tuple(
        NamedMember(member, entries[member.id].change.title if member.id in entries else "")
        for member in action.members
    )
    unit = Unit(action.base, parts, Policy(site.config.land.policy))
    composed = compose(open_workbench(site.repo), unit, checkpoint)
    if isinstance(composed, Composed):
        hold_unit(site.repo, composed.commit)
        return composed
    member = composed.member
    return CompositionRefused(
        action.base, action.members, member.id, member.version, composed.cause, composed.paths, composed.against
    )


def choose_checks(
    site: Site, action: StartRun, entries: Mapping[str, Entry], tree: str, since: str
) -> tuple[tuple[str, ...], str]:
    """The checks to run and the tree on which the others have passed; empty and none when all are to run.

    Compared is with the tree that passed, not with the base: what trains below bring counts as well.
    """
    definition = ci_of(site)
    if not since or not any(check.paths for check in definition.checks):
        return (), ""
    members = [entries[member.id].change.paths for member in action.members if member.id in entries]
    changed = {*site.repo.changed_paths(since, tree), *(path for paths in members for path in paths)}
    chosen = definition.checks_for(changed)
    return ((), "") if chosen == definition.checks else (tuple(check.name for check in chosen), since)
