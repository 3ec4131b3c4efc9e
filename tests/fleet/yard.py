"""A repository with a fleet of scripted agents, driven through the real command line."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from paddock.core.board import Board
from paddock.core.events import Event, Record
from paddock.core.ids import AttemptId, TaskId
from paddock.core.tasks.task import Attempt, Task
from paddock.core.upkeep.survey import SlotState
from paddock.fleet.site import marker_of
from paddock.git.repo import discover
from paddock.git.worktrees.slots import WorktreeRoot, default_root, list_slots, read_record
from paddock.sessions.marks import MarkedProcess, find_marked
from paddock.sessions.sweep import sweep
from paddock.store.location import open_store
from paddock.store.place import LogPlace
from paddock.store.protocol import Query, Store
from paddock.store.wake import socket_folder
from tests.warm import PATIENCE_SECONDS, RunningCommand

Step = Mapping[str, object]
_Found = TypeVar("_Found")
_KEPT_FILES = re.compile(
    r"""/paddock/(log\.(db(-wal|-shm)?|lock|board)|shared-\w+\.(lock|board)|(waiting|limits|glance|troubles|settings|fence|notify|notify-[0-9a-z]+-\d+)\.json|samples(\.old)?\.jsonl|(checkouts|left-locks)\.lock|main-compared|daemon\.log|leader|worker\.secret|web\.(token|log))$
    |/paddock/memory/[0-9a-f]{8}/t\d+\.\d+(-\d+)?/[^/]+\.json(\.new)?$  # the draft is of an agent killed while saving
    |/paddock/attempts/[0-9a-f]{8}/t\d+/\d+/(turn-\d+\.(pid|out|err|exit|ending|stop|logs|times|[0-9a-f]{16}\.go)|prompt[^/]*|setup\.log|answers/turn-\d+(\.findings)?|desk/socket(\.new)?)$
    |/paddock/attempts/[0-9a-f]{8}/t\d+/\d+/((gemini|qwen)-defaults\.json|(mcp|turn-\d+\.acp)\.json|claude\.json|turn-\d+\.tmux\.json|aider/[^/]+)$
    |/paddock/attempts/[0-9a-f]{8}/t\d+/\d+/turn-\d+\.(order\.json|mail/\d+\.letter)$
    |/paddock/memory/[0-9a-f]{8}/t\d+\.\d+(-\d+)?/\.[a-z]  # what CLIs keep where a fence hides the rest
    |/paddock/(runs|workbench\.git)/
    |/paddock/insight/traces\.(db(-wal|-shm)?|lock)$
    |/\.slots/(claims\.lock|repository|w\d+/(lock|guests|record\.json|setup\.log|control/((ORIG_)?HEAD|logs/HEAD|config|index|shallow|info/[a-z-]+)))$""",
    re.VERBOSE,
)
QUICK = {
    "PADDOCK_TIMEOUTS_GRACE": "300ms",
    "PADDOCK_LIMITS_BACKOFF": "200ms",
    "PADDOCK_WORKTREES_POOL": "0",
    "PADDOCK_WORKTREES_DISK_FLOOR_MB": "0",
    "PADDOCK_LIMITS_ADAPT_TO_LOAD": "false",
    "PADDOCK_LIMITS_INLINE": "false",
    "PADDOCK_INSIGHT_FOLLOW": "false",
}


def play(*steps: Step) -> str:
    """A brief that the scripted engine plays."""
    return f"Do it. <<SCRIPT {json.dumps(list(steps))} SCRIPT>>"


def write(path: str, text: str = "hello\n") -> Step:
    return {"write": path, "text": text}


def commit(message: str = "Work") -> Step:
    return {"commit": message}


@dataclass
class Yard:
    """`env` is the whole environment of what is started; `folder` lies outside the repository."""

    top: Path
    folder: Path
    env: dict[str, str]
    daemons: list["RunningCommand"] = field(default_factory=list)

    # -- commands -------------------------------------------------------------------------------------------

    def paddock(self, *words: str, code: int = 0, env: Mapping[str, str] | None = None) -> str:
        """The standard output of one command that has to end with `code`."""
        command = RunningCommand(self._here(words), self.top, {**self.env, **(env or {})}, apart=True)
        ended = command.wait()
        assert ended == code, f"{words}: exit {ended}\n{command.words}\n{command.complaints}"
        return command.words if code == 0 else command.words + command.complaints

    def argv(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "paddock", *self._here(words)]

    def _here(self, words: Iterable[str]) -> list[str]:
        return ["-C", str(self.top), *words]

    def add(self, *steps: Step, **fields: object) -> TaskId:
        return self.add_all([{"brief": play(*steps), **fields}])[0]

    def add_all(self, tasks: list[dict[str, Any]], convoy: str = "") -> list[TaskId]:
        file = self.folder / "tasks.json"
        titled = [{"title": f"Task {number}", **task} for number, task in enumerate(tasks, 1)]
        file.write_text(json.dumps({"convoy": convoy, "tasks": titled} if convoy else titled))
        ids: list[TaskId] = json.loads(self.paddock("add", "--file", str(file), "--json"))["ids"]
        return ids

    def start(self, *words: str, env: Mapping[str, str] | None = None) -> "RunningCommand":
        """A command in the background; the yard ends it with the test."""
        command = RunningCommand(self._here(words), self.top, {**self.env, **(env or {})})
        self.daemons.append(command)
        return command

    def run(self, *words: str, env: Mapping[str, str] | None = None, code: int | None = None) -> str:
        """The fleet until nothing is left to do; what it said."""
        running = self.start("run", "--until-idle", *words, env=env)
        assert running.wait() in ((0, 1) if code is None else (code,)), running.words
        return running.words

    # -- what is recorded -----------------------------------------------------------------------------------

    @property
    def log_path(self) -> Path:
        return self.top / ".git" / "paddock" / "log.db"

    @property
    def place(self) -> LogPlace:
        return LogPlace(self.log_path)

    @contextlib.contextmanager
    def log(self) -> Iterator[Store]:
        store = open_store(self.place, read_only=True)
        try:
            yield store
        finally:
            store.close()

    def board(self) -> Board:
        with self.log() as log:
            return log.board()

    def task(self, name: str = "t1") -> Task:
        return self.board().task(TaskId(name))

    def row(self, name: str) -> dict[str, Any]:
        """The task as `paddock status --json` tells of it, the reason it waits for included."""
        rows: list[dict[str, Any]] = json.loads(self.paddock("status", "--json"))["tasks"]
        return next(row for row in rows if row["id"] == name)

    def attempt(self, name: str = "t1") -> Attempt:
        last = self.task(name).last
        assert last is not None
        return last

    def records(self, kind: type[Event] | None = None, task: str | None = None) -> list[Record]:
        with self.log() as log:
            return list(log.records(Query(task=task, kind=kind.kind if kind else None)))

    def await_board(self, holds: Callable[[Board], object], what: str = "the board") -> Board:
        """The first board seen for which something holds."""
        return self.await_that(lambda: board if holds(board := self.board()) else None, what)

    def await_that(self, look: Callable[[], _Found | None], what: str = "something") -> _Found:
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        while not (found := look()):
            words = "\n".join(daemon.words for daemon in self.daemons)
            assert time.monotonic() < give_up_at, f"{what} never came\n{words}"
            time.sleep(0.02)
        return found

    # -- what is left ---------------------------------------------------------------------------------------

    @property
    def marker(self) -> str:
        with self.log() as log:
            return marker_of(self.top / ".git", log.record(1).hash)

    def processes(self) -> tuple[MarkedProcess, ...]:
        return find_marked(self.marker)

    @property
    def worktrees(self) -> WorktreeRoot:
        repo = discover(self.top)
        return WorktreeRoot(repo, default_root(repo))

    def claimed_worktrees(self) -> list[str]:
        """Those that are not back in the pool, also half-made ones."""
        records = {slot.number: read_record(slot) for slot in list_slots(self.worktrees)}
        busy = {number: record for number, record in records.items() if not record or record.state != SlotState.IDLE}
        return [f"w{number} {record and (record.attempt, record.state)}" for number, record in busy.items()]

    def dirty_worktrees(self) -> list[str]:
        """Those in the pool that the next attempt would not find clean, and free of the last one's git directory."""
        root = self.worktrees
        places = [(slot.path.name, root.enclosure(slot)) for slot in list_slots(root)]
        return [name for name, place in places if place.own.exists() or place.git("status", "-s").stdout]

    def leftover_files(self) -> list[str]:
        """Files that no step of a fleet at rest has left on purpose, and sockets nobody listens at."""
        state, root = self.log_path.parent, self.worktrees.path
        ours = [path for folder in (state, root / ".slots") for path in folder.rglob("*") if path.is_file()]
        apart = self.top.joinpath(".git", "objects").glob("tmp_objdir-*")
        strange = [str(path) for path in ours if not _KEPT_FILES.search(str(path))]
        sockets = socket_folder(self.log_path)
        return [*strange, *map(str, apart), *(os.listdir(sockets) if sockets.exists() else [])]

    def attempt_folder(self, attempt: str) -> Path:
        name, _, number = AttemptId(attempt).partition(".")
        return self.log_path.parent / "attempts" / self.identity / name / number

    @property
    def runs_folder(self) -> Path:
        return self.log_path.parent / "runs" / self.identity

    @property
    def identity(self) -> str:
        """The log's own word."""
        with self.log() as store:
            return store.board().identity

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ("git", *words), cwd=self.top, env=self.env, capture_output=True, text=True, check=True, timeout=60
        )
        return done.stdout.strip()

    def unreachable_commits(self) -> list[str]:
        """Commits no ref leads to, whose files are in no commit that a ref leads to: the next `git gc` ends them.

        A rescue that is done twice, because its daemon died, leaves two commits of the same files; one is enough.
        """
        kept = set(self.git("log", "--all", "--format=%T").split())
        found = self.git("fsck", "--unreachable", "--no-reflogs").splitlines()
        loose = [line.split()[2] for line in found if line.startswith("unreachable commit")]
        return [commit for commit in loose if self.git("rev-parse", f"{commit}^{{tree}}") not in kept]

    def assert_nothing_is_left(self) -> None:
        assert not self.processes()
        assert not self.claimed_worktrees()
        board = self.board()
        assert not board.live
        assert not board.leases.held, "leases are left"
        assert not board.spending.ledger.reservations, "money is reserved for nobody"
        locks = [path for path in self.top.joinpath(".git").rglob("*.lock") if "paddock" not in path.parts]
        assert not locks
        assert not self.dirty_worktrees()
        assert not self.leftover_files()

    def close(self) -> None:
        for daemon in self.daemons:
            daemon.kill()
        if self.place.is_shared or self.log_path.exists():
            sweep({process.mark for process in self.processes()})


