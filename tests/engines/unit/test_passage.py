"""What of the user's environment reaches each CLI."""

import pytest

from paddock.engines.registry import load_engine
from paddock.engines.settings import EngineSettings
from tests.engines.unit.conftest import Place

SECRETS = {
    "AWS_ACCESS_KEY_ID": "a",
    "AWS_PROFILE": "p",
    "CLOUD_ML_REGION": "r",
    "GOOGLE_APPLICATION_CREDENTIALS": "/key.json",
}
AWS, GOOGLE = {"AWS_ACCESS_KEY_ID", "AWS_PROFILE"}, {"CLOUD_ML_REGION", "GOOGLE_APPLICATION_CREDENTIALS"}


def passed(place: Place, name: str, model: str = "", **environment: str) -> set[str]:
    engine = load_engine(name, {name: EngineSettings(model=model)})
    request = place.request("x", base_env={**SECRETS, **environment})
    return set(engine.launch(request).env) & (set(SECRETS) | set(environment))


@pytest.mark.parametrize(
    "name", ["claude", "codex", "aider", "opencode", "gemini", "qwen", "copilot", "cn", "scripted"]
)
def test_a_clouds_credentials_stay_home_unless_that_cloud_is_chosen(name: str, place: Place) -> None:
    assert passed(place, name) == set()


@pytest.mark.parametrize(
    ("name", "flag", "names"),
    [
        ("claude", "CLAUDE_CODE_USE_BEDROCK", AWS),
        ("claude", "CLAUDE_CODE_USE_VERTEX", GOOGLE),
        ("gemini", "GOOGLE_GENAI_USE_VERTEXAI", GOOGLE),
        ("qwen", "GOOGLE_GENAI_USE_VERTEXAI", GOOGLE),
    ],
)
def test_a_variable_chooses_a_cloud_and_only_when_it_is_on(name: str, flag: str, names: set[str], place: Place) -> None:
    assert passed(place, name, **{flag: "1"}) == {flag, *names}
    assert passed(place, name, **{flag: "true"}) == {flag, *names}
    assert passed(place, name, **{flag: "0"}) == {flag}
    assert passed(place, name, **{flag: "false"}) == {flag}


def test_a_flag_in_the_engines_own_table_counts(place: Place) -> None:
    engine = load_engine("claude", {"claude": EngineSettings(set={"CLAUDE_CODE_USE_BEDROCK": "1"})})
    assert set(engine.launch(place.request("x", base_env=SECRETS)).env) >= AWS


@pytest.mark.parametrize(
    ("name", "model", "names"),
    [
        ("aider", "bedrock/anthropic.claude-opus-5-5", AWS),
        ("aider", "vertex_ai/gemini-2.5-pro", GOOGLE),
        ("aider", "anthropic/claude-opus-5-5", set()),
        ("opencode", "amazon-bedrock/anthropic.claude-opus-5-5", AWS),
        ("opencode", "google-vertex/gemini-2.5-pro", GOOGLE),
    ],
)
def test_the_model_chooses_a_cloud_where_no_variable_does(name: str, model: str, names: set[str], place: Place) -> None:
    assert passed(place, name, model) == names


def test_a_gateway_of_anthropics_kind_reaches_aider(place: Place) -> None:
    assert passed(place, "aider", ANTHROPIC_BASE_URL="http://gateway") == {"ANTHROPIC_BASE_URL"}
