"""Whether a person has told a CLI that they trust a repository. Its worktrees are the same code, on another branch:
where the CLI cannot tell that they belong together, it would ask again in each of them, and in a fence it could not
even keep the answer."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

_MOST_BYTES = 16 * 1024 * 1024


def claude_settings(own: Path, repository: Path, worktree: Path) -> str:
    """The person's settings with the worktree trusted, if they trust the repository, and as they are otherwise. Empty
    where there are none that can be read."""
    try:
        if own.stat().st_size > _MOST_BYTES:
            return ""
        settings = json.loads(own.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    projects = settings.get("projects") if isinstance(settings, dict) else None
    if not isinstance(settings, dict):
        return ""
    if isinstance(projects, dict) and _is_trusted(projects, repository, "hasTrustDialogAccepted", True):
        known = projects.get(str(worktree))
        entry = {**(known if isinstance(known, dict) else {}), "hasTrustDialogAccepted": True}
        settings = {**settings, "projects": {**projects, str(worktree): entry}}
    return json.dumps(settings)


def codex_trust(config: Path, repository: Path, worktree: Path) -> str:
    """The override with which codex trusts the worktree; empty if the person does not trust the repository."""
    try:
        projects = tomllib.loads(config.read_text(encoding="utf-8")).get("projects")
    except (OSError, ValueError):
        return ""
    if not isinstance(projects, dict) or not _is_trusted(projects, repository, "trust_level", "trusted"):
        return ""
    return f'projects={{{json.dumps(str(worktree))}={{trust_level="trusted"}}}}'


def _is_trusted(projects: Mapping[str, object], repository: Path, key: str, wanted: object) -> bool:
    """As both CLIs have it: who trusts a folder trusts what is in it."""
    entries = (projects.get(str(folder)) for folder in (repository, *repository.parents))
    return any(isinstance(entry, dict) and entry.get(key) == wanted for entry in entries)
