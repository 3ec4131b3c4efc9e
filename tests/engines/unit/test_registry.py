"""From names to engines."""

import subprocess
import sys
from pathlib import Path

import pytest

from paddock.core.errors import Misuse, PaddockError
from paddock.engines.registry import BUILT_IN, engine_names, load_engine
from paddock.engines.settings import EngineSettings
from tests.engines.unit.conftest import Place


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_every_built_in_engine_loads_under_its_name(name: str) -> None:
    assert load_engine(name).name == name


@pytest.mark.parametrize(("wrong", "right"), [("cluade", "claude"), ("code", "codex"), ("gemeni", "gemini")])
def test_an_unknown_engine_names_the_nearest(wrong: str, right: str) -> None:
    with pytest.raises(Misuse, match=wrong) as caught:
        load_engine(wrong)
    assert caught.value.hint == f"did you mean `{right}`?"


def test_an_engine_like_no_other_lists_those_there_are() -> None:
    with pytest.raises(Misuse) as caught:
        load_engine("zzzzzz", {"mine": EngineSettings(command=("x",))})
    assert "claude" in (caught.value.hint or "")
    assert "mine" in (caught.value.hint or "")


def test_a_second_set_up_of_an_engine_has_a_name_of_its_own(place: Place) -> None:
    settings = {"claude-work": EngineSettings(like="claude", set={"CLAUDE_CONFIG_DIR": "/second"})}
    engine = load_engine("claude-work", settings)
    assert engine.name == "claude-work"
    launch = engine.launch(place.request())
    assert (launch.argv[0], launch.env["CLAUDE_CONFIG_DIR"]) == ("claude", "/second")


def test_a_command_may_take_the_name_of_a_built_in_engine(place: Place) -> None:
    engine = load_engine("aider", {"aider": EngineSettings(command=("my-aider", "{prompt}"))})
    assert engine.launch(place.request("P")).argv == ("my-aider", "P")


def test_a_table_that_says_nothing_to_run_is_refused() -> None:
    with pytest.raises(Misuse, match="sets none of `command`") as caught:
        load_engine("mine", {"mine": EngineSettings(model="m")})
    assert "command" in (caught.value.hint or "")


def test_an_engine_like_an_unknown_one_is_refused_by_that_name() -> None:
    with pytest.raises(Misuse, match="cluade"):
        load_engine("mine", {"mine": EngineSettings(like="cluade")})


def install_plugin(site: Path, target: str) -> None:
    (site / "acme_engine.py").write_text(
        "from paddock.engines.command import CommandEngine\n"
        "from paddock.engines.settings import EngineSettings\n"
        "def make(name, settings):\n"
        "    return CommandEngine(name, EngineSettings(command=('acme', '{prompt}'), env=settings.env))\n"
    )
    info = site / "acme_engine-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-engine\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[paddock.engines]\nacme = {target}\n")


def test_a_package_may_bring_an_engine(tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    install_plugin(tmp_path, "acme_engine:make")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "acme" in engine_names()
    assert load_engine("acme").launch(place.request("P")).argv == ("acme", "P")


def test_a_package_whose_engine_does_not_load_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_plugin(tmp_path, "acme_engine:missing")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(PaddockError, match="acme_engine:missing"):
        load_engine("acme")


def test_names_are_built_in_ones_then_configured_ones() -> None:
    names = engine_names({"mine": EngineSettings(command=("x",)), "claude": EngineSettings()})
    assert names[: len(BUILT_IN)] == tuple(BUILT_IN)
    assert names.count("claude") == 1
    assert "mine" in names


def test_loading_one_engine_imports_no_other() -> None:
    program = (
        "import sys\nfrom paddock.engines.registry import load_engine\nload_engine('codex')\n"
        "print([name for name in sys.modules if name.endswith(('.claude', '.gemini', '.aider'))])"
    )
    done = subprocess.run((sys.executable, "-c", program), cwd="/", capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
