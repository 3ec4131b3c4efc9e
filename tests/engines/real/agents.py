"""One real CLI at work: started through its adapter, read through its parser, ended by us when need be."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from paddock.core.summary import Final, TurnSummary, observe
from paddock.core.trace import TraceEntry
from paddock.engines.protocol import Engine, Launch, Source, TurnRequest
from paddock.git.enclosure.enclosure import Enclosure, make_control, switch
from paddock.git.enclosure.residence import Residence, settle, shown_refs
from paddock.git.repo import discover
from paddock.git.settings import read_settings
from paddock.sessions.mailbox import Letter, make_mailbox, post

# aider alone doubles its pauses for a minute and has no setting to bound them.
TURN_SECONDS = 200.0
GRACE_SECONDS = 5.0
LINGER_SECONDS = 10.0
POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Workplace:
    """A repository, a worktree as attempts have it on branch `task`, and a HOME that is nobody's."""

    repository: Path
    worktree: Path
    home: Path
    folder: Path

    @property
    def git_dir(self) -> Path:
        return self.worktree.with_name("slot") / "repo"

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ("git", *words), cwd=self.worktree, env=self.environment, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def subjects(self) -> list[str]:
        """The subjects of the commits ahead of main, newest first."""
        return self.git("log", "--format=%s", "main..task").splitlines()

    @property
    def environment(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TMPDIR": str(self.home / "tmp"),
            "GIT_CONFIG_NOSYSTEM": "1",
        }


def build_workplace(root: Path) -> Workplace:
    place = Workplace(root / "repo", root / "wt", root / "home", root / "attempt")
    for folder in (place.repository, place.home / "tmp", place.folder):
        folder.mkdir(parents=True)
    commands = (
        ("init", "-q", "-b", "main"),
        # In the repository, because gemini hides the user's own git configuration from its tools.
        ("config", "user.name", "Tester"),
        ("config", "user.email", "tester@example.invalid"),
        ("commit", "-q", "--allow-empty", "-m", "root"),
    )
    for words in commands:
        subprocess.run(("git", *words), cwd=place.repository, env=place.environment, check=True)
    _enclose(place)
    seed_home(place.home)
    return place


def _enclose(place: Workplace) -> None:
    repo = discover(place.repository)
    tip, settings = repo.resolve("main"), read_settings(repo.common_dir)
    assert tip is not None
    place.worktree.mkdir()
    enclosure = Enclosure(repo, place.worktree, place.git_dir, place.git_dir.with_name("control"))
    make_control(enclosure, settings.render())
    switch(enclosure, tip, ())
    settle(enclosure, Residence(tip, "task", settings.render_for_others(), shown_refs(repo)))


def seed_home(home: Path) -> None:
    """What the gemini adapter passes as system defaults, as the user's own settings.

    gemini skips defaults that lie anywhere below a folder others may write to, and tmp_path does.
    """
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"maxAttempts": 2, "retryFetchErrors": False},
    }
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text(json.dumps(settings))


@dataclass(frozen=True, slots=True)
class Finished:
    """A turn that is over. `returncode` is negative when a signal ended it."""

    returncode: int
    entries: tuple[TraceEntry, ...]
    summary: TurnSummary
    output: str


