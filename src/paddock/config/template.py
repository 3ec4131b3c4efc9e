"""The `paddock.toml` that `paddock init` writes, and how it guesses the CI command."""

import json
import re
import tomllib
from pathlib import Path

_TEST_TARGET = re.compile(r"^(test|check)\s*:(?!=)", re.MULTILINE)


def guess_ci(top: Path) -> str:
    """The command that runs the repository's tests, or nothing. A Makefile's test target knows best."""
    makefile = _read(top / "Makefile")
    if target := _TEST_TARGET.search(makefile):
        return f"make {target[1]}"
    if "test" in _package_scripts(top):
        return f"{_node_runner(top)} test"
    if (top / "Cargo.toml").is_file():
        return "cargo test"
    if (top / "go.mod").is_file():
        return "go test ./..."
    if _has_pytest(top):
        return "python -m pytest"
    return ""


def render_config(main: str, ci: str, engines: list[str]) -> str:
    """A short commented file; what is left at its default is shown as a comment."""
    default = engines[0] if engines else ""
    found = ", ".join(engines) if engines else "none found on PATH; `paddock engines` tells what there is"
    engine_line = f'engine = "{default}"' if default else '# engine = "claude"'
    ci_line = f"ci = {_quoted(ci)}" if ci else '# ci = "make test"      # nothing lands before this passes'
    return f"""\
# Paddock: how a fleet of agents works on this repository.
# Every key and its value: `paddock config show`. The environment wins: PADDOCK_TIMEOUTS_TURN=20m paddock run

main = {_quoted(main)}          # agents start from this branch and land on it
{engine_line}       # for tasks that name none (here: {found})

[limits]
max_agents = 4         # running at the same time
attempts = 3           # tries before a task is failed
attempt_usd = 20.0     # what one attempt may cost before it is stopped; 0: anything

[timeouts]
start = "2m"           # until the engine's first output
silence = "10m"        # without any output, while no tool runs
turn = "1h"            # for a whole turn
grace = "10s"          # between asking a process to stop and killing it

[worktrees]
pool = 2               # warm worktrees kept ready
# keep = ["node_modules", ".venv"]   # ignored folders a reused worktree keeps
# setup = "make setup"               # run once in every new worktree

[land]
{ci_line}
slots = 2              # CI runs at the same time
policy = "merge"       # or "squash", "rebase"
approval = "human"     # or "none": what was delivered is queued at once

# [agents.parser]
# engine = "claude"
# brief = "You own the parser. Keep its public API stable."
# owns = ["src/parser/**"]

# [engines.mine]
# command = ["mytool", "--prompt", "{{prompt}}"]
"""


def _quoted(text: str) -> str:
    """As a TOML string, which reads JSON's escapes except those beyond the basic plane."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


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
