"""An MCP server for one turn: each CLI is told of it in its own form, and no argument holds what is secret."""

import json
import tomllib
from dataclasses import replace

import pytest

from paddock.engines.protocol import Engine, Launch, ToolServer
from paddock.engines.registry import BUILT_IN, load_engine
from tests.engines.unit.conftest import Place, flag_value

SERVER = ToolServer(
    ("/usr/bin/python3", "-m", "paddock", "mcp"), {"PADDOCK_TOKEN": "t1.1-s3cret", "PADDOCK_DESK": "/d"}
)
TAKING = {"claude", "codex", "gemini", "qwen", "opencode", "copilot"}


@pytest.fixture(params=sorted(BUILT_IN))
def engine(request: pytest.FixtureRequest) -> Engine:
    return load_engine(request.param)


def launch(engine: Engine, place: Place, **base: str) -> Launch:
    request = place.request("Do it")
    return engine.launch(replace(request, tool_server=SERVER, base_env={**request.base_env, **base}))


def written(launch: Launch, name: str) -> dict[str, object]:
    [file] = [one for one in launch.files if one.path.name == name]
    found: dict[str, object] = json.loads(file.content)
    return found


def test_it_is_known_which_can_be_given_one(engine: Engine, place: Place) -> None:
    assert engine.capabilities.mcp is (engine.name in TAKING)
    with_it, without = launch(engine, place), engine.launch(place.request("Do it"))
    told = (with_it.argv, with_it.env, with_it.files) != (without.argv, without.env, without.files)
    assert told is engine.capabilities.mcp


def test_no_argument_holds_its_environment(engine: Engine, place: Place) -> None:
    assert not [word for word in launch(engine, place).argv if "s3cret" in word]


@pytest.mark.parametrize("name", ["claude", "copilot"])
def test_a_file_beside_the_prompt_names_it(name: str, place: Place) -> None:
    started = launch(load_engine(name), place)
    flag = "--mcp-config" if name == "claude" else "--additional-mcp-config"
    path = str(flag_value(started.argv, flag)).removeprefix("@")
    [file] = [one for one in started.files if str(one.path) == path]
    [server] = json.loads(file.content)["mcpServers"].values()
    assert (server["command"], server["args"]) == ("/usr/bin/python3", ["-m", "paddock", "mcp"])
    assert server["env"] == dict(SERVER.env)


def test_claude_takes_no_word_of_the_turn_for_another_file(place: Place) -> None:
    argv = launch(load_engine("claude"), place).argv
    assert argv[argv.index("--mcp-config") + 2].startswith("--")


@pytest.mark.parametrize("name", ["gemini", "qwen"])
def test_gemini_and_qwen_have_it_in_their_lowest_settings(name: str, place: Place) -> None:
    servers = written(launch(load_engine(name), place), f"{name}-defaults.json")["mcpServers"]
    assert isinstance(servers, dict)
    assert (servers["paddock"]["command"], servers["paddock"]["trust"]) == ("/usr/bin/python3", True)


def test_codex_passes_the_variables_on_by_name(place: Place) -> None:
    argv = launch(load_engine("codex"), place).argv
    words = [argv[n + 1] for n, word in enumerate(argv) if word == "-c" and argv[n + 1].startswith("mcp_servers.")]
    [table] = tomllib.loads("\n".join(words))["mcp_servers"].values()
    assert (table["command"], table["args"]) == ("/usr/bin/python3", ["-m", "paddock", "mcp"])
    assert table["env_vars"] == ["PADDOCK_DESK", "PADDOCK_TOKEN"]
    assert table["tool_timeout_sec"] > 600


@pytest.mark.parametrize(
    ("own", "kept"), [("", {}), ('{"theme": "x", "mcp": {"a": {"type": "local"}}}', {"theme": "x"}), ("{broken", None)]
)
def test_opencode_has_it_beside_the_users_own(own: str, kept: dict[str, str] | None, place: Place) -> None:
    text = launch(load_engine("opencode"), place, OPENCODE_CONFIG_CONTENT=own).env["OPENCODE_CONFIG_CONTENT"]
    if kept is None:
        assert text == own
        return
    config = json.loads(text)
    assert config["mcp"]["paddock"]["command"] == list(SERVER.argv)
    assert {key: config[key] for key in kept} == kept
    assert ("a" in config["mcp"]) is bool(own)
