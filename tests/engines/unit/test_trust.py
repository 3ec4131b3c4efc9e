"""Who trusts a repository trusts its worktrees; nobody else's question is answered for them."""

import json
import tomllib
from pathlib import Path

import pytest

from paddock.engines.trust import claude_settings, codex_trust

REPOSITORY, WORKTREE = Path("/home/me/app"), Path("/home/me/app.paddock/w1")


@pytest.mark.parametrize("place", ["/home/me/app", "/home/me"])
def test_claude_trusts_the_worktree_of_a_repository_that_is_trusted(tmp_path: Path, place: str) -> None:
    own = tmp_path / ".claude.json"
    before = {"projects": {place: {"hasTrustDialogAccepted": True}, str(WORKTREE): {"history": [1]}}, "theme": "dark"}
    own.write_text(json.dumps(before))
    shown = json.loads(claude_settings(own, REPOSITORY, WORKTREE))
    assert shown["projects"][str(WORKTREE)] == {"history": [1], "hasTrustDialogAccepted": True}
    assert (shown["theme"], shown["projects"][place]) == ("dark", before["projects"][place])  # type: ignore[index]
    assert json.loads(own.read_text()) == before, "the person's own file is never written"


@pytest.mark.parametrize(
    "projects",
    [{}, {"/home/me/app": {"hasTrustDialogAccepted": False}}, {"/home/me/app2": {"hasTrustDialogAccepted": True}}, []],
)
def test_claude_asks_where_nobody_has_answered(tmp_path: Path, projects: object) -> None:
    own = tmp_path / ".claude.json"
    own.write_text(json.dumps({"projects": projects}))
    assert json.loads(claude_settings(own, REPOSITORY, WORKTREE)) == {"projects": projects}


@pytest.mark.parametrize("content", [None, "", "{", "[]", "\0"])
def test_settings_that_make_no_sense_are_left_alone(tmp_path: Path, content: str | None) -> None:
    own = tmp_path / ".claude.json"
    if content is not None:
        own.write_text(content)
    assert claude_settings(own, REPOSITORY, WORKTREE) == ""
    assert codex_trust(own, REPOSITORY, WORKTREE) == ""


@pytest.mark.parametrize(("level", "trusted"), [("trusted", True), ("untrusted", False)])
def test_codex_is_told_of_the_worktree_of_a_repository_that_is_trusted(
    tmp_path: Path, level: str, trusted: bool
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(f'[projects."{REPOSITORY}"]\ntrust_level = "{level}"\n')
    worktree = Path('/home/me/an "odd" folder\\w1')
    override = codex_trust(config, REPOSITORY, worktree)
    assert bool(override) == trusted
    if trusted:
        assert tomllib.loads(override) == {"projects": {str(worktree): {"trust_level": "trusted"}}}
