"""`engines` says "logged in" only when it knows."""

import json
import time
from pathlib import Path

import pytest

from paddock.engines.login import Login, find_login
from paddock.engines.registry import BUILT_IN, load_engine
from tests.engines.unit.conftest import executable, path_with

PAST_MS, FUTURE_MS = (time.time() - 3600) * 1000, (time.time() + 3600) * 1000


def seen(tmp_path: Path, content: str) -> Login:
    (tmp_path / "auth.json").write_text(content)
    return find_login({"HOME": str(tmp_path)}, ("KEY",), ("auth.json",))


@pytest.mark.parametrize(
    "content",
    [
        {"claudeAiOauth": {"accessToken": "a", "refreshToken": "b", "expiresAt": PAST_MS}},
        {"claudeAiOauth": {"accessToken": "a", "expiresAt": FUTURE_MS}},
        {"OPENAI_API_KEY": "k", "tokens": None},
        {"tokens": {"access_token": "a"}},
        {"anthropic": {"type": "api", "key": "k"}},
        {"logged_in_users": [{"host": "example.invalid", "login": "somebody"}]},
    ],
)
def test_credentials_that_hold_are_a_login(content: dict[str, object], tmp_path: Path) -> None:
    assert seen(tmp_path, json.dumps(content)) == Login(True, "logged in")


def test_a_login_that_has_expired_and_cannot_be_renewed_is_none(tmp_path: Path) -> None:
    login = seen(tmp_path, json.dumps({"accessToken": "a", "expiresAt": PAST_MS}))
    assert login.known is False
    assert "has expired" in login.words


@pytest.mark.parametrize(
    "content", ["{}", "[]", "not json: at all", '{"theme": "dark"}', '{"tokens": null}', "[" * 9000]
)
def test_a_file_without_credentials_proves_nothing(content: str, tmp_path: Path) -> None:
    assert seen(tmp_path, content) == Login(None, "login unknown")


def test_a_key_is_called_what_it_is(tmp_path: Path) -> None:
    assert find_login({"HOME": str(tmp_path), "KEY": "k"}, ("KEY",), ()) == Login(True, "KEY is set")


@pytest.mark.parametrize("name", sorted(set(BUILT_IN) - {"scripted"}))
def test_a_configuration_file_alone_is_no_login(name: str, tmp_path: Path) -> None:
    executable(tmp_path / name, "#!/bin/sh\necho 1.2.3\n")
    for file in (".aider.conf.yml", ".continue/config.yaml", ".config/opencode/opencode.json", ".copilot/config.json"):
        executable(tmp_path / file, '{"theme": "dark"}')
    probe = load_engine(name).probe(path_with(tmp_path))
    assert not probe.authenticated
    assert probe.login in ("login unknown", "not logged in")
