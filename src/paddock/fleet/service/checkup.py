"""What can be wrong with the machine, the repository, the settings and the log: each finding with its fix."""

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from paddock.core.errors import PaddockError
from paddock.fleet.clock import SYSTEM_CLOCK
from paddock.fleet.service.config_check import config_findings
from paddock.fleet.service.log_facts import LogFacts, know_log
from paddock.fleet.workspace import Workspace
from paddock.git.lock_files import LeftLock
from paddock.git.usertree.notes import CheckoutNotes
from paddock.store.location import log_bytes, require_known


class Health(StrEnum):
    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Symptom:
    what: str
    verdict: Health
    detail: str
    fix: str = ""
    output: tuple[str, ...] = ()


class ToldNotice(Protocol):
    """A sentence, and the command that helps."""

    @property
    def text(self) -> str: ...
    @property
    def run(self) -> str: ...


@dataclass(frozen=True, slots=True)
class NoticeWords:
    """How whoever asks says what `status` says, too: who has locked git out, and which checkouts are behind."""

    of_locks: Callable[[Sequence[LeftLock]], Iterable[ToldNotice]]
    of_checkouts: Callable[[CheckoutNotes | None, str], Iterable[ToldNotice]]


def examine(workspace: Workspace, words: NoticeWords) -> Iterator[Symptom]:
    """Every check runs, whatever the others find."""
    checks: dict[str, Callable[[Workspace], Iterator[Symptom]]] = {
        "python": _python,
        "git": _git,
        "locks": lambda found: _locks(found, words),
        "branch": _branch,
        "checkout": lambda found: _checkout(found, words),
        "file system": _file_system,
        "disk": _disk,
        "clock": _clock,
        "config": _config,
        "agents": _agents,
        "ci runs": _ci_runs,
        "engines": _engines,
        "fence": _fence,
        "tmux": _tmux,
        "notify": _notify,
        "group": _group,
        "log": _log,
        "pages": _pages,
    }
    server = _look_at_server(workspace)
    if server is not None and server.state == "unusable":
        checks = {name: check for name, check in checks.items() if name not in _ASK_THE_LOG}
    for name, check in checks.items():
        try:
            yield from check(workspace)
        except PaddockError as error:
            yield Symptom(name, Health.PROBLEM, error.message, error.hint or "")
    if server is not None:
        yield from _server(server)


_ASK_THE_LOG = frozenset({"clock", "ci runs", "notify", "log"})
"""Each of them would wait for a server that is away."""


def _look_at_server(workspace: Workspace) -> LogFacts | None:
    """None for a log in a file, and where it cannot be told where the log is."""
    try:
        return know_log(workspace) if workspace.log.is_shared else None
    except PaddockError:
        return None


def _server(log: LogFacts) -> Iterator[Symptom]:
    if log.state == "unusable":
        yield Symptom("log", Health.PROBLEM, log.problem, log.hint)
    for warning in log.warnings:
        yield Symptom("log server", Health.WARNING, warning, "see `paddock store show`")


def _python(_: Workspace) -> Iterator[Symptom]:
    yield Symptom("python", Health.OK, sys.version.split()[0])


def _git(workspace: Workspace) -> Iterator[Symptom]:
    version = workspace.repo.git("version").text.removeprefix("git version ")
    yield Symptom("git", Health.OK, version)


def _locks(workspace: Workspace, words: NoticeWords) -> Iterator[Symptom]:
    """Only while there is something to say."""
    from paddock.git.lock_files import find_left_locks

    for notice in words.of_locks(find_left_locks(workspace.repo.common_dir)):
        yield Symptom("git lock", Health.WARNING, notice.text, notice.run)


def _pages(workspace: Workspace) -> Iterator[Symptom]:
    """Only while there are any."""
    from paddock.fleet.service.pages import find_pages, shared_pages_folder

    own = str(workspace.repo.common_dir)
    shared = [page for page in find_pages(shared_pages_folder()) if own in page.repositories]
    for page in (*find_pages(workspace.state_dir), *shared):
        token = "" if page.token else ", open to everyone on this machine"
        yield Symptom("page", Health.OK, f"{page.address} (pid {page.process.pid}{token}); `paddock web` opens it")


def _group(workspace: Workspace) -> Iterator[Symptom]:
    """Only where this repository is in one. Looks without a word of its own: the daemon speaks for it."""
    from paddock.fleet.group.place import group_of
    from paddock.fleet.group.roll import read_roll

    place = group_of(workspace.config)
    if place is None:
        return
    roll = read_roll(place, SYSTEM_CLOCK.now())
    if roll.trouble:
        yield Symptom("group", Health.PROBLEM, f"`{place.name}` cannot be reached: {roll.trouble}", roll.hint)
        return
    names = ", ".join(entry.name for entry in roll.entries) or "no repository has told anything yet"
    agents = sum(entry.running for entry in roll.entries)
    yield Symptom("group", Health.OK, f"{place.name}: {names}; {agents} agent{'s' if agents != 1 else ''} at work")


