"""The file `paddock init` writes."""

from pathlib import Path

import pytest

from paddock.config.load import load_config
from paddock.config.template import render_config


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
