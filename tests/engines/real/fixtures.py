"""Fixtures for tests that drive real agent CLIs. A conftest elsewhere imports the ones it needs by name.

PADDOCK_TEST_ENGINES names the CLIs to drive (`claude,codex` when unset, `all` for every one); tests marked
`engine(NAME)` for others are deselected.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from paddock.engines.registry import load_engine
from paddock.engines.settings import EngineSettings
from tests.engines.real.agents import RealAgent, Workplace, build_workplace
from tests.engines.real.install import PINNED, find, install
from tests.mockmodel import MockModel

ORDINARY_ENGINES = "claude,codex,claude-agent-acp,codex-acp"
MODELS = {
    "codex": "mock",
    "aider": "openai/mock",
    "opencode": "mock/mock",
    "gemini": "gemini-2.5-pro",
    "qwen": "mock",
    "copilot": "mock",
}
CN_CONFIG = """name: mock
version: 1.0.0
schema: v1
models:
  - name: mock
    provider: openai
    model: mock
    apiKey: mock-key
    apiBase: {base_url}/v1
    roles: [chat]
"""


def selected_engines() -> frozenset[str]:
    wanted = os.environ.get("PADDOCK_TEST_ENGINES", ORDINARY_ENGINES)
    return frozenset(PINNED if wanted == "all" else (name.strip() for name in wanted.split(",")))


def deselect_other_engines(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of engines nobody asked for; for use in `pytest_collection_modifyitems`."""
    chosen = selected_engines()
    left_out = [item for item in items if any(mark.args[0] not in chosen for mark in item.iter_markers("engine"))]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def provide_cli(name: str) -> Path:
    """The pinned program: installed when CI is true, else skipped when missing."""
    program = find(name)
    if program is not None:
        return program
    if os.environ.get("CI", "").lower() == "true":
        return install(name)
    pytest.skip(f"{name} {PINNED[name].version} is not installed for tests: run `make engines`")


def provider_of(name: str, base_url: str) -> tuple[tuple[str, str], ...]:
    """The variables that point a CLI at the mock model."""
    match name:
        case "claude" | "claude-agent-acp":
            return (("ANTHROPIC_BASE_URL", base_url), ("ANTHROPIC_API_KEY", "mock-key"))
        case "gemini":
            return (("GOOGLE_GEMINI_BASE_URL", base_url), ("GEMINI_API_KEY", "mock-key"))
        case "opencode":
            return (("OPENCODE_CONFIG_CONTENT", json.dumps(_opencode_config(base_url))),)
        case "copilot":
            return (("COPILOT_PROVIDER_BASE_URL", f"{base_url}/v1"), ("COPILOT_PROVIDER_API_KEY", "mock-key"))
    key = ("OPENAI_API_KEY", "mock-key")
    return (("OPENAI_BASE_URL", f"{base_url}/v1"), ("OPENAI_API_BASE", f"{base_url}/v1"), key)


def arguments_of(name: str, base_url: str, folder: Path) -> tuple[str, ...]:
    """The arguments without which a CLI would not know the mock model; their files go to `folder`."""
    if name != "cn":
        return ()
    file = folder / "continue.yaml"
    file.write_text(CN_CONFIG.format(base_url=base_url))
    return ("--config", str(file))


def acp_words(name: str, program: Path, base_url: str) -> tuple[str, ...]:
    """The `acp` of an engine, pointed at the mock model."""
    if name != "codex-acp":
        return (str(program),)
    provider = f'{{name="mock",base_url="{base_url}/v1",env_key="OPENAI_API_KEY",wire_api="responses"'
    overrides = (
        'model="mock"',
        'model_provider="mock"',
        f"model_providers.mock={provider},request_max_retries=0,stream_max_retries=1}}",
        'sandbox_mode="danger-full-access"',
        "analytics.enabled=false",
    )
    return (str(program), *(word for override in overrides for word in ("-c", override)))


def engine_table(name: str, program: Path, base_url: str, folder: Path) -> str:
    """The `[engines.NAME]` of a paddock.toml for the pinned program; it needs the variables of `provider_of` too."""
    if name.endswith("-acp"):
        return f"[engines.{name}]\nacp = {json.dumps(acp_words(name, program, base_url))}\n"
    lines = [f"[engines.{name}]", f"program = {json.dumps(str(program))}"]
    lines += [f"model = {json.dumps(MODELS[name])}"] if name in MODELS else []
    arguments = arguments_of(name, base_url, folder)
    lines += [f"args = {json.dumps(arguments)}"] if arguments else []
    return "".join(f"{line}\n" for line in lines)


def _opencode_config(base_url: str) -> dict[str, object]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{base_url}/v1", "apiKey": "mock-key"},
        "models": {"mock": {"name": "mock"}},
    }
    return {"provider": {"mock": provider}, "share": "disabled"}


@pytest.fixture
def mock_model() -> Iterator[MockModel]:
    with MockModel() as model:
        yield model


@pytest.fixture
def workplace(tmp_path: Path) -> Workplace:
    return build_workplace(tmp_path)


@pytest.fixture
def real_cli() -> Callable[[str], Path]:
    return provide_cli


@pytest.fixture
def real_agent(
    mock_model: MockModel, workplace: Workplace, real_cli: Callable[[str], Path]
) -> Callable[[str], RealAgent]:
    """Makes an agent of the named CLI, at work in `workplace`, with `mock_model` as its provider."""

    def make(name: str) -> RealAgent:
        if name.endswith("-acp"):
            words = acp_words(name, real_cli(name), mock_model.base_url)
            engine = load_engine(name, {name: EngineSettings(acp=words, permissions="allow")})
            return RealAgent(engine, workplace, provider_of(name, mock_model.base_url), None)
        arguments = arguments_of(name, mock_model.base_url, workplace.folder)
        engine = load_engine(name, {name: EngineSettings(program=str(real_cli(name)), args=arguments)})
        return RealAgent(engine, workplace, provider_of(name, mock_model.base_url), MODELS.get(name))

    return make