def _branch(workspace: Workspace) -> Iterator[Symptom]:
    if not workspace.repo.has_commits():
        yield Symptom("branch", Health.PROBLEM, "no commits yet", "git commit --allow-empty -m 'First commit'")
        return
    main = workspace.config.main
    if workspace.repo.resolve(f"refs/heads/{main}") is None:
        fix = f"git branch {main}, or set `main` in paddock.toml"
        yield Symptom("branch", Health.PROBLEM, f"there is no branch `{main}`", fix)
    elif workspace.repo.head_branch() is None:
        yield Symptom("branch", Health.WARNING, "HEAD is detached here", f"git switch {main}")
    else:
        yield Symptom("branch", Health.OK, f"work lands on {main}")


def _checkout(workspace: Workspace, words: NoticeWords) -> Iterator[Symptom]:
    """Only while there is something to say."""
    from paddock.fleet.outlook import know_checkouts

    for notice in words.of_checkouts(know_checkouts(workspace), workspace.config.landing_branch):
        yield Symptom("checkout", Health.WARNING, notice.text, notice.run)


def _file_system(workspace: Workspace) -> Iterator[Symptom]:
    folder = workspace.state_dir if workspace.state_dir.exists() else workspace.repo.common_dir
    if not os.access(folder, os.W_OK):
        yield Symptom("file system", Health.PROBLEM, f"{folder} is not writable", f"chmod -R u+rwX {folder}")
        return
    kind = _kind_of_file_system(folder)
    if kind in ("nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p"):
        fix = "keep the repository on a local disk: SQLite's locks are not safe over a network"
        yield Symptom("file system", Health.PROBLEM, f"{folder} is on {kind}", fix)
    else:
        yield Symptom("file system", Health.OK, kind or "writable")


def _kind_of_file_system(folder: Path) -> str:
    """From Linux's mount table; empty elsewhere."""
    try:
        mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    except OSError:
        return ""
    inside = [(mount[1], mount[2]) for mount in mounts if folder.resolve().is_relative_to(mount[1])]
    return max(inside, key=lambda mount: len(mount[0]))[1] if inside else ""


def _disk(workspace: Workspace) -> Iterator[Symptom]:
    free = shutil.disk_usage(workspace.repo.common_dir).free // (1024 * 1024)
    floor = workspace.config.worktrees.disk_floor_mb
    if free < floor:
        fix = "free some space, or lower [worktrees] disk_floor_mb"
        yield Symptom("disk", Health.PROBLEM, f"{free:,} MB free; the floor is {floor:,} MB", fix)
        return
    inodes = os.statvfs(workspace.repo.common_dir)
    if inodes.f_files and inodes.f_favail < 10_000:
        yield Symptom("disk", Health.WARNING, f"only {inodes.f_favail:,} inodes free", "remove small files")
        return
    yield Symptom("disk", Health.OK, f"{free:,} MB free")


def _clock(workspace: Workspace) -> Iterator[Symptom]:
    now = SYSTEM_CLOCK.now()
    if now < 1_735_689_600:
        yield Symptom("clock", Health.PROBLEM, "it is before 2025", "set the clock, or start an NTP client")
    elif (ahead := _log_time(workspace) - now) > 5:
        fix = "set this host's clock, or start an NTP client"
        yield Symptom("clock", Health.WARNING, f"the log is {ahead:.0f} s ahead of this host", fix)
    else:
        yield Symptom("clock", Health.OK, time.strftime("%Y-%m-%d %H:%M:%S %Z"))


def _log_time(workspace: Workspace) -> float:
    """The time of its last record; another check reports what is wrong with the log."""
    try:
        return workspace.board().at if workspace.has_log else 0.0
    except PaddockError:
        return 0.0


def _config(workspace: Workspace) -> Iterator[Symptom]:
    loaded = workspace.load()
    if loaded.path is None:
        yield Symptom("config", Health.WARNING, "there is no paddock.toml", "paddock init")
        return
    findings = [*loaded.warnings, *config_findings(loaded.config)]
    for finding in findings:
        yield Symptom("config", Health.WARNING, finding, f"edit {loaded.path}")
    if not findings:
        yield Symptom("config", Health.OK, str(loaded.path))


def _agents(workspace: Workspace) -> Iterator[Symptom]:
    """Only what will not work; the check of the settings tells of files that cannot be read."""
    from paddock.fleet.service.agent_check import check_agents

    for remark in check_agents(workspace):
        if remark.is_problem and remark.subject != "settings" and not remark.subject.endswith(".md"):
            yield Symptom("agents", Health.PROBLEM, f"{remark.subject}: {remark.words}", "paddock agents check")


