"""A place for a turn: a real repository and the attempt's folder beside it."""

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from paddock.config.load import load_config
from paddock.core.summary import TurnSummary, observe
from paddock.core.trace import TraceEntry
from paddock.engines.protocol import Engine, Launch, TurnRequest
from paddock.engines.settings import EngineSettings

TURN_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Place:
    worktree: Path
    folder: Path

    def git(self, *words: str) -> str:
        done = subprocess.run(("git", *words), cwd=self.worktree, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def request(self, prompt: str = "do it", **changes: object) -> TurnRequest:
        given: dict[str, object] = {"base_env": dict(os.environ), **changes}
        return TurnRequest(prompt=prompt, worktree=self.worktree, folder=self.folder, **given)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Turn:
    summary: TurnSummary
    entries: tuple[TraceEntry, ...]
    exit_code: int
    output: bytes
    errors: bytes


def write_files(launch: Launch) -> None:
    for file in launch.files:
        file.path.parent.mkdir(parents=True, exist_ok=True)
        file.path.write_text(file.content, encoding="utf-8")


def start(launch: Launch) -> subprocess.Popen[bytes]:
    write_files(launch)
    return subprocess.Popen(
        launch.argv,
        cwd=launch.cwd,
        env=dict(launch.env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def read_turn(engine: Engine, output: bytes, errors: bytes, exit_code: int) -> Turn:
    parser, summary = engine.parser(), TurnSummary()
    entries: list[TraceEntry] = []
    for line in output.splitlines(keepends=True):
        entries += parser.feed(line)
    entries += parser.close()
    for entry in entries:
        summary = observe(summary, entry)
    return Turn(summary, tuple(entries), exit_code, output, errors)


def run_turn(engine: Engine, request: TurnRequest) -> Turn:
    """Output goes to files, as it does in the sessions layer: a pipe would wait for what the turn leaves behind."""
    launch = engine.launch(request)
    write_files(launch)
    out, err = request.folder / "out", request.folder / "err"
    with out.open("wb") as stdout, err.open("wb") as stderr:
        code = subprocess.run(
            launch.argv,
            cwd=launch.cwd,
            env=dict(launch.env),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            timeout=TURN_SECONDS,
            check=False,
        ).returncode
    return read_turn(engine, out.read_bytes(), err.read_bytes(), code)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path / "wt", tmp_path / "attempt")
    place.worktree.mkdir()
    place.folder.mkdir()
    place.git("init", "-q", "-b", "main")
    place.git("-c", "user.name=T", "-c", "user.email=t@localhost", "commit", "-q", "--allow-empty", "-m", "Start")
    return place


def executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def flag_value(argv: tuple[str, ...], flag: str) -> str | None:
    """The word after `flag`, or None when the flag is not there."""
    return argv[argv.index(flag) + 1] if flag in argv else None


def path_with(folder: Path, **more: str) -> Mapping[str, str]:
    return {"PATH": f"{folder}:{os.defpath}", "HOME": str(folder), **more}


def read_table(folder: Path, name: str, table: Mapping[str, object]) -> EngineSettings:
    """An `[engines.NAME]` table as a user's paddock.toml would bring it."""
    plain = {key: value for key, value in table.items() if not isinstance(value, Mapping)}
    nested = {key: value for key, value in table.items() if isinstance(value, Mapping)}
    lines = [f"[engines.{name}]", *(f"{key} = {json.dumps(value)}" for key, value in plain.items())]
    for key, values in nested.items():
        lines += [f"[engines.{name}.{key}]", *(f"{inner} = {json.dumps(value)}" for inner, value in values.items())]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "paddock.toml").write_text("\n".join(lines))
    return load_config(folder, environment={}).config.engines[name]
