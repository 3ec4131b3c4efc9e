"""Installs the agent CLIs the tests drive, at pinned versions, into the user's cache folder.

    python -m tests.engines.real.install claude codex      # or no name: all of them

npm packages come with a lock file of exact versions and integrity hashes; no install script of theirs is run:
the native programs lie ready in the platform packages. Nothing is installed twice, and what is there is whole:
a folder gets its name only after the program in it has told the right version.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LOCKS = Path(__file__).parent / "locks"
INSTALL_SECONDS = 900
VERSION_SECONDS = 120


@dataclass(frozen=True, slots=True)
class PinnedCli:
    """`programs` are globs for the program inside the installed tree, in order of preference.

    `node_script` is JavaScript that needs a newer node than many have: the lock brings one, and `NAME.sh` starts it.
    `is_mute`: it does not tell its version, so its package has to.
    """

    name: str
    version: str
    programs: tuple[str, ...]
    python_package: str = ""
    node_script: str = ""
    is_mute: bool = False

    @property
    def folder(self) -> Path:
        return cache_root() / f"{self.name}-{self.version}"

    @property
    def program(self) -> Path:
        return self.folder / "bin" / self.name


PINNED = {
    cli.name: cli
    for cli in (
        PinnedCli("claude", "2.1.325", ("node_modules/@anthropic-ai/claude-code-*/claude",)),
        PinnedCli("codex", "0.166.0", ("node_modules/@openai/codex-*/vendor/*/bin/codex",)),
        PinnedCli("opencode", "1.18.33", ("node_modules/opencode-*/bin/opencode",)),
        PinnedCli("gemini", "0.61.0", ("node_modules/@google/gemini-cli/bundle/gemini.js",)),
        PinnedCli("aider", "0.86.2", ("aider.sh",), python_package="aider-chat"),
        PinnedCli("qwen", "0.24.4", ("qwen.sh",), node_script="node_modules/@qwen-code/qwen-code/cli.js"),
        PinnedCli("copilot", "1.0.102", ("node_modules/@github/copilot-*/copilot",)),
        PinnedCli("cn", "1.5.47", ("node_modules/@continuedev/cli/dist/cn.js",)),
        PinnedCli(
            "claude-agent-acp",
            "0.100.0",
            ("claude-agent-acp.sh",),
            node_script="node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js",
        ),
        PinnedCli("codex-acp", "0.16.0", ("node_modules/@zed-industries/codex-acp-*/bin/codex-acp",), is_mute=True),
    )
}

# Those that have an adapter of their own; the others speak the Agent Client Protocol.
ADAPTED = tuple(name for name in PINNED if not name.endswith("-acp"))


class InstallFailed(RuntimeError):
    """The message holds the end of what the installer said."""


def cache_root() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "paddock-test-engines"


def find(name: str) -> Path | None:
    """The installed program, or None."""
    program = PINNED[name].program
    return program if program.exists() else None


def install(name: str) -> Path:
    """The installed program, installed first when missing; safe to call from several processes at once."""
    cli = PINNED[name]
    cache_root().mkdir(parents=True, exist_ok=True)
    with _hold_lock(cache_root() / f"{name}.lock"):
        if cli.program.exists():
            return cli.program
        for abandoned in cache_root().glob(f".staging-{name}-*"):
            shutil.rmtree(abandoned)
        staging = Path(tempfile.mkdtemp(prefix=f".staging-{name}-", dir=cache_root()))
        try:
            _fill(cli, staging)
            staging.rename(cli.folder)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    return cli.program


def _fill(cli: PinnedCli, staging: Path) -> None:
    if cli.python_package:
        _install_from_pypi(cli, staging)
    else:
        _install_from_npm(cli, staging)
    program = _choose_program(cli, staging)
    (staging / "bin").mkdir()
    (staging / "bin" / cli.name).symlink_to(os.path.relpath(program, staging / "bin"))


def _install_from_npm(cli: PinnedCli, staging: Path) -> None:
    for file in (LOCKS / cli.name).iterdir():
        shutil.copy(file, staging)
    # `install`, not `ci`: opencode is not published for every platform its manifest lists, which `ci` refuses.
    # Hashes in the lock are enforced by either. claude asks for node 22 but its native program needs none.
    flags = ("--ignore-scripts", "--engine-strict=false", "--no-audit", "--no-fund", "--loglevel=error")
    _run(("npm", "install", *flags), staging)
    if cli.node_script:
        _write_script(staging / f"{cli.name}.sh", f'exec "$here/node_modules/.bin/node" "$here/{cli.node_script}" "$@"')


def _install_from_pypi(cli: PinnedCli, staging: Path) -> None:
    python = _python_for_aider()
    requirement = f"{cli.python_package}=={cli.version}"
    _run((python, "-m", "pip", "install", "--quiet", "--target", "site", requirement), staging)
    # A venv cannot be renamed: its scripts name the folder they were made in.
    start = "import sys; sys.path.insert(0, sys.argv.pop(1)); from aider.main import main; sys.exit(main())"
    _write_script(staging / "aider.sh", f"exec '{python}' -I -c '{start}' \"$here/site\" \"$@\"")


def _write_script(path: Path, command: str) -> None:
    path.write_text(f'#!/bin/sh\nhere=$(dirname "$(readlink -f "$0")")\n{command}\n')
    path.chmod(0o755)


def _python_for_aider() -> str:
    """A Python that aider's pins support (3.10 to 3.12), outside any virtual environment of ours."""
    ours = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
    for candidate in (str(ours), "python3.12", "python3.11", "python3.10"):
        check = "import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 12))"
        with contextlib.suppress(OSError):
            if subprocess.run((candidate, "-c", check), check=False, cwd="/", capture_output=True).returncode == 0:
                return shutil.which(candidate) or candidate
    raise InstallFailed("aider needs Python 3.10, 3.11 or 3.12 on the PATH")


