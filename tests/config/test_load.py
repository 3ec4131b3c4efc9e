"""paddock.toml, the environment and flags: what is in force and where it came from."""

import json
import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paddock.config.fields import known_keys
from paddock.config.load import Loaded, load_config
from paddock.config.schema import Agent, Check
from paddock.core.durations import format_duration, parse_duration
from paddock.core.errors import Misuse


def load(top: Path, text: str = "", environment: dict[str, str] | None = None, **flags: str) -> Loaded:
    if text:
        (top / "paddock.toml").write_text(text, encoding="utf-8")
    return load_config(top, environment or {}, {key.replace("__", "."): value for key, value in flags.items()})


def source(loaded: Loaded, key: str) -> str:
    return next(setting.source for setting in loaded.settings if setting.key == key)


def test_without_a_file_the_defaults_are_in_force(tmp_path: Path) -> None:
    loaded = load(tmp_path)
    assert (loaded.path, loaded.config.main, loaded.config.limits.attempts) == (None, "main", 3)
    assert {setting.source for setting in loaded.settings} == {"default"}


def test_each_layer_wins_over_the_one_before_and_is_named(tmp_path: Path) -> None:
    text = '[timeouts]\nturn = "10m"\nsilence = "1m"\ngrace = "5s"\n'
    environment = {"PADDOCK_TIMEOUTS_TURN": "6s", "PADDOCK_TIMEOUTS_SILENCE": "7s"}
    loaded = load(tmp_path, text, environment, timeouts__turn="8s")
    timeouts = loaded.config.timeouts
    assert (timeouts.start, timeouts.grace, timeouts.silence, timeouts.turn) == (120.0, 5.0, 7.0, 8.0)
    keys = ("start", "grace", "silence", "turn")
    assert [source(loaded, f"timeouts.{key}") for key in keys] == [
        "default",
        "paddock.toml",
        "PADDOCK_TIMEOUTS_SILENCE",
        "--set",
    ]


CONTRACT = """
main = "trunk"
[limits]
max_agents = 7
attempts = 2
[timeouts]
start = "90s"
silence = "10m"
turn = "1h30m"
grace = "250ms"
[worktrees]
root = "../elsewhere"
pool = 3
keep = ["node_modules"]
setup = "make setup"
setup_timeout = "5m"
[agents.parser]
engine = "claude"
model = "opus"
brief = "You own the parser."
owns = ["src/parser/**"]
kinds = ["fix"]
[engines.mine]
command = ["mytool", "{prompt}"]
[land]
ci = "make test"
slots = 4
"""


def test_every_key_of_the_contract_is_read(tmp_path: Path) -> None:
    config = load(tmp_path, CONTRACT).config
    assert (config.main, config.limits.max_agents, config.limits.attempts) == ("trunk", 7, 2)
    timeouts = config.timeouts
    assert (timeouts.start, timeouts.silence, timeouts.turn, timeouts.grace) == (90.0, 600.0, 5400.0, 0.25)
    trees = config.worktrees
    assert (trees.root, trees.pool, trees.keep, trees.setup) == ("../elsewhere", 3, ("node_modules",), "make setup")
    assert trees.setup_timeout == 300.0
    agent = config.agents["parser"]
    assert (agent.engine, agent.model, agent.owns, agent.kinds) == ("claude", "opus", ("src/parser/**",), ("fix",))
    assert agent.brief == "You own the parser."
    assert config.engines["mine"].command == ("mytool", "{prompt}")
    assert (config.land.ci, config.land.slots) == ("make test", 4)


