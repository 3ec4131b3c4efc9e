"""Paths that decide what is tested, checked out or run elsewhere: only a person lets a change touch them."""

from collections.abc import Collection, Sequence

from paddock.core.ids import some_names
from paddock.core.leases.globs import matches_file, matches_path
from paddock.core.merge.pathnames import folded

_PADDOCK = ("paddock.toml", ".paddock/", ".worktreeinclude")
_GIT = (".gitattributes", ".gitmodules", ".lfsconfig", ".githooks/", ".husky/")
_CI_SERVICES = (
    *(".github/", ".ci/", ".gitlab-ci.yml", ".gitlab/", ".circleci/", ".buildkite/", ".woodpecker/", ".woodpecker.yml"),
    *(".travis.yml", ".cirrus.yml", ".drone.yml", "appveyor.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml"),
    "jenkinsfile",
)
# Agents' CLIs run what these say, in every worktree and for whoever works in the repository.
_AGENT_SETTINGS = (
    *(".claude/", ".codex/", ".gemini/", ".qwen/", ".opencode/", ".continue/"),
    *(".mcp.json", "opencode.json", "opencode.jsonc", ".aider.conf.yml", ".aider.model.settings.yml"),
)
# They read these as their user's own words, in any folder: also whoever is to review the change that brings them.
_INSTRUCTIONS = ("agents.md", "agents.override.md", "claude.md", "claude.local.md", "gemini.md", "qwen.md")
ALWAYS = (*_PADDOCK, *_GIT, *_CI_SERVICES, *_AGENT_SETTINGS)
"""Folded, as `folded` does it."""
_ANYWHERE = (".gitattributes", *_INSTRUCTIONS)
_FOLDERS = tuple(name for name in ALWAYS if name.endswith("/"))
_DEFINES_CI = ("paddock.toml", ".pre-commit-config.yaml", *_CI_SERVICES)
_CI_FOLDERS = tuple(name for name in (*_CI_SERVICES, ".githooks/", ".husky/") if name.endswith("/"))


def protection_reasons(
    files: Collection[str], links: Collection[str], *, ci_files: Collection[str], globs: Sequence[str]
) -> tuple[str, ...]:
    """Why a change of these paths needs a person, in words; empty when it needs none.

    `ci_files` are those CI consists of, `globs` what the configuration protects besides. A link may lead to what is
    protected below its name.
    """
    every = (*files, *links)
    always = [path for path in every if _is_always_protected(path)]
    ci = [path for path in every if path in ci_files and path not in always]
    named = [path for path in files if any(matches_file(glob, path) for glob in globs)]
    named += [path for path in links if any(matches_path(glob, path) for glob in globs)]
    reasons = [f"touches {some_names(tuple(always))}"] if always else []
    reasons += [f"touches what CI runs: {some_names(tuple(ci))}"] if ci else []
    reasons += [f"touches what `[land] protected` names: {some_names(tuple(named))}"] if named else []
    return tuple(reasons)


def defines_ci(path: str) -> bool:
    """Whether it says what CI runs, by its name alone: a CI service's definition, Paddock's own, or a hook's."""
    name = folded(path)
    return name in _DEFINES_CI or name.startswith(_CI_FOLDERS)


def _is_always_protected(path: str) -> bool:
    name = folded(path)
    last = name.rsplit("/", 1)[-1]
    return last in _ANYWHERE or name in ALWAYS or f"{name}/" in ALWAYS or name.startswith(_FOLDERS)
