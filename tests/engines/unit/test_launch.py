"""What each adapter would start: arguments, environment, files."""

import json
import os
import tomllib
from pathlib import Path

import pytest

from paddock.engines.environment import MAX_ARGUMENT_BYTES
from paddock.engines.protocol import Engine, Launch, LaunchFile
from paddock.engines.registry import BUILT_IN, load_engine
from paddock.engines.settings import EngineSettings
from tests.engines.unit.conftest import Place, flag_value

SECRETS = {
    "AWS_SECRET_ACCESS_KEY": "s",
    "DATABASE_URL": "s",
    "NPM_TOKEN": "s",
    "SSH_AUTH_SOCK": "s",
    "GIT_DIR": "elsewhere",
    "CLAUDECODE": "1",
    "PYTHONPATH": "s",
}
KEYS = {
    "claude": "ANTHROPIC_API_KEY",
    "codex": "OPENAI_API_KEY",
    "aider": "OPENAI_API_KEY",
    "opencode": "OPENAI_API_KEY",
    "gemini": "GEMINI_API_KEY",
    "qwen": "OPENAI_API_KEY",
    "copilot": "GH_TOKEN",
    "cn": "OPENAI_API_KEY",
}
RESUMABLE = ("claude", "codex", "opencode", "gemini", "qwen", "copilot", "scripted")
CHOOSING = ("claude", "gemini", "qwen", "copilot", "scripted")


@pytest.fixture(params=sorted(BUILT_IN))
def engine(request: pytest.FixtureRequest) -> Engine:
    return load_engine(request.param)


def test_the_prompt_is_one_argument_whatever_it_holds(engine: Engine, place: Place) -> None:
    prompt = 'Say "hi" to $USER; rm -rf / `id`\nthen stop'
    assert prompt in engine.launch(place.request(prompt)).argv


def test_a_prompt_that_looks_like_a_flag_is_not_taken_for_one(engine: Engine, place: Place) -> None:
    argv = engine.launch(place.request("--help me")).argv
    assert "--help me" not in argv
    assert " --help me" in argv


def test_a_prompt_with_nul_bytes_or_half_characters_can_still_be_started(engine: Engine, place: Place) -> None:
    for word in engine.launch(place.request("a\0b \udcff c")).argv:
        assert "\0" not in word
        word.encode("utf-8")


def test_a_prompt_too_long_for_an_argument_goes_to_a_file(engine: Engine, place: Place) -> None:
    prompt = "long " * 40_000
    launch = engine.launch(place.request(prompt))
    assert max(len(word.encode()) for word in launch.argv) <= MAX_ARGUMENT_BYTES
    (file,) = [file for file in launch.files if file.content == prompt]
    assert any(str(file.path) in word for word in launch.argv)


def test_no_secret_passes_that_the_engine_has_no_use_for(engine: Engine, place: Place) -> None:
    base = {**SECRETS, "PATH": "/bin", "HOME": "/home/me", "LC_ALL": "C.UTF-8", "HTTPS_PROXY": "p"}
    env = engine.launch(place.request(base_env=base)).env
    assert not SECRETS.keys() & env.keys()
    assert {"PATH": "/bin", "HOME": "/home/me", "LC_ALL": "C.UTF-8", "HTTPS_PROXY": "p"}.items() <= env.items()


@pytest.mark.parametrize(("name", "key"), KEYS.items())
def test_an_engines_own_key_passes(name: str, key: str, place: Place) -> None:
    assert load_engine(name).launch(place.request(base_env={key: "k"})).env[key] == "k"


def test_the_attempts_values_are_set_and_the_users_win(engine: Engine, place: Place) -> None:
    settings = EngineSettings(set={"MINE": "yes", "PADDOCK_PORT": "1"}, env=("NPM_*",))
    own = load_engine(engine.name, {engine.name: settings})
    request = place.request(base_env=SECRETS, attempt_env={"PADDOCK_PORT": "4000", "TMPDIR": "/t"})
    env = own.launch(request).env
    assert (env["MINE"], env["PADDOCK_PORT"], env["TMPDIR"], env["NPM_TOKEN"]) == ("yes", "1", "/t", "s")


