"""What a change conflicts with: which landed work it is, and what each side did to the files in question."""

from dataclasses import dataclass

from paddock.core.ids import recordable, resolve_folder
from paddock.core.intent.landing import Conflicted
from paddock.core.tasks.conversations import Homes
from paddock.fleet.landing.entrance import main_ref
from paddock.fleet.site import Site
from paddock.git.landing.history import members_touching, read_landed
from paddock.git.landing.workbench import open_workbench
from paddock.git.worktrees.merging import begin_merge, require_free
from paddock.git.worktrees.prepare import WorktreeOrder, prepare
from paddock.git.worktrees.slots import find_slot

_TIPS_SEARCHED = 200
_PATHS_SHOWN = 20
_DIFF_CHARACTERS = 6000


@dataclass(frozen=True, slots=True)
class BothSides:
    """Since commit `fork`: what the change did to the conflicting paths, and what main did up to `base`."""

    fork: str
    head: str
    base: str
    paths: tuple[str, ...]
    ours: str
    theirs: str


def landed_against(site: Site, head: str, base: str, paths: tuple[str, ...]) -> str | None:
    """The landed changes, newest first, that touched `paths` since `head` forked from `base`; else a commit's name."""
    fork = site.repo.merge_base(head, base)
    if fork is None or not paths:
        return None
    bench = open_workbench(site.repo)
    tips = read_landed(bench, base, fork)[-_TIPS_SEARCHED:]
    names = [name for tip in reversed(tips) for name in members_touching(bench, tip, fork, paths)]
    if names:
        return ", ".join(dict.fromkeys(names))
    words = ("rev-list", "--first-parent", "--max-count=1", "--abbrev-commit", f"{fork}..{base}", "--")
    commit = site.repo.git("--literal-pathspecs", *words, *paths[:_PATHS_SHOWN], check=False).text
    return f"commit {commit}" if commit else None


def both_sides(site: Site, head: str, base: str, paths: tuple[str, ...]) -> BothSides:
    fork = site.repo.merge_base(head, base) or base
    shown = paths[:_PATHS_SHOWN]
    return BothSides(fork, head, base, shown, _diff(site, fork, head, shown), _diff(site, fork, base, shown))


def _diff(site: Site, before: str, after: str, paths: tuple[str, ...]) -> str:
    argv = ("--literal-pathspecs", "diff", "--no-ext-diff", "--no-textconv", before, after, "--", *paths)
    text = site.repo.git(*argv, check=False).stdout.decode("utf-8", "replace")
    return text if len(text) <= _DIFF_CHARACTERS else f"{text[:_DIFF_CHARACTERS]}\n… {len(text)} characters in all\n"


def open_to_resolve(site: Site, found: Conflicted, homes: Homes) -> tuple[str, list[str]]:
    """The worktree and the files that conflict in it. Opening it again finds the same worktree."""
    tip = site.repo.resolve(f"refs/heads/{found.branch}") or found.head
    require_free(site.root, found.branch)
    folder = resolve_folder(found.id)
    opened = find_slot(site.root, folder)
    start = opened[1].start if opened is not None else tip
    prepared = prepare(site.root, WorktreeOrder(folder, found.branch, start, homes=homes))
    conflicts = begin_merge(site.root, folder, site.repo.resolve(main_ref(site)) or tip)
    return str(prepared.worktree.path), [recordable(name) for name in conflicts]