class LiveTurn:
    """A turn under way; `finish` or leaving `RealAgent.start` ends it with everything it started."""

    def __init__(self, engine: Engine, launch: Launch, folder: Path, number: int) -> None:
        self._engine = engine
        self._launch = launch
        self._is_ended = False
        self._out = folder / f"turn-{number}.out"
        self._err = folder / f"turn-{number}.err"
        for file in launch.files:
            file.path.parent.mkdir(parents=True, exist_ok=True)
            file.path.write_text(file.content)
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self._process = subprocess.Popen(
                launch.argv,
                cwd=launch.cwd,
                env=dict(launch.env),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    def post(self, *letters: Letter) -> None:
        assert self._launch.mailbox is not None
        for letter in letters:
            post(self._launch.mailbox, letter)

    def wait_for(self, holds: Callable[[], bool], timeout_seconds: float = 60.0) -> None:
        """Wait for something the running turn brings about; fails when it ends or takes too long first."""
        deadline = time.monotonic() + timeout_seconds
        while not holds():
            assert self._process.poll() is None, f"the turn ended too early:\n{self.read().output[-4000:]}"
            assert time.monotonic() < deadline, f"nothing came:\n{self.read().output[-4000:]}"
            time.sleep(POLL_SECONDS)

    def outlives(self, seconds: float) -> bool:
        """Whether the turn is still running after `seconds`."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return True
        return False

    def finish(self, timeout_seconds: float = TURN_SECONDS) -> Finished:
        """Wait for the turn to end by itself.

        codex sometimes spins at its exit, all work done and its last word said. The daemon ends such a process
        and counts the turn as what the engine called it; so does this.
        """
        deadline = time.monotonic() + timeout_seconds
        try:
            while time.monotonic() < deadline:
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(LINGER_SECONDS)
                    return self.read()
                said = self.read(has_ended=False)
                if said.summary.final is not Final.NONE and time.time() - self._out.stat().st_mtime > LINGER_SECONDS:
                    return replace(said, returncode=0 if said.summary.final is Final.SUCCESS else 1)
            raise AssertionError(f"still running:\n{self.read().output[-4000:]}")
        finally:
            self.kill()

    def stop(self) -> Finished:
        """End the turn as a deadline does: a signal, a grace period, then force."""
        family = self._family()
        with suppress(ProcessLookupError):
            self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE_SECONDS)
        self._end(family)
        return self.read()

    def kill(self) -> Finished:
        """SIGKILL the turn and all it started, also what went into sessions of its own."""
        if not self._is_ended:
            self._end(self._family())
        return self.read()

    def read(self, *, has_ended: bool = True) -> Finished:
        """All that the turn has said so far, as the adapter's parser reads it: what it will yet say is not missing."""
        parser = self._engine.parser()
        entries: list[TraceEntry] = []
        # Two files tell no common order; standard output goes last, for there stands the engine's final word.
        sources = [(self._err, Source.STDERR)]
        sources += [(log, Source.LOG) for log in self._launch.logs if log.exists()]
        sources.append((self._out, Source.STDOUT))
        for path, source in sources:
            for line in path.read_bytes().splitlines(keepends=True):
                entries += parser.feed(line, source)
        entries += parser.close() if has_ended else ()
        summary = TurnSummary()
        for entry in entries:
            summary = observe(summary, entry)
        output = self._out.read_text(errors="replace") + self._err.read_text(errors="replace")
        code = self._process.returncode
        return Finished(0 if code is None else code, tuple(entries), summary, output)

    def _family(self) -> list[psutil.Process]:
        with suppress(psutil.NoSuchProcess):
            return psutil.Process(self._process.pid).children(recursive=True)
        return []

    def _end(self, family: list[psutil.Process]) -> None:
        # Only once: later the number may be that of somebody else's process and group.
        self._is_ended = True
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        for member in family:
            with suppress(psutil.NoSuchProcess):
                member.kill()
        self._process.wait()
        psutil.wait_procs(family, timeout=GRACE_SECONDS)


def session_of(turn: int) -> str:
    """The id we choose for a conversation that begins with this turn."""
    return f"00000000-0000-4000-8000-{turn:012d}"


@dataclass(frozen=True, slots=True)
class RealAgent:
    """A pinned CLI behind its adapter, in a workplace, talking to the mock model through `provider`."""

    engine: Engine
    place: Workplace
    provider: tuple[tuple[str, str], ...]
    model: str | None

    @contextmanager
    def start(
        self, prompt: str, *, turn: int = 1, session_id: str | None = None, messages: tuple[int, ...] = ()
    ) -> Iterator[LiveTurn]:
        request = TurnRequest(
            prompt=prompt,
            task_text=prompt,
            worktree=self.place.worktree,
            folder=self.place.folder,
            session_id=session_id,
            new_session_id=None if session_id else session_of(turn),
            model=self.model,
            turn=turn,
            git_dir=self.place.git_dir,
            base_env={**self.place.environment, **dict(self.provider)},
            mailbox=self._mailbox(turn) if self.engine.capabilities.listens else None,
            messages=messages,
        )
        live = LiveTurn(self.engine, self.engine.launch(request), self.place.folder, turn)
        try:
            yield live
        finally:
            live.kill()

    def _mailbox(self, turn: int) -> Path:
        make_mailbox(self.place.folder / f"turn-{turn}.mail")
        return self.place.folder / f"turn-{turn}.mail"

    def run(self, prompt: str, *, turn: int = 1, session_id: str | None = None) -> Finished:
        """One turn from prompt to exit."""
        with self.start(prompt, turn=turn, session_id=session_id) as live:
            return live.finish()