@pytest.mark.parametrize(
    ("variable", "value", "key", "expected"),
    [
        ("PADDOCK_MAIN", "trunk", "main", "trunk"),
        ("PADDOCK_LAND_SLOTS", "4", "land.slots", 4),
        ("PADDOCK_WORKTREES_KEEP", "a, b", "worktrees.keep", ("a", "b")),
        ("PADDOCK_WORKTREES_ISOLATE_HOME", "yes", "worktrees.isolate_home", True),
        ("PADDOCK_WORKTREES_SETUP_TIMEOUT", "2m", "worktrees.setup_timeout", 120.0),
        ("PADDOCK_AGENTS_MAY_ADD", "true", "agents.may_add", True),
        ("PADDOCK_AGENTS_PARSER_MODEL", "opus", "agents.parser.model", "opus"),
        ("PADDOCK_ENGINES_MY_TOOL_COMMAND", "x,{prompt}", "engines.my-tool.command", ("x", "{prompt}")),
        ("PADDOCK_LAND_ENV", "A=1,B=2", "land.env", {"A": "1", "B": "2"}),
        ("PADDOCK_LAND_ENV", '{"A": "1,2"}', "land.env", {"A": "1,2"}),
        ("PADDOCK_LAND_NOTIFY", '["sh", "-c", "echo a, b"]', "land.notify", ("sh", "-c", "echo a, b")),
        ("PADDOCK_LAND_CHECKS", '[{"name": "a", "run": "b"}]', "land.checks", (Check(name="a", run="b"),)),
    ],
)
def test_any_key_can_be_set_from_the_environment(
    tmp_path: Path, variable: str, value: str, key: str, expected: object
) -> None:
    loaded = load(tmp_path, '[engines.my-tool]\ncommand = ["x"]\n', {variable: value})
    found = {setting.key: (setting.value, setting.source) for setting in loaded.settings}
    assert found[key] == (expected, variable)


def test_agents_have_keys_of_their_own_beside_the_tables(tmp_path: Path) -> None:
    text = "[agents]\nmay_add = true\n[agents.parser]\nmodel = 'opus'\n[agents.may_not]\nmodel = 'x'\n"
    loaded = load(tmp_path, text, {})
    assert loaded.config.agent_rights.may_add
    assert list(loaded.config.agents) == ["parser", "may_not"]
    assert source(loaded, "agents.may_add") == "paddock.toml"
    assert not load(tmp_path, "[agents.may_add]\nmodel = 'x'\n", {}).config.agent_rights.may_add


def test_keys_beside_named_tables_take_durations(tmp_path: Path) -> None:
    text = "[alerts]\ngone = '5m'\nmost_open = 30\n[alerts.stuck]\nwindow = '15m'\n"
    config = load(tmp_path, text, {}).config
    assert (config.alert_settings.gone, config.alert_settings.most_open) == (300.0, 30)
    assert config.alerts["stuck"].window == 900.0