def test_it_runs_in_the_worktree_and_writes_only_in_the_attempts_folder(engine: Engine, place: Place) -> None:
    launch = engine.launch(place.request("x " * 100_000))
    assert launch.cwd == place.worktree
    for path in (*(file.path for file in launch.files), *launch.logs):
        assert path.is_relative_to(place.folder)


def test_extra_arguments_are_passed_on(engine: Engine, place: Place) -> None:
    own = load_engine(engine.name, {engine.name: EngineSettings(args=("--extra", "1"))})
    assert "--extra" in own.launch(place.request()).argv


@pytest.mark.parametrize("name", sorted(set(BUILT_IN) - {"scripted"}))
def test_another_program_can_be_named(name: str, place: Place) -> None:
    own = load_engine(name, {name: EngineSettings(program="/opt/other")})
    assert own.launch(place.request()).argv[0] == "/opt/other"


@pytest.mark.parametrize("name", sorted(set(BUILT_IN) - {"scripted", "cn"}))
def test_the_model_asked_for_is_passed(name: str, place: Place) -> None:
    own = load_engine(name, {name: EngineSettings(model="preset")})
    assert any("preset" in word for word in own.launch(place.request()).argv)
    words = own.launch(place.request(model="chosen")).argv
    assert any("chosen" in word for word in words)
    assert not any("preset" in word for word in words)


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_capabilities_tell_what_launch_does(name: str, place: Place) -> None:
    engine = load_engine(name)
    resumed = engine.launch(place.request(session_id="s-123", new_session_id="fresh-77")).argv
    begun = engine.launch(place.request(new_session_id="fresh-77")).argv
    assert engine.capabilities.resume == any("s-123" in word for word in resumed) == (name in RESUMABLE)
    assert engine.capabilities.chooses_session_id == any("fresh-77" in word for word in begun) == (name in CHOOSING)
    assert not any("fresh-77" in word for word in resumed)
    assert engine.capabilities.interactive == (engine.interactive(place.request()) is not None)