def _ci_runs(workspace: Workspace) -> Iterator[Symptom]:
    """Only while there is something to say."""
    from paddock.core.merge.company import REMEDY
    from paddock.fleet.outlook import know_collisions

    if workspace.has_log:
        collisions = know_collisions(workspace, workspace.board().queue_switches.stats.company)
        if collisions is not None:
            yield Symptom("ci runs", Health.WARNING, collisions.words, REMEDY)


def _engines(workspace: Workspace) -> Iterator[Symptom]:
    from paddock.engines.acp_library import INSTALL, is_library_here
    from paddock.engines.registry import BUILT_IN, engine_names
    from paddock.fleet.service.engine_check import found_engines

    found = [*found_engines(), *(name for name in engine_names(workspace.config.engines) if name not in BUILT_IN)]
    found += [name for name in workspace.config.engines if name not in found]
    if found:
        yield Symptom("engines", Health.OK, ", ".join(dict.fromkeys(found)))
    else:
        fix = "install an agent CLI, e.g. `npm install -g @anthropic-ai/claude-code`, or configure [engines.NAME]"
        yield Symptom("engines", Health.WARNING, "no agent CLI on PATH", fix)
    speakers = [name for name, own in workspace.config.engines.items() if own.acp]
    if speakers and not is_library_here():
        what = f"`{speakers[0]}` needs the package `agent-client-protocol`, which is not installed"
        yield Symptom("engines", Health.WARNING, what, f"run `{INSTALL}`")


def _fence(workspace: Workspace) -> Iterator[Symptom]:
    from paddock.core.fence import Level, level_in_force
    from paddock.fleet.fences import describe_fences, require_fences
    from paddock.sessions.bubblewrap import fencing_ability

    config = workspace.config
    require_fences(config)
    note = describe_fences(config)
    if note.why:
        yield Symptom("fence", Health.WARNING, f"agents and CI work without one: {note.why}", note.cure)
        return
    weak = [who for who, level in (("agents", note.agents), ("CI", note.ci)) if level == Level.NONE]
    detail = f"{note.agents} for agents, {note.ci} for CI"
    if weak and level_in_force("auto", fencing_ability()).level is not Level.NONE:
        yield Symptom("fence", Health.WARNING, detail, 'set `level = "auto"` in [fence], or `fence = "auto"` in [land]')
    else:
        yield Symptom("fence", Health.OK, detail)


def _tmux(_: Workspace) -> Iterator[Symptom]:
    path = shutil.which("tmux")
    fix = "install it to open an agent's own terminal: `apt-get install tmux` or `brew install tmux`"
    yield Symptom("tmux", Health.OK, path) if path else Symptom("tmux", Health.WARNING, "not on PATH", fix)


def _notify(workspace: Workspace) -> Iterator[Symptom]:
    """Who is told; the check of the settings tells of URLs that cannot be used."""
    from paddock.fleet.notify.addresses import shown_address, unusable
    from paddock.fleet.notify.recipients import find_recipients
    from paddock.fleet.notify.trial import know_states

    found = find_recipients(workspace.config.notify)
    if not found.all:
        yield Symptom("notify", Health.OK, f"nobody is told, because {found.why_none}")
    well = []
    for state in know_states(workspace):
        name = shown_address(state.recipient)
        if state.outbox.problem:
            yield Symptom("notify", Health.WARNING, f"{name}: {state.outbox.problem}", "paddock notify test")
        elif not unusable(state.recipient):
            well.append(name)
    if well:
        yield Symptom("notify", Health.OK, f"{', '.join(well)}: {', '.join(workspace.config.notify.about)}")


def _log(workspace: Workspace) -> Iterator[Symptom]:
    if not workspace.has_log:
        require_known(workspace.log, workspace.repo)
        yield Symptom("log", Health.WARNING, "there is none", "paddock init")
        return
    with closing(workspace.read()) as store:
        found, board = store.verify(), store.board()
    if found.bad is not None:
        detail = f"record {found.bad.seq} is bad: {found.bad.problem}"
        file = "after moving the damaged file away" if not workspace.log.is_shared else "after dropping its schema"
        yield Symptom("log", Health.PROBLEM, detail, f"paddock log fetch, {file}")
    elif board.unknown:
        detail = f"it contains events from a newer Paddock: {', '.join(board.unknown)}"
        yield Symptom("log", Health.PROBLEM, detail, f"pip install --upgrade 'paddock>={board.version}'")
    else:
        size = log_bytes(workspace.log) // 1024
        yield Symptom(
            "log",
            Health.OK,
            f"{found.records:,} {'record' if found.records == 1 else 'records'}, {size:,} KB, all hashes match",
        )