def _choose_program(cli: PinnedCli, staging: Path) -> Path:
    """The first program that runs on this machine and tells the pinned version."""
    said: list[str] = []
    for program in sorted(path for pattern in cli.programs for path in staging.glob(pattern)):
        program.chmod(program.stat().st_mode | 0o111)
        with tempfile.TemporaryDirectory() as home:
            answer = _tell_version(cli, program, Path(home))
        if cli.version in answer:
            return program
        said.append(answer.strip())
    raise InstallFailed(f"{cli.name}: no program tells version {cli.version}; got {said or 'none'}")


def _tell_version(cli: PinnedCli, program: Path, home: Path) -> str:
    if not cli.is_mute:
        return _run((str(program), "--version"), home, VERSION_SECONDS, {"HOME": str(home)})
    _run((str(program), "--help"), home, VERSION_SECONDS, {"HOME": str(home)})
    return str(json.loads((program.parents[1] / "package.json").read_text())["version"])


def _run(
    argv: tuple[str, ...],
    directory: Path,
    timeout_seconds: float = INSTALL_SECONDS,
    environment: dict[str, str] | None = None,
) -> str:
    try:
        done = subprocess.run(
            argv,
            check=False,
            cwd=directory,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=timeout_seconds,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise InstallFailed(f"{argv[0]}: {problem}") from problem
    if done.returncode != 0 and "--version" not in argv:
        raise InstallFailed(f"`{' '.join(argv)}` ended with {done.returncode}:\n{done.stdout[-2000:]}")
    return done.stdout


@contextlib.contextmanager
def _hold_lock(path: Path) -> Iterator[None]:
    deadline = time.monotonic() + INSTALL_SECONDS
    with path.open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise InstallFailed(f"another install holds {path} since {INSTALL_SECONDS} s") from None
                time.sleep(0.2)
        yield


def main() -> int:
    names = sys.argv[1:] or list(PINNED)
    unknown = [name for name in names if name not in PINNED]
    if unknown:
        print(f"error: unknown engine {', '.join(unknown)}; known: {', '.join(PINNED)}", file=sys.stderr)
        return 2
    for name in names:
        started = time.monotonic()
        try:
            program = install(name)
        except InstallFailed as problem:
            print(f"error: {name} could not be installed: {problem}", file=sys.stderr)
            return 1
        print(f"{program} ({time.monotonic() - started:.1f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
