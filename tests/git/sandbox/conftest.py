"""CI runs as the fleet makes them: a sandbox is prepared, the command runs as a detached turn, both are let go."""

import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from paddock.core.lead import BY_HAND
from paddock.git.lock import hold
from paddock.git.repo import Repo
from paddock.git.sandboxes.ci import CiCheck, CiDefinition, check_command, setup_command
from paddock.git.sandboxes.sandbox import PreparedSandbox, SandboxOrder, finish_setup, prepare_sandbox, release_sandbox
from paddock.git.sandboxes.tree import Sandbox
from paddock.sessions.local import TurnFiles, observe_turn, start_turn
from paddock.sessions.marks import Mark
from paddock.sessions.process import block_until_exit
from paddock.sessions.protocol import Exited, Turn, TurnOrder
from paddock.sessions.sweep import sweep
from tests.git.conftest import git


@dataclass(frozen=True)
class Ran:
    exited: Exited
    out: str
    err: str
    swept: int


@dataclass
class Yard:
    repo: Repo
    top: Path
    folder: Path
    marker: str = field(default_factory=lambda: f"sandbox-test-{secrets.token_hex(4)}")
    turns: int = 0

    def sandbox(self, name: str = "s1") -> Sandbox:
        return Sandbox(self.repo, self.folder / "ci", name)

    @property
    def main(self) -> str:
        return git(self.top, "rev-parse", "main")

    def prepare(self, sandbox: Sandbox, commit: str | None = None, run: str = "r1", **more: object) -> PreparedSandbox:
        order = SandboxOrder(run, commit or self.main, **more)  # type: ignore[arg-type]
        ready = prepare_sandbox(sandbox, order)
        assert isinstance(ready, PreparedSandbox), ready
        return ready

    def changed_files(self, sandbox: Sandbox) -> tuple[str, ...]:
        """Tracked files that are not as the prepared commit has them, also those an index flag would hide."""
        with hold(sandbox.lock_path) as lock:
            flags = sandbox.git(lock, "ls-files", "-v", "-z").records
            told = sandbox.git(lock, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=no").records
        flagged = {line[2:] for line in flags if not line.startswith("H ")}
        return tuple(sorted(flagged | {record[3:] for record in told}))

    def start(self, sandbox: Sandbox, command: str, definition: CiDefinition | None = None) -> Ran:
        check = CiCheck("ci", command)
        planned = check_command(sandbox, definition or CiDefinition((check,)), check, self.main, os.environ)
        return self.finish(planned.argv, dict(planned.env), planned.cwd)

    def set_up(self, sandbox: Sandbox, definition: CiDefinition, order: SandboxOrder) -> Ran:
        planned = setup_command(sandbox, definition, order.commit, os.environ)
        ran = self.finish(planned.argv, dict(planned.env), planned.cwd)
        if ran.exited.code == 0:
            assert isinstance(finish_setup(sandbox, order), PreparedSandbox)
        return ran

    def finish(self, argv: tuple[str, ...], env: dict[str, str], cwd: Path) -> Ran:
        self.turns += 1
        files = TurnFiles.of(self.folder, self.turns)
        identity = start_turn(
            TurnOrder(Turn("ci", self.turns), argv, env, cwd), files, Mark(self.marker, "ci"), BY_HAND, lambda _: None
        )
        assert block_until_exit(identity, 60)
        swept = self.sweep()
        ended = observe_turn(files)
        assert isinstance(ended, Exited), ended
        return Ran(ended, files.out.read_text(), files.err.read_text(), swept)

    def run(self, sandbox: Sandbox, command: str, commit: str | None = None) -> Ran:
        """A whole run: claimed, prepared, done, released."""
        self.prepare(sandbox, commit)
        ran = self.start(sandbox, command)
        release_sandbox(sandbox, "r1")
        return ran

    def sweep(self) -> int:
        return len(sweep({Mark(self.marker, "ci")}).ended)


@pytest.fixture
def yard(repo: Repo, top: Path, tmp_path: Path) -> Iterator[Yard]:
    place = Yard(repo, top, tmp_path / "yard")
    place.folder.mkdir()
    yield place
    place.sweep()