def clean_environment(home: Path) -> dict[str, str]:
    """Nothing of the machine's or the person's configuration."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "USER": "tester",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{role}_NAME": "Test Person" for role in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{role}_EMAIL": "test@example.invalid" for role in ("AUTHOR", "COMMITTER")},
        **{name: os.environ[name] for name in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE") if name in os.environ},
        **QUICK,
    }


def build_template(folder: Path) -> Path:
    """A repository that is set up for Paddock, to be copied: the log's identity comes with its first use."""
    top = folder / "app"
    top.mkdir(parents=True)
    env = clean_environment(folder)
    (top / "README.md").write_text("hello\n")
    (top / "paddock.toml").write_text('engine = "scripted"\n[land]\napproval = "human"\n')
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "First commit")):
        subprocess.run(("git", *words), cwd=top, env=env, check=True, timeout=60)
    return top


def build_yard(template: Path, folder: Path, name: str = "app", **settings: str) -> Yard:
    top = folder / name
    shutil.copytree(template, top, symlinks=True)
    home = folder / "home"
    home.mkdir(exist_ok=True)
    # Agents in tests tell what they do in files beside the repository, which a fence hides all the same.
    beside = {"PADDOCK_FENCE_WRITE": str(folder)}
    yard = Yard(top, folder, {**clean_environment(home), **beside, **settings})
    open_store(yard.log_path, create=True).close()
    return yard