def test_claude_skips_permissions_also_as_root_and_bounds_its_retries(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    for uid, sandbox in ((0, "1"), (1000, None)):
        monkeypatch.setattr("os.geteuid", lambda uid=uid: uid)
        launch = load_engine("claude").launch(place.request())
        assert launch.env.get("IS_SANDBOX") == sandbox
        assert launch.env["CLAUDE_CODE_MAX_RETRIES"] == "1"
        assert "--dangerously-skip-permissions" in launch.argv


def overrides(launch: Launch) -> dict[str, object]:
    """Codex's `-c key=value` words as one configuration, read as codex reads them."""
    words = [launch.argv[i + 1] for i, word in enumerate(launch.argv) if word == "-c"]
    return tomllib.loads("\n".join(words))


def test_codex_is_configured_by_arguments_alone(place: Place) -> None:
    launch = load_engine("codex").launch(place.request(model='odd"name'))
    assert overrides(launch)["model"] == 'odd"name'
    assert launch.files == ()
    assert "--dangerously-bypass-approvals-and-sandbox" in launch.argv


def test_codex_gets_a_bounded_provider_for_a_gateway(place: Place) -> None:
    base = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_API_KEY": "k"}
    config = overrides(load_engine("codex").launch(place.request(base_env=base)))
    providers = config["model_providers"]
    assert isinstance(providers, dict)
    assert config["model_provider"] in providers
    provider = providers[config["model_provider"]]
    assert (provider["base_url"], provider["request_max_retries"]) == ("http://127.0.0.1:1/v1", 0)
    assert provider["wire_api"] == "responses"


def test_codex_bounds_the_provider_of_the_users_own_config_and_leaves_the_file_alone(place: Place) -> None:
    config = place.folder / ".codex" / "config.toml"
    config.parent.mkdir()
    text = 'model_provider = "corp"\n[model_providers.corp]\nname = "c"\nbase_url = "http://127.0.0.1:1"\n'
    config.write_text(text)
    launch = load_engine("codex").launch(place.request(base_env={"HOME": str(place.folder)}))
    assert overrides(launch)["model_providers"] == {"corp": {"request_max_retries": 0, "stream_max_retries": 1}}
    assert config.read_text() == text


@pytest.mark.parametrize("text", ["", "model_provider = 3", "not toml [", 'model_provider = "openai"'])
def test_codex_leaves_built_in_and_unreadable_providers_alone(place: Place, text: str) -> None:
    (place.folder / "config.toml").write_text(text)
    launch = load_engine("codex").launch(place.request(base_env={"CODEX_HOME": str(place.folder)}))
    assert "model_providers" not in overrides(launch)


def test_codex_in_its_own_sandbox_may_write_what_a_commit_needs(place: Place) -> None:
    sandboxed = load_engine("codex", {"codex": EngineSettings(sandbox=True)})
    launch = sandboxed.launch(place.request(git_dir=Path("/app.paddock/.slots/w1/repo")))
    config = overrides(launch)
    assert "--dangerously-bypass-approvals-and-sandbox" not in launch.argv
    assert config["sandbox_mode"] == "workspace-write"
    assert config["sandbox_workspace_write"] == {"writable_roots": ["/app.paddock/.slots/w1/repo"]}


def test_aider_keeps_its_histories_out_of_the_worktree(place: Place) -> None:
    launch = load_engine("aider").launch(place.request(turn=3))
    for flag in ("--chat-history-file", "--input-history-file", "--analytics-log"):
        value = flag_value(launch.argv, flag)
        assert value is not None
        assert Path(value).is_relative_to(place.folder)
    assert [str(path) for path in launch.logs] == [flag_value(launch.argv, "--analytics-log")]


@pytest.mark.parametrize(
    ("name", "variable"),
    [("gemini", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"), ("qwen", "QWEN_CODE_SYSTEM_DEFAULTS_PATH")],
)
def test_retries_are_bounded_through_a_file_of_ours(name: str, variable: str, place: Place) -> None:
    launch = load_engine(name).launch(place.request())
    (file,) = launch.files
    assert launch.env[variable] == str(file.path)
    assert "Retries" in file.content or "maxAttempts" in file.content
    json.loads(file.content)


def test_gemini_takes_the_key_when_there_is_one(place: Place) -> None:
    for env, chosen in (({"GEMINI_API_KEY": "k"}, True), ({}, False)):
        (file,) = load_engine("gemini").launch(place.request(base_env=env)).files
        assert ("gemini-api-key" in file.content) == chosen


def test_copilot_stays_offline_with_a_provider_of_ones_own(place: Place) -> None:
    own = load_engine("copilot").launch(place.request(base_env={"COPILOT_PROVIDER_BASE_URL": "http://127.0.0.1:1"}))
    assert own.env["COPILOT_OFFLINE"] == "true"
    assert "COPILOT_OFFLINE" not in load_engine("copilot").launch(place.request(base_env={})).env


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("claude", "--tools Read,Bash"),
        ("copilot", "--available-tools=Read,Bash(git *)"),
        ("opencode", '{"*": "deny", "Read": "allow", "Bash(git *)": "allow"}'),
        ("gemini", '"tools": {"core": ["Read", "Bash(git *)"]}'),
        ("qwen", '"tools": {"core": ["Read", "Bash(git *)"]}'),
        *((name, "") for name in ("codex", "aider", "cn")),
    ],
)
def test_an_engine_that_can_be_told_gets_its_agents_tools_and_the_others_say_that_they_cannot(
    name: str, told: str, place: Place
) -> None:
    engine = load_engine(name, {})
    assert engine.capabilities.tools is bool(told)

    def all_words(tools: tuple[str, ...]) -> str:
        launch = engine.launch(place.request(tools=tools))
        return " ".join((*launch.argv, *launch.env.values(), *(file.content for file in launch.files)))

    assert told in all_words(("Read", "Bash(git *)"))
    assert not told or told not in all_words(())


@pytest.mark.parametrize("planted", ["link", "pipe", "broken link", "nothing"])
def test_a_file_is_never_written_through_what_is_in_its_place(tmp_path: Path, planted: str) -> None:
    mine, place = tmp_path / "mine", tmp_path / "tmp" / "so-far.md"
    mine.write_text("as it was")
    place.parent.mkdir()
    match planted:
        case "link":
            place.symlink_to(mine)
        case "broken link":
            place.symlink_to(tmp_path / "new")
        case "pipe":
            os.mkfifo(place)
    LaunchFile(place, "the task").write()
    assert (place.read_text(), place.is_symlink(), place.stat().st_mode & 0o777) == ("the task", False, 0o600)
    assert (mine.read_text(), (tmp_path / "new").exists()) == ("as it was", False)
