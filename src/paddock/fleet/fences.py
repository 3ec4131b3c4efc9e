"""What the fences of attempts and CI runs show: each its own work, and what its tools need to run.

The lists are made from the configuration, the environment and what an engine declares; nothing that an agent can write
decides them.
"""

import contextlib
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING

import paddock
from paddock.config.schema import Agent, Config
from paddock.core.errors import Misuse, PaddockError
from paddock.core.fence import InForce, Level, level_in_force
from paddock.core.tasks.task import Attempt
from paddock.engines.environment import pass_on
from paddock.engines.protocol import Capabilities, Launch
from paddock.fleet.fence_note import FenceNote
from paddock.git.disk import remove_tree
from paddock.git.repo import Repo
from paddock.git.sandboxes.tree import Sandbox
from paddock.git.worktrees.furnish import Worktree
from paddock.git.worktrees.setup import SetupCommand
from paddock.sessions.bubblewrap import fencing_ability, this_system
from paddock.sessions.fence import Fence, fence_argv
from paddock.sessions.toolchains import find_program, find_toolchains, with_real_paths

if TYPE_CHECKING:
    from paddock.fleet.site import Site

MOST_ALTERNATES = 10
_GIT_SETTINGS = (".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes")
# The keys are not in the fence, so a commit that had to be signed there would fail.
_UNSIGNED = (("commit.gpgSign", "false"), ("tag.gpgSign", "false"))


def agents_level(config: Config, agent: Agent, engine: str, capabilities: Capabilities) -> InForce:
    """What holds for an attempt of the agent. Raises PaddockError where that cannot be, or would leave it mute."""
    found = level_in_force(agent.fence or config.fence.level, fencing_ability())
    if found.level is Level.FILES_AND_NETWORK and capabilities.model:
        raise PaddockError(
            f"engine `{engine}` cannot reach its model: the fence `{found.level}` has no network",
            'set `level = "files"` in [fence], or `fence = "files"` for this agent',
        )
    return found


def cis_level(config: Config) -> InForce:
    return level_in_force(config.land.fence, fencing_ability())


def require_fences(config: Config) -> None:
    """Raises PaddockError for what the configuration asks for and cannot have, before anything is started."""
    _extra(config)
    for wanted in (config.fence.level, config.land.fence, *(agent.fence for agent in config.agents.values())):
        level_in_force(wanted or config.fence.level, fencing_ability())


def describe_fences(config: Config) -> FenceNote:
    """What is in force for agents in general and for CI. Raises PaddockError as `require_fences` does."""
    agents, ci = level_in_force(config.fence.level, fencing_ability()), cis_level(config)
    return FenceNote(agents.level, ci.level, agents.why or ci.why, agents.cure or ci.cure)


def fence_attempt(site: "Site", attempt: Attempt, worktree: Worktree, level: Level, launch: Launch) -> Fence:
    """The fence of one turn. Takes some milliseconds, and makes what the fence needs to show."""
    config, repo, desk = site.config, site.repo, site.desk_of(attempt.id).parent
    home, own = Path(launch.env.get("HOME") or "/"), launch.belongings
    kept = _kept(site.memory_of(attempt), launch)
    for _, folder in kept:
        folder.mkdir(parents=True, exist_ok=True)
    reads, writes = _extra(config)
    programs = _find_programs(launch, home, worktree.path.parent)
    settings = [home / name for name in _GIT_SETTINGS]
    settings += [Path(path) for path in (launch.env.get("GIT_CONFIG_GLOBAL", ""),) if path.startswith("/")]
    shown = [*objects_of(repo), *settings, *(file.path for file in launch.files), *own.reads, *programs, desk, *reads]
    shown += [launch.mailbox] if launch.mailbox is not None else []
    tree = [worktree.path, worktree.git_dir]
    own_places = [worktree.tmp] if attempt.role.only_reads else [*tree, worktree.tmp]
    fence = Fence(
        level,
        private=with_real_paths((*_hidden(repo, worktree.path.parent), *_homes(home))),
        reads=(*with_real_paths((*shown, *tree)), *_ourselves(), *find_toolchains(launch.env, Path.home())),
        writes=with_real_paths((*own_places, *launch.writes, *writes)) + _logins(own.logins, kept),
        kept=(*kept, *launch.stand_ins),
    )
    return replace(fence, writes=(*fence.writes, home)) if config.worktrees.isolate_home else fence


def seen_from_outside(memory: Path, launch: Launch) -> Launch:
    """The launch of a turn that is fenced, with its logs where they are outside the fence."""
    kept = _kept(memory, launch)

    def outside(path: Path) -> Path:
        return next((folder / path.relative_to(place) for place, folder in kept if path.is_relative_to(place)), path)

    pattern = launch.session_log
    for place, folder in kept:
        if pattern.startswith(f"{escape(str(place))}/"):
            pattern = escape(str(folder)) + pattern.removeprefix(escape(str(place)))
            break
    return replace(launch, logs=tuple(map(outside, launch.logs)), session_log=pattern, env=_unsigned(launch.env))


def fence_ci(site: "Site", owner: str, sandbox: Sandbox, env: Mapping[str, str]) -> Fence | None:
    """None where CI runs without one. Raises PaddockError where it should not and has to."""
    level = cis_level(site.config).level
    if level is Level.NONE:
        return None
    reads, writes = _extra(site.config)
    named = (place for word in _named_in(site.config) for place in find_program(word, Path.home()))
    shown = [*objects_of(site.repo), site.desk_of(owner).parent, *reads, *named]
    return Fence(
        level,
        private=with_real_paths((*_hidden(site.repo, sandbox.root), *_homes(Path.home()))),
        reads=(*with_real_paths(shown), *_ourselves(), *find_toolchains(env, Path.home())),
        writes=with_real_paths((sandbox.tree, sandbox.home, sandbox.tmp, *writes)),
    )


