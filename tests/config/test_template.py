"""The file `paddock init` writes, and its guess at the command that runs the tests."""

from pathlib import Path

import pytest

from paddock.config.load import load_config
from paddock.config.template import guess_ci, render_config

PYTEST = {"pyproject.toml": "[tool.pytest.ini_options]\n"}


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({}, ""),
        ({"Makefile": "build:\n\ttrue\ntest: build\n\ttrue\n"}, "make test"),
        ({"Makefile": "check:\n\ttrue\n"}, "make check"),
        ({"Makefile": "test := 1\nbuild:\n\ttrue\n"}, ""),
        ({"package.json": '{"scripts": {"test": "vitest"}}'}, "npm test"),
        ({"package.json": '{"scripts": {"test": "vitest"}}', "pnpm-lock.yaml": ""}, "pnpm test"),
        ({"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'}, ""),
        ({"package.json": "[1]"}, ""),
        ({"package.json": "{"}, ""),
        ({"Cargo.toml": ""}, "cargo test"),
        ({"go.mod": ""}, "go test ./..."),
        (PYTEST, "python -m pytest"),
        ({"pytest.ini": ""}, "python -m pytest"),
        ({"pyproject.toml": '[project]\noptional-dependencies.test = ["pytest>=8"]'}, "python -m pytest"),
        ({"pyproject.toml": '[dependency-groups]\ndev = ["ruff", "pytest"]'}, "python -m pytest"),
        ({"pyproject.toml": '[project]\nname = "pytes"\ndependencies = ["nopytest"]'}, ""),
        ({"pyproject.toml": "", "tests/test_x.py": ""}, "python -m pytest"),
        ({"pyproject.toml": "tool = 3"}, ""),
        ({"pyproject.toml": "not toml"}, ""),
        ({"Makefile": "test:\n\ttrue\n", "Cargo.toml": ""}, "make test"),
    ],
)
def test_the_test_command_is_guessed_from_what_the_repository_has(
    tmp_path: Path, files: dict[str, str], command: str
) -> None:
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert guess_ci(tmp_path) == command


@pytest.mark.parametrize("main", ["main", "größe", "weird'\"\\name", "🐎/x"])
@pytest.mark.parametrize("ci", ["", "make test", "sh -c 'a && \"b\"'", "echo 🐎 \x7f"])
@pytest.mark.parametrize("engines", [[], ["claude", "codex"]])
def test_what_init_writes_is_read_back_without_a_complaint(
    tmp_path: Path, main: str, ci: str, engines: list[str]
) -> None:
    (tmp_path / "paddock.toml").write_text(render_config(main, ci, engines), encoding="utf-8")
    loaded = load_config(tmp_path, {})
    assert (loaded.config.main, loaded.config.land.ci, loaded.warnings) == (main, ci, ())
    assert loaded.config.engine == (engines[0] if engines else "")


def test_the_written_file_states_the_defaults(tmp_path: Path) -> None:
    defaults = load_config(None, {}).config
    (tmp_path / "paddock.toml").write_text(render_config("main", "", []))
    assert load_config(tmp_path, {}).config == defaults