@pytest.mark.parametrize(
    "key", [key for key in known_keys() if not key.startswith(("agents.", "engines.")) and key != "land.checks"]
)
def test_every_plain_key_has_a_variable(tmp_path: Path, key: str) -> None:
    """A value that no key takes is refused in the variable's name, or taken as text."""
    variable = f"PADDOCK_{key.replace('.', '_').upper()}"
    try:
        loaded = load(tmp_path, "", {variable: "no=such"})
    except Misuse as refusal:
        told = refusal.message
    else:
        told = source(loaded, key)
    assert told.startswith(variable)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ('mian = "x"', "paddock.toml: unknown key `mian`", "did you mean `main`?"),
        ("[limit]\nattempts = 1", "paddock.toml: unknown key `limit`", "did you mean `limits`?"),
        ("[limits]\nmax_agent = 1", "paddock.toml: unknown key `limits.max_agent`", "did you mean `max_agents`?"),
        ("turn = 3", "paddock.toml: unknown key `turn`", "did you mean `timeouts.turn`?"),
        ("[agents.x]\nengin = 'a'", "paddock.toml: unknown key `agents.x.engin`", "did you mean `engine`?"),
        ("[limits]\nattempts = 0", "paddock.toml: `limits.attempts`: Expected `int` >= 1", None),
        ("[limits]\nattempts = 'x'", "paddock.toml: `limits.attempts`: Expected `int`, got `str`", None),
        ("[timeouts]\nturn = 'soon'", "paddock.toml: `timeouts.turn`: `soon` is not a duration", None),
        ("[timeouts]\nturn = -1", "paddock.toml: `timeouts.turn`: -1 seconds is not between 0 and a year", None),
        ("[timeouts]\nturn = nan", "paddock.toml: `timeouts.turn`: nan seconds is not between", None),
        ("[timeouts]\nturn = inf", "paddock.toml: `timeouts.turn`: inf seconds is not between", None),
        ("[timeouts]\nturn = true", "paddock.toml: `timeouts.turn`: Expected `float`, got `bool`", None),
        ("limits = 3", "paddock.toml: `limits`: Expected `object`, got `int`", None),
        ("[agents]\nmay_add = 3", "paddock.toml: `agents.may_add`: Expected `bool`, got `int`", None),
        ("[agents]\nfresh = true", "paddock.toml: `agents.fresh`: Expected `object`", "`[limits] fresh = true`"),
        ("agents = 3", "paddock.toml: `agents`: Expected `object`, got `int`", None),
        ("[land]\npolicy = 'yolo'", "paddock.toml: `land.policy`: `yolo` is not one of merge, squash, rebase", None),
        (
            "[engines.a]\ncommand = ['a']\n[engines.b]\nformat = 'json'",
            "paddock.toml: `engines.b.format`: `json` is not one of text, claude-stream, codex-jsonl",
            None,
        ),
        ("[land]\nengine = 'x'", "unknown key `land.engine`", "`engine` belongs at the top of the file"),
        ("[fence]\nagents = 'none'", "unknown key `fence.agents`", "`[agents]` is a section of its own"),
        ("[alerts.stuck]\nlimits = 2", "unknown key `alerts.stuck.limits`", "did you mean `limit`?"),
        ("[alerts.stuck]\nseverity = 'Page'", "`Page` is not one of page, ticket, notice", None),
        ("[alerts.stuck]\nlimit = 2.5", "`alerts.stuck.limit`: it must be a whole number", None),
        ("[alerts]\nstuck = false", "`alerts.stuck`: Expected `object`", "write `[alerts.stuck]`"),
        ("[notify]\nabout = ['pages']", "`notify.about[0]`: `pages` is not one of ", None),
        ("[prices.m]\ninput = 3", "paddock.toml: `prices.m`: Object missing required field `output`", None),
        ("main = \n[limits]", "paddock.toml: Invalid value (at line 1, column 8)", None),
        ("a\x00b", "paddock.toml: Expected '=' after a key in a key/value pair (at line 1, column 2)", None),
    ],
)
def test_a_mistake_in_the_file_is_misuse_with_its_place(
    tmp_path: Path, text: str, message: str, hint: str | None
) -> None:
    with pytest.raises(Misuse) as refused:
        load(tmp_path, text, {"PADDOCK_LIMITS_MAX_AGENTS": "2", "PADDOCK_AGENTS_X_MODEL": "y"})
    assert message in refused.value.message.replace(f"{tmp_path}{os.sep}", "")
    if hint:
        assert hint in str(refused.value.hint)


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("PADDOCK_TIMEOUTS_TURN", "soon", "PADDOCK_TIMEOUTS_TURN: `timeouts.turn`: `soon` is not a duration"),
        ("PADDOCK_LIMITS_ATTEMPTS", "x", "PADDOCK_LIMITS_ATTEMPTS: `x` is not a whole number"),
        ("PADDOCK_LIMITS_ATTEMPTS", "0", "PADDOCK_LIMITS_ATTEMPTS: `limits.attempts`: Expected `int` >= 1"),
        ("PADDOCK_WORKTREES_ISOLATE_HOME", "maybe", "`maybe` is neither true nor false"),
        ("PADDOCK_LAND_ENV", "A=1,B", "PADDOCK_LAND_ENV: `B` is not NAME=VALUE"),
        ("PADDOCK_LAND_NOTIFY", '["sh"', 'PADDOCK_LAND_NOTIFY: `["sh"` is not a JSON list'),
        ("PADDOCK_LAND_CHECKS", "make test", "PADDOCK_LAND_CHECKS: `make test` is not a JSON list"),
        ("PADDOCK_LAND_CHECKS", '[{"nam": "a"}]', "PADDOCK_LAND_CHECKS: unknown key `land.checks.nam`"),
        ("PADDOCK_LAND_CHECKS", '[{"name": "a"}]', "PADDOCK_LAND_CHECKS: `land.checks"),
        ("PADDOCK_PRICES_M_INPUT", "3", "PADDOCK_PRICES_M_INPUT: `prices.m`: Object missing required field `output`"),
    ],
)
def test_a_mistake_in_the_environment_names_the_variable(
    tmp_path: Path, variable: str, value: str, message: str
) -> None:
    with pytest.raises(Misuse) as refused:
        load(tmp_path, "", {variable: value})
    assert message in refused.value.message


