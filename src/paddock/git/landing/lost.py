"""What landed on one main and is not in another: read from the commits' own words, and from their patches."""

from dataclasses import dataclass

from paddock.git.landing.history import LandedTip, read_landed
from paddock.git.landing.workbench import open_workbench
from paddock.git.repo import Repo


@dataclass(frozen=True, slots=True)
class MainsCompared:
    """Ids of changes: `lost` landed on the known main and are not in the other, `found` the other way round."""

    lost: tuple[str, ...] = ()
    found: tuple[str, ...] = ()


def compare_landed(repo: Repo, known: str, main: str) -> MainsCompared:
    """A handful of git processes, however many tasks there are. Nothing can be told about a commit that is gone."""
    if known == main or repo.resolve(known) is None or repo.resolve(main) is None:
        return MainsCompared()
    bench = open_workbench(repo)
    now = _names(read_landed(bench, main, known))
    gone = () if repo.is_ancestor(known, main) else read_landed(bench, known, main)
    gone = tuple(tip for tip in gone if not set(_names((tip,))) <= set(now))
    rewritten = _rewritten(repo, gone, known, main) if gone else frozenset()
    lost = [name for tip in gone if tip.commit not in rewritten for name in _names((tip,))]
    # A commit that somebody else made may claim to have landed what main has had all along.
    still = {*now, *_names(read_landed(bench, main))} if lost else set(now)
    return MainsCompared(tuple(name for name in dict.fromkeys(lost) if name not in still), now)


def _names(tips: tuple[LandedTip, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(member.id for tip in tips for member in tip.members))


def _rewritten(repo: Repo, tips: tuple[LandedTip, ...], known: str, main: str) -> frozenset[str]:
    """Tips whose every patch is in `main`, as it was or under another name: a rebase drops merges, not work."""
    marked = repo.git("rev-list", "--cherry-mark", "--right-only", "--no-merges", f"{main}...{known}").lines
    same = {line[1:] for line in marked if line.startswith("=")}
    return frozenset(tip.commit for tip in tips if _is_kept(repo, tip.commit, main, same))


def _is_kept(repo: Repo, tip: str, main: str, same: set[str]) -> bool:
    own = ("rev-list", "--no-merges", f"{tip}^1..{tip}")
    return bool(repo.git(*own).lines) and same.issuperset(repo.git(*own, f"^{main}").lines)
