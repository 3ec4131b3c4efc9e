"""Looking for CLIs, with programs of our own in their place."""

import json
import os
import signal
from pathlib import Path

import pytest

from paddock.core.summary import Final
from paddock.engines.probe import ROUND_TRIP_PROMPT, run_round_trip
from paddock.engines.registry import BUILT_IN, load_engine
from paddock.engines.settings import EngineSettings
from tests.engines.unit.conftest import Place, executable, path_with

OUTSIDE = sorted(set(BUILT_IN) - {"scripted"})


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_missing_cli_is_reported_with_the_way_to_get_it(name: str, tmp_path: Path) -> None:
    probe = load_engine(name).probe({"PATH": str(tmp_path), "HOME": str(tmp_path)})
    assert (probe.installed, probe.version, probe.authenticated) == (False, "", None)
    assert "install" in probe.hints[0]


@pytest.mark.parametrize("name", OUTSIDE)
def test_an_installed_cli_tells_its_version_and_that_nobody_is_logged_in(name: str, tmp_path: Path) -> None:
    path = executable(tmp_path / name, "#!/bin/sh\necho 'the tool 12.3.4-beta. Build 9'\n")
    probe = load_engine(name).probe(path_with(tmp_path))
    assert (probe.path, probe.version) == (path, "12.3.4-beta")
    assert not probe.authenticated
    assert probe.authenticated is None or probe.hints


@pytest.mark.parametrize(("name", "key"), [("claude", "ANTHROPIC_API_KEY"), ("codex", "OPENAI_API_KEY")])
def test_a_key_in_the_environment_or_the_settings_is_a_login(name: str, key: str, tmp_path: Path) -> None:
    executable(tmp_path / name, "#!/bin/sh\necho 1.2.3\n")
    assert load_engine(name).probe(path_with(tmp_path, **{key: "k"})).authenticated
    own = load_engine(name, {name: EngineSettings(set={key: "k"})})
    assert own.probe(path_with(tmp_path)).authenticated


@pytest.mark.parametrize(
    ("name", "file", "variable"),
    [("claude", ".credentials.json", "CLAUDE_CONFIG_DIR"), ("codex", "auth.json", "CODEX_HOME")],
)
def test_a_login_is_found_where_the_cli_keeps_it(name: str, file: str, variable: str, tmp_path: Path) -> None:
    executable(tmp_path / name, "#!/bin/sh\necho 1.2.3\n")
    login = '{"tokens": {"access_token": "secret", "refresh_token": "more"}}'
    executable(tmp_path / f".{name}" / file, login)
    assert load_engine(name).probe(path_with(tmp_path)).authenticated
    executable(tmp_path / "moved" / file, login)
    (tmp_path / f".{name}" / file).unlink()
    assert load_engine(name).probe(path_with(tmp_path, **{variable: str(tmp_path / "moved")})).authenticated
    second = load_engine(name, {name: EngineSettings(set={variable: str(tmp_path / "moved")})})
    assert second.probe(path_with(tmp_path)).authenticated


def test_asking_for_a_version_hands_out_no_secret_of_the_environment(tmp_path: Path) -> None:
    executable(tmp_path / "claude", f"#!/bin/sh\n/usr/bin/env > {tmp_path}/env; echo 1.2.3\n")
    engine = load_engine("claude", {"claude": EngineSettings(env=("CORPORATE_*",), set={"ADDED": "1"})})
    secrets = {"DEPLOY_TOKEN": "canary", "ANTHROPIC_API_KEY": "canary"}
    probe = engine.probe(path_with(tmp_path, CORPORATE_CA="ca", **secrets))
    assert (probe.version, probe.authenticated) == ("1.2.3", True)
    seen = (tmp_path / "env").read_text().splitlines()
    assert {"CORPORATE_CA=ca", "ADDED=1"} <= set(seen)
    assert not [line for line in seen if "canary" in line]


def test_a_cli_that_gives_no_version_is_installed_all_the_same(tmp_path: Path) -> None:
    executable(tmp_path / "claude", "#!/bin/sh\nexit 3\n")
    probe = load_engine("claude").probe(path_with(tmp_path))
    assert (probe.installed, probe.version) == (True, "")
    assert "--version" in probe.hints[0]


def test_another_program_is_looked_for_by_its_own_name(tmp_path: Path) -> None:
    path = executable(tmp_path / "claude-next", "#!/bin/sh\necho 9.9\n")
    engine = load_engine("claude", {"claude": EngineSettings(program=str(path))})
    assert engine.probe(path_with(tmp_path)).path == path


def test_a_round_trip_is_one_whole_turn(place: Place) -> None:
    trip = run_round_trip(load_engine("scripted"), place.request(ROUND_TRIP_PROMPT), 30)
    assert (trip.exit_code, trip.summary.final) == (0, Final.SUCCESS)


def test_a_round_trip_that_hangs_is_ended(place: Place) -> None:
    prompt = f"<<SCRIPT {json.dumps([{'ignore_sigterm': True}, {'hang': True}])} SCRIPT>>"
    trip = run_round_trip(load_engine("scripted"), place.request(prompt), 0.5)
    assert (trip.exit_code, trip.summary.final) == (None, Final.NONE)


def test_a_round_trip_ends_though_a_child_in_a_session_of_its_own_holds_the_pipe(place: Place, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    script = f"echo hello; setsid sh -c 'echo $$ > {pid_file}; exec sleep 600' & exec sleep 600"
    engine = load_engine("sh", {"sh": EngineSettings(command=("sh", "-c", script))})
    for seconds in (1, 10, 60):  # a busy machine has not come to the holding within the first
        trip = run_round_trip(engine, place.request(ROUND_TRIP_PROMPT), seconds)
        if pid_file.exists() and (pid := pid_file.read_text()):
            os.kill(int(pid), signal.SIGKILL)
            break
    assert trip.exit_code is None
    assert trip.summary.last_step == "hello"