def test_a_variable_that_sets_nothing_is_a_warning_and_others_are_left_alone(tmp_path: Path) -> None:
    environment = {"PADDOCK_TIMEOUTS_TRUN": "6s", "PADDOCK_TIMEOUT_TURN": "6s", "PADDOCK_ATTEMPT": "t1.1"}
    others = {"PADDOCK_DEBUG": "1", "PADDOCK_LEASE": "x", "PADDOCK_CHECK": "y", "PADDOCK_HOUSE": "z"}
    assert load(tmp_path, "", environment | others).warnings == (
        "PADDOCK_TIMEOUTS_TRUN matches no setting; did you mean PADDOCK_TIMEOUTS_TURN?",
        "PADDOCK_TIMEOUT_TURN matches no setting; did you mean PADDOCK_TIMEOUTS_TURN?",
    )


def test_an_unknown_flag_is_misuse(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match=r"--set: unknown key `limits\.speed`"):
        load(tmp_path, limits__speed="9")


def test_a_file_that_is_no_text_is_misuse(tmp_path: Path) -> None:
    (tmp_path / "paddock.toml").write_bytes(b'main = "\xff"')
    with pytest.raises(Misuse, match="byte 8 is not UTF-8"):
        load_config(tmp_path, {})


def test_an_agent_file_claude_understands_stops_nothing_though_it_is_no_yaml(tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "agents"
    folder.mkdir(parents=True)
    says = 'Use it for reviews. Examples: <example>Context: user: "look"</example>'
    (folder / "critic.md").write_text(f"---\nname: reviewer\ndescription: {says}\nmodel: opus\n---\nYou review.\n")
    agents = load_config(tmp_path, {}).config.agents
    assert agents == {"reviewer": Agent(engine="claude", model="opus", brief="You review.", description=says)}


@pytest.mark.parametrize("front", ["name: a: b", "name: 2026-13-40", "name: \x07", "[" * 5000])
def test_an_agent_file_of_ours_that_is_no_yaml_is_named(tmp_path: Path, front: str) -> None:
    folder = tmp_path / ".paddock" / "agents"
    folder.mkdir(parents=True)
    (folder / "critic.md").write_text(f"---\n{front}\n---\nYou review.\n")
    with pytest.raises(Misuse, match=r"^\.paddock/agents/critic\.md:"):
        load_config(tmp_path, {})


def test_agents_are_read_from_markdown_and_the_file_wins(tmp_path: Path) -> None:
    ours, claudes = tmp_path / ".paddock" / "agents", tmp_path / ".claude" / "agents"
    ours.mkdir(parents=True)
    claudes.mkdir(parents=True)
    (ours / "docs.md").write_text("---\nowns: docs/**, README.md\nmodel: opus\n---\nYou write docs.\n")
    (claudes / "review.md").write_text("---\nname: reviewer\nmodel: inherit\ntools: Read\n---\nYou review.\n")
    (claudes / "docs.md").write_text("Ignored: another of that name comes first.\n")
    loaded = load(tmp_path, '[agents.plain]\nbrief = "x"\n')
    agents = loaded.config.agents
    assert set(agents) == {"plain", "docs", "reviewer"}
    assert (agents["docs"].owns, agents["docs"].brief) == (("docs/**", "README.md"), "You write docs.")
    assert (agents["reviewer"].engine, agents["reviewer"].model) == ("claude", "")
    assert source(loaded, "agents.docs.model") == ".paddock/agents/docs.md"


def test_broken_front_matter_names_file_line_and_column(tmp_path: Path) -> None:
    folder = tmp_path / ".paddock" / "agents"
    folder.mkdir(parents=True)
    (folder / "bad.md").write_text("---\nowns: [a\n---\nx\n")
    with pytest.raises(Misuse, match=r"^\.paddock/agents/bad\.md:\d+:\d+: "):
        load(tmp_path)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90.0), ("10m", 600.0), ("1h30m", 5400.0), ("250ms", 0.25), ("1d", 86400.0), ("0s", 0.0)],
)
def test_durations_are_read_as_people_write_them(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "5", "m", "-3s", "1y", "1h30", "9999d", "1e3s", "∞s"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a duration|longer than a year"):
        parse_duration(text)


@given(st.integers(0, 300 * 86400))
def test_a_shown_duration_reads_back_to_within_its_two_units(seconds: int) -> None:
    shown = parse_duration(format_duration(float(seconds)))
    assert abs(shown - seconds) <= max(60, seconds // 24)


plain = st.booleans() | st.integers(-5, 5) | st.floats() | st.text("abc 1s", max_size=5)
words = st.sampled_from([*dict.fromkeys(part for key in known_keys() for part in key.split(".")), "x"])
trees = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4), max_leaves=12
)


