"""What CI is for a repository: its checks, the key its verdicts are kept under, and how one check is started.

Nothing is run here. A `CiCommand` goes to the same process runner as an agent's turn.
"""

import hashlib
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from paddock.config.schema import LandSettings
from paddock.core.leases.globs import matches_file, matches_path
from paddock.git.sandboxes.tree import ATTRIBUTES, Sandbox

_PASSED_ON = (
    *("PATH", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TERM"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
    *("JAVA_HOME", "GOROOT", "RUSTUP_HOME", "NVM_DIR", "PYENV_ROOT"),
    *("UV_CACHE_DIR", "PIP_CACHE_DIR", "npm_config_cache"),
)
_ALWAYS_PART_OF_CI = ("paddock.toml", ".ci/")
# What a program that is given the name of a task reads to know what it is.
_RUNNERS = {
    "make": ("Makefile", "makefile", "GNUmakefile"),
    "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml"),
    "rake": ("Rakefile",),
    "tox": ("tox.ini",),
    "nox": ("noxfile.py",),
    "npm": ("package.json",),
    "yarn": ("package.json",),
    "pnpm": ("package.json",),
}


@dataclass(frozen=True, slots=True)
class CiCheck:
    """`paths` are globs of everything its verdict depends on besides what CI itself is; none: the whole tree."""

    name: str
    command: str
    paths: tuple[str, ...] = ()
    retry: int = 0
    quarantine: bool = False

    def looks_at(self, files: Iterable[str], links: Iterable[str] = ()) -> bool:
        """Whether its verdict may change with these. What a link or a submodule leads to may be below its name."""
        return (
            not self.paths
            or any(matches_file(glob, path) for path in files for glob in self.paths)
            or any(matches_path(glob, path) for path in links for glob in self.paths)
        )


@dataclass(frozen=True, slots=True)
class CiDefinition:
    """Everything that decides a verdict besides the tree. A timeout decides none, so it is not part of it."""

    checks: tuple[CiCheck, ...]
    setup: str = ""
    env: tuple[tuple[str, str], ...] = ()
    keep: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """The key of verdicts. Kept caches and retries change how long a run takes, not what a pass means."""
        checks = [(check.name, check.command, *_scope(check)) for check in self.checks]
        return _digest(("ci", checks, self.setup, sorted(self.env)))

    @property
    def setup_digest(self) -> str:
        """Sandboxes set up under another one are rebuilt; empty if there is nothing to set up."""
        return _digest(("setup", self.setup, sorted(self.env))) if self.setup else ""

    @property
    def gates(self) -> bool:
        """Whether there is a check that can keep anything off main."""
        return any(not check.quarantine for check in self.checks)

    def checks_for(self, files: Iterable[str], links: Iterable[str] = ()) -> tuple[CiCheck, ...]:
        """The checks whose verdict may change with these paths; all of them where CI itself changes."""
        changed, linked = tuple(files), tuple(links)
        if self.touched_by((*changed, *linked)):
            return self.checks
        return tuple(check for check in self.checks if check.looks_at(changed, linked))

    def touched_by(self, paths: Iterable[str]) -> bool:
        """Whether a change of `paths` changes what CI is: the configuration, a file its commands name, or the
        attributes that decide which bytes are checked out."""
        named = self.named_files
        return any(
            path in named or path.startswith(_ALWAYS_PART_OF_CI) or path.rsplit("/", 1)[-1] == ATTRIBUTES
            for path in paths
        )

    @property
    def named_files(self) -> frozenset[str]:
        """What its commands name, whether or not there is such a file."""
        return frozenset(_named_files((*(check.command for check in self.checks), self.setup)))


@dataclass(frozen=True, slots=True)
class CiCommand:
    """A process to start: complete environment, nothing inherited."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path


def define_ci(land: LandSettings, keep: tuple[str, ...] = ()) -> CiDefinition | None:
    """The definition `[land]` gives; None when it names neither a command nor checks."""
    checks = tuple(CiCheck(check.name, check.run, check.paths, check.retry, check.quarantine) for check in land.checks)
    if not checks and land.ci.strip():
        checks = (CiCheck("ci", land.ci),)
    return CiDefinition(checks, land.setup, tuple(land.env.items()), keep) if checks else None


def define_sandbox(land: LandSettings) -> CiDefinition:
    """The set-up and the environment that `[land]` gives, for runs with commands of their own."""
    return CiDefinition((), land.setup, tuple(land.env.items()), land.keep)


def check_command(
    sandbox: Sandbox, definition: CiDefinition, check: CiCheck, commit: str, parent_env: Mapping[str, str]
) -> CiCommand:
    return shell_command(sandbox, definition, check.command, check.name, commit, parent_env)


def shell_command(
    sandbox: Sandbox, definition: CiDefinition, text: str, check: str, commit: str, parent_env: Mapping[str, str]
) -> CiCommand:
    """The command is the user's own text from paddock.toml, so a shell reads it."""
    return argv_command(sandbox, definition, ("/bin/sh", "-c", text), check, commit, parent_env)


def argv_command(
    sandbox: Sandbox,
    definition: CiDefinition,
    words: tuple[str, ...],
    check: str,
    commit: str,
    parent_env: Mapping[str, str],
) -> CiCommand:
    env = {**ci_environment(sandbox, definition, commit, parent_env), "PADDOCK_CHECK": check}
    return CiCommand(words, env, sandbox.tree)


def setup_command(sandbox: Sandbox, definition: CiDefinition, commit: str, parent_env: Mapping[str, str]) -> CiCommand:
    env = ci_environment(sandbox, definition, commit, parent_env)
    return CiCommand(("/bin/sh", "-c", definition.setup), env, sandbox.tree)


def ci_environment(
    sandbox: Sandbox, definition: CiDefinition, commit: str, parent_env: Mapping[str, str]
) -> dict[str, str]:
    """Named variables of the parent, the sandbox's own folders, then what the user set.

    No variable of git, ssh or an agent passes. The ceiling keeps git from finding a repository around the
    sandbox when CI deletes the one inside it.
    """
    passed = {name: value for name, value in parent_env.items() if name in _PASSED_ON or name.startswith("LC_")}
    home, tmp = str(sandbox.home), str(sandbox.tmp)
    own = {
        "HOME": home,
        "TMPDIR": tmp,
        "TMP": tmp,
        "TEMP": tmp,
        "XDG_CONFIG_HOME": f"{home}/.config",
        "XDG_CACHE_HOME": f"{home}/.cache",
        "XDG_DATA_HOME": f"{home}/.local/share",
        "XDG_STATE_HOME": f"{home}/.local/state",
        "CI": "true",
        "PYTHONUNBUFFERED": "1",
        "GIT_CEILING_DIRECTORIES": str(sandbox.path),
        "GIT_TERMINAL_PROMPT": "0",
        "PWD": str(sandbox.tree),
        "PADDOCK_CI": "1",
        "PADDOCK_COMMIT": commit,
    }
    return {**passed, **own, **dict(definition.env)}


def _scope(check: CiCheck) -> tuple[object, ...]:
    """What a pass does not vouch for; nothing for a plain check, so that older verdicts keep their key."""
    return (sorted(check.paths), check.quarantine) if check.paths or check.quarantine else ()


def _named_files(commands: tuple[str, ...]) -> Iterable[str]:
    for command in commands:
        try:
            words = shlex.split(command)
        except ValueError:
            words = command.split()
        for word in words:
            yield word.removeprefix("./")
            yield from _RUNNERS.get(word, ())


def _digest(parts: object) -> str:
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()[:32]
