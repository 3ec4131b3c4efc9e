"""The command that runs a repository's tests, guessed from its files, and only if it can start here."""

import json
import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

_TEST_TARGET = re.compile(r"^(test|check)\s*:(?!=)", re.MULTILINE)
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_IMPORT_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Guess:
    """`command` is empty when nothing fits, or what fits cannot start: `missing` says what and why then."""

    command: str = ""
    missing: str = ""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """What fits the repository, the program it needs, and what else must be there."""

    command: str
    program: str
    also: Callable[[], str] = lambda: ""


def guess_ci(top: Path) -> Guess:
    """The first command that fits and can start. A Makefile's test target knows best."""
    missing = ""
    for candidate in _candidates(top):
        problem = _why_not(candidate)
        if not problem:
            return Guess(candidate.command)
        missing = missing or f"`{candidate.command}` would fit, but {problem}"
    return Guess("", missing)


def _why_not(candidate: _Candidate) -> str:
    if shutil.which(candidate.program) is None:
        return f"`{candidate.program}` is not on PATH"
    return candidate.also()


def _candidates(top: Path) -> Iterator[_Candidate]:
    makefile = next((text for name in _MAKEFILES if (text := _read(top / name))), "")
    if target := _TEST_TARGET.search(makefile):
        yield _Candidate(f"make {target[1]}", "make")
    if "test" in _package_scripts(top):
        runner = _node_runner(top)
        yield _Candidate(f"{runner} test", runner.split()[0])
    if (top / "Cargo.toml").is_file():
        yield _Candidate("cargo test", "cargo")
    if (top / "go.mod").is_file():
        yield _Candidate("go test ./...", "go")
    if _has_pytest(top):
        python = "python" if shutil.which("python") else "python3"
        yield _Candidate(f"{python} -m pytest", python, lambda: _no_module(python, "pytest"))
        yield _Candidate("pytest", "pytest")


def _no_module(python: str, module: str) -> str:
    """Ignores the user's own packages: CI has its own HOME and does not see them."""
    try:
        told = subprocess.run(
            (python, "-s", "-c", f"import {module}"),
            check=False,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_IMPORT_SECONDS,
            cwd="/",
        )
    except (OSError, subprocess.TimeoutExpired):
        return f"`{python}` does not start"
    return "" if told.returncode == 0 else f"`{python}` has no module `{module}`"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _package_scripts(top: Path) -> dict[str, object]:
    try:
        scripts = json.loads(_read(top / "package.json") or "{}").get("scripts", {})
    except (ValueError, AttributeError):
        return {}
    if not isinstance(scripts, dict) or "no test specified" in str(scripts.get("test", "")):
        return {}
    return scripts


def _node_runner(top: Path) -> str:
    for lock, runner in (("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lockb", "bun run")):
        if (top / lock).exists():
            return runner
    return "npm"


def _requires_pytest(project: dict[str, object]) -> bool:
    """Among the dependencies of a pyproject.toml, its extras or its groups."""
    parts = [project.get("project"), project.get("dependency-groups")]
    return any(re.search(r"['\"]pytest\b", repr(part)) is not None for part in parts)


def _has_pytest(top: Path) -> bool:
    try:
        project = tomllib.loads(_read(top / "pyproject.toml"))
    except tomllib.TOMLDecodeError:
        project = {}
    tools = project.get("tool")
    if (isinstance(tools, dict) and "pytest" in tools) or _requires_pytest(project):
        return True
    if (top / "pytest.ini").is_file() or (top / "conftest.py").is_file():
        return True
    return any((top / folder).is_dir() for folder in ("tests", "test")) and any(
        (top / name).is_file() for name in ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini")
    )