def toml(value: object) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{key} = {toml(entry)}" for key, entry in value.items()) + "}"
        case list():
            return "[" + ", ".join(toml(entry) for entry in value) + "]"
        case str() | bool():
            return json.dumps(value)
        case _:
            return repr(value)


@settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(tree=st.dictionaries(words, trees, max_size=4), variable=words, value=st.text("a1.,=-", max_size=5))
def test_whatever_the_file_holds_it_loads_or_is_misuse(
    tmp_path: Path, tree: dict[str, object], variable: str, value: str
) -> None:
    text = "".join(f"{key} = {toml(entry)}\n" for key, entry in tree.items())
    for section in ("LIMITS", "LAND", "AGENTS_X", "ENGINES_Y", "TIMEOUTS"):
        with suppress(Misuse):
            load(tmp_path, text, {f"PADDOCK_{section}_{variable.upper()}": value})


@pytest.mark.parametrize(
    ("gate", "problem", "hint"),
    [
        ('name = "big"', "gate `big` has no condition", "set `paths`, `kinds`, `agents`, `files` or `lines`"),
        ("", "gate number 1 has no condition", '`approval = "human"` stops every change'),
        ('agents = ["fixr"]', "names the agent `fixr`, which does not exist", "did you mean `fixer`?"),
    ],
)
def test_a_gate_that_nothing_or_everything_would_meet_is_refused(
    tmp_path: Path, gate: str, problem: str, hint: str
) -> None:
    with pytest.raises(Misuse) as refusal:
        load(tmp_path, f"[agents.fixer]\nowns = []\n[[land.gate]]\n{gate}\n")
    assert refusal.value.message.startswith("paddock.toml: `land.gate`: ")
    assert problem in refusal.value.message
    assert hint in (refusal.value.hint or "")


def test_a_gate_may_stop_a_change_of_any_size(tmp_path: Path) -> None:
    assert load(tmp_path, "[[land.gate]]\nfiles = 0\n").config.land.gate[0].files == 0


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (("ruff", "ruff"), "two checks are named `ruff`"),
        (("accept",), "a check cannot be named `accept`: that is what a task's acceptance is called"),
    ],
)
def test_checks_of_changes_are_told_apart_by_their_names(tmp_path: Path, names: tuple[str, ...], problem: str) -> None:
    text = "".join(f'[[review.checks]]\nname = "{name}"\nrun = "true"\n' for name in names)
    (tmp_path / "paddock.toml").write_text(text)
    with pytest.raises(Misuse, match=problem):
        load_config(tmp_path, {})