def fence_setup(site: "Site", argv: tuple[str, ...], worktree: Worktree) -> SetupCommand:
    """The setup command as the agents of the worktree are run, for what it runs may be of their making: with no more
    of the environment, and in a fence of the same level. Raises PaddockError where that cannot be had."""
    settings, home = site.config.worktrees, Path.home()
    env = {**pass_on(os.environ, settings.setup_env), **site.identity, **worktree.environment()}
    level = level_in_force(site.config.fence.level, fencing_ability()).level
    if level is Level.NONE:
        return SetupCommand(argv, env)
    reads, writes = _extra(site.config)
    named = (place for word in _programs_in(settings.setup) for place in find_program(word, home))
    shown = [*objects_of(site.repo), *(home / name for name in _GIT_SETTINGS), *reads, *named]
    fence = Fence(
        level,
        private=with_real_paths((*_hidden(site.repo, worktree.path.parent), *_homes(home))),
        reads=with_real_paths((*shown, *find_toolchains(env, home))),
        writes=with_real_paths((worktree.path, worktree.tmp, worktree.git_dir, *writes)),
    )
    return SetupCommand(fence_argv(fence, this_system(), worktree.path, argv, inner=()), _unsigned(env))


def objects_of(repo: Repo) -> tuple[Path, ...]:
    """Where the repository's objects are, those it borrows and those of git-lfs included."""
    found: list[Path] = [repo.common_dir / "objects"]
    for folder in found:
        with contextlib.suppress(OSError, ValueError):
            for line in (folder / "info" / "alternates").read_text(encoding="utf-8").splitlines():
                borrowed = Path(os.path.normpath(folder / line))
                if line and not line.startswith(("#", '"')) and len(found) < MOST_ALTERNATES and borrowed not in found:
                    found.append(borrowed)
    return (*found, repo.common_dir / "lfs")


def _hidden(repo: Repo, worktrees: Path) -> Iterator[Path]:
    """Where nothing is seen but what is named: for the case that it lies in a folder which is shown."""
    yield repo.common_dir
    yield worktrees
    if repo.main is not None:
        yield repo.main


def _homes(home: Path) -> tuple[Path, ...]:
    return tuple(path for path in dict.fromkeys((home, Path.home())) if path != Path("/"))


@cache
def _ourselves() -> tuple[Path, ...]:
    """So that `paddock` can be called in there."""
    return with_real_paths((Path(sys.prefix), Path(sys.base_prefix), Path(paddock.__file__).parent))


def _find_programs(launch: Launch, home: Path, agents: Path) -> Iterator[Path]:
    """What is in `agents` is of their making: where a link or a first line of it leads is none of their business."""
    from shutil import which

    for word in (launch.argv[0], *launch.programs):
        if found := which(word, path=launch.env.get("PATH", os.defpath)):
            program = os.path.normpath(os.path.join(launch.cwd, found))
            if not Path(program).is_relative_to(agents):
                yield from find_program(program, home)


def _named_in(config: Config) -> set[str]:
    land = config.land
    checks = (*(check.run for check in land.checks), *(check.run for check in config.review.checks))
    return _programs_in(land.ci, land.setup, *checks)


def _programs_in(*commands: str) -> set[str]:
    """The programs that the user's own commands name by their full path."""
    words = (word for command in commands for word in re.split(r"[\s;&|'\"=()]+", command))
    return {word for word in words if word.startswith("/") and os.path.isfile(word) and os.access(word, os.X_OK)}


def _extra(config: Config) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """What `[fence]` adds. Raises Misuse for a path that depends on where somebody stands."""
    reads, writes = config.fence.read, config.fence.write
    for key, paths in (("read", reads), ("write", writes)):
        if loose := [path for path in paths if not os.path.isabs(os.path.expanduser(path))]:
            raise Misuse(
                f"`{loose[0]}` in `{key}` of [fence] is neither absolute nor begins with `~`",
                f"write the whole path, e.g. `{Path.home() / loose[0]}`",
            )
    return tuple(Path(os.path.expanduser(p)) for p in reads), tuple(Path(os.path.expanduser(p)) for p in writes)


def _kept(memory: Path, launch: Launch) -> tuple[tuple[Path, Path], ...]:
    """Folders that outlive the fence, each in the conversation's memory."""
    home, kept = Path(launch.env.get("HOME") or "/"), []
    for place in launch.belongings.kept:
        name = str(place.relative_to(home)) if place.is_relative_to(home) else str(place)
        kept.append((place, memory / name.strip("/").replace("/", "-")))
    return tuple(kept)


def _logins(logins: Iterable[Path], kept: tuple[tuple[Path, Path], ...]) -> tuple[Path, ...]:
    """Those that exist. Where one is shown in a folder that agents write to, nothing of theirs is left in its place."""
    for login in logins:
        for place, folder in kept:
            if login.is_relative_to(place):
                _clear(folder / login.relative_to(place))
    return tuple(login for login in logins if login.is_file())


def _clear(place: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISDIR(place.lstat().st_mode):
            remove_tree(place)
        else:
            place.unlink()


def _unsigned(env: Mapping[str, str]) -> dict[str, str]:
    first = int(env["GIT_CONFIG_COUNT"]) if env.get("GIT_CONFIG_COUNT", "").isdecimal() else 0
    added = {f"GIT_CONFIG_KEY_{n}": key for n, (key, _) in enumerate(_UNSIGNED, first)}
    added |= {f"GIT_CONFIG_VALUE_{n}": value for n, (_, value) in enumerate(_UNSIGNED, first)}
    return {**env, **added, "GIT_CONFIG_COUNT": str(first + len(_UNSIGNED))}
