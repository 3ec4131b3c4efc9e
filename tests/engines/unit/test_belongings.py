"""What each CLI is shown of the user's home, and what it must never be."""

from pathlib import Path

import pytest

from paddock.engines.belongings import HomePlace, find_belongings
from paddock.engines.protocol import Launch, TurnRequest
from paddock.engines.registry import BUILT_IN, load_engine
from paddock.engines.settings import EngineSettings

HOME = Path("/home/ann")
CLIS = tuple(name for name in BUILT_IN if name != "scripted")


def launch(name: str, settings: EngineSettings | None = None, session: str | None = None, **env: str) -> Launch:
    engine = load_engine(name, {name: settings or EngineSettings(model="mock")})
    folder = Path("/state/attempts/t1/1")
    request = TurnRequest(
        "Do it.",
        Path("/w/w1"),
        folder,
        session_id=session,
        new_session_id=None if session else "b0c8",
        base_env={"HOME": str(HOME), "PATH": "/usr/bin", **env},
    )
    return engine.launch(request)


@pytest.mark.parametrize("name", CLIS)
def test_every_cli_declares_what_it_has_and_all_of_it_is_its_own(name: str) -> None:
    own = launch(name).belongings
    assert own.reads
    assert own.kept or name == "command"
    for path in (*own.reads, *own.logins, *own.kept):
        assert path.is_relative_to(HOME)
        assert path != HOME
        assert not path.is_relative_to(HOME / ".ssh")
        assert path.relative_to(HOME).parts[0] not in (".config", ".local", ".cache") or len(path.parts) > 4


@pytest.mark.parametrize("name", CLIS)
def test_settings_and_conversations_are_different_things(name: str) -> None:
    own = launch(name).belongings
    assert not {*own.reads} & {*own.kept, *own.logins}


@pytest.mark.parametrize("name", [name for name in CLIS if load_engine(name).capabilities.resume])
def test_a_cli_that_resumes_keeps_its_conversations_where_the_fence_keeps_them_too(name: str) -> None:
    described = launch(name, session="b0c8")
    assert described.belongings.kept
    for log in described.logs:
        assert any(log.is_relative_to(kept) for kept in described.belongings.kept) or log in described.writes
    if described.session_log:
        assert any(described.session_log.startswith(str(kept)) for kept in described.belongings.kept)


@pytest.mark.parametrize(
    ("name", "variable", "folder"),
    [
        ("claude", "CLAUDE_CONFIG_DIR", ".claude"),
        ("codex", "CODEX_HOME", ".codex"),
        ("copilot", "COPILOT_HOME", ".copilot"),
    ],
)
def test_a_second_account_lives_where_its_variable_says(name: str, variable: str, folder: str) -> None:
    own = launch(name, EngineSettings(set={variable: "/srv/second"})).belongings
    moved = [path for path in (*own.logins, *own.kept) if path.is_relative_to("/srv/second")]
    assert moved
    assert not any(path.is_relative_to(HOME / folder) for path in (*own.logins, *own.kept))


def test_a_clouds_login_is_shown_only_where_the_cloud_is_chosen() -> None:
    assert HOME / ".aws" not in launch("claude").belongings.reads
    assert HOME / ".aws" in launch("claude", CLAUDE_CODE_USE_BEDROCK="1").belongings.reads
    assert HOME / ".config/gcloud" in launch("claude", CLAUDE_CODE_USE_VERTEX="1").belongings.reads


def test_files_that_the_users_own_words_name_are_readable_and_the_tasks_are_not() -> None:
    named = launch("cn", EngineSettings(args=("--config", "/srv/continue.yaml"))).belongings.reads
    assert Path("/srv/continue.yaml") in named
    command = EngineSettings(command=("/srv/tool", "--rules", "/srv/rules.md", "{task}"))
    engine = load_engine("mine", {"mine": command})
    request = TurnRequest("Do it.", Path("/w"), Path("/f"), task_text="/home/ann/.ssh/id_ed25519", base_env={})
    assert engine.launch(request).belongings.reads == (Path("/srv/rules.md"), Path("/srv/tool"))[::-1]


def test_a_place_is_found_by_its_variable_or_below_home() -> None:
    place = HomePlace(".config/x", reads=("a", ""), keeps=("k",), moved_by="XDG_CONFIG_HOME", below="x")
    assert find_belongings((place,), {"HOME": "/h"}).reads == (Path("/h/.config/x/a"), Path("/h/.config/x"))
    assert find_belongings((place,), {"HOME": "/h", "XDG_CONFIG_HOME": "/c"}).kept == (Path("/c/x/k"),)
