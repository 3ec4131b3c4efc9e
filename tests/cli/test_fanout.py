"""`paddock fanout`: the arithmetic, shown."""

import pytest

from tests.cli.conftest import Cli


@pytest.mark.parametrize(
    ("count", "seconds", "spawn"), [(10, 60, 90), (2, 90, 90), (2, 91, 90), (3, 45, 90), (3, 46, 90), (1, 600, 1)]
)
def test_equal_pieces_with_unlimited_slots_fan_out_exactly_when_they_save_more_than_a_spawn(
    fresh: Cli, count: int, seconds: int, spawn: int
) -> None:
    words = ("fanout", "--n", str(count), "--t", f"{seconds}s", "--spawn", f"{spawn}s", "--json")
    said = fresh.good(*words).json()
    assert said["fan_out"] is ((count - 1) * seconds > spawn)
    assert said["agents"] == (count if said["fan_out"] else 1)


def test_with_slots_the_longest_share_counts(fresh: Cli) -> None:
    said = fresh.good("fanout", "--n", "10", "--t", "60s", "--spawn", "90s", "--slots", "8", "--json").json()
    # Five agents are as quick as eight: two pieces each either way.
    assert (said["agents"], said["chosen"]["wall_seconds"], said["serial"]["wall_seconds"]) == (5, 210, 600)
    assert sorted(len(share) for share in said["chosen"]["shares"]) == [2, 2, 2, 2, 2]


def test_the_arithmetic_is_told_in_words(fresh: Cli) -> None:
    said = fresh.good("fanout", "--n", "10", "--t", "60s", "--spawn", "90s").out
    assert said.startswith("10 agents: 2m30s, one agent alone 10m\n")
    assert "  (N−1)·t = 9m > 1m30s to spawn\n" in said
    assert "  done 7m30s sooner\n" in said
    refused = fresh.good("fanout", "--n", "2", "--t", "60s", "--spawn", "90s").out
    assert refused.startswith("one agent, one piece after another: 2m\n")
    assert "  (N−1)·t = 1m ≤ 1m30s to spawn\n" in refused


def test_explain_lists_every_number_of_agents(fresh: Cli) -> None:
    lines = fresh.good("fanout", "--n", "4", "--t", "60s", "--spawn", "10s", "--explain").out.splitlines()
    assert [line.split()[0] for line in lines[-2:]] == ["2", "4"]


def test_dear_starts_are_weighed_against_the_time_they_save(cli: Cli) -> None:
    words = ("fanout", "--n", "10", "--t", "60s", "--spawn", "30s", "--usd", "0.50")
    agents = [cli.good(*words, "--hour-usd", hour, "--json").json()["agents"] for hour in ("0", "1000", "60", "1")]
    assert agents == [10, 10, 5, 1], "money no object, hardly one, a real one, and nothing else matters"
    config = cli.top / "paddock.toml"
    config.write_text(config.read_text().replace("[limits]\n", "[limits]\nhour_usd = 1\n"))
    assert cli.good(*words, "--json").json()["agents"] == 1
    cli.monkeypatch.setenv("PADDOCK_LIMITS_HOUR_USD", "60")
    said = cli.good(*words, "--explain").out
    assert said.startswith("5 agents: 2m30s, one agent alone 10m\n")
    assert "  4 more starts cost as much as 2m at $60.00 an hour\n" in said
    assert "an hour counts as $60.00 (limits.hour_usd)\n" in said


def test_tokens_may_be_what_is_scarce(fresh: Cli) -> None:
    words = ("fanout", "--n", "4", "--t", "60s", "--spawn", "30s", "--tokens", "41000", "--json")
    assert fresh.good(*words).json()["agents"] == 4
    assert fresh.good(*words, "--hour-tokens", "1000000").json()["agents"] == 1


def test_what_tasks_cost_is_weighed_before_anything_is_learnt(cli: Cli) -> None:
    with (cli.top / "paddock.toml").open("a") as file:
        file.write('[engines.dear]\ncommand = ["true"]\nmodel = "gpt-5-pro"\n')
    for number in range(2):
        cli.good("add", f"Task {number}", "--engine", "dear")
    said = cli.good("fanout", "--json").json()
    assert said["plans"][0]["extra_money"] == pytest.approx(41_000 * 15 / 1e6)
    assert cli.good("fanout", "--hour-usd", "1", "--json").json()["agents"] == 1


def test_tasks_that_are_ready_are_meant_when_nothing_is_named(cli: Cli) -> None:
    said = cli("fanout")
    assert (said.code, "no task is ready" in said.err) == (1, True)
    with (cli.top / "paddock.toml").open("a") as file:
        file.write('[engines.mine]\ncommand = ["true"]\n')
    for number in range(3):
        cli.good("add", f"Task {number}", "--engine", "mine")
    every = cli.good("fanout", "--json").json()
    assert sorted(name for share in every["chosen"]["shares"] for name in share) == ["t1", "t2", "t3"]
    assert every["serial"]["wall_seconds"] == 1800, "ten minutes each, before anything is learnt"
    assert cli.good("fanout", "--tasks", "t1,t2,t1", "--json").json()["serial"]["wall_seconds"] == 1200
    assert cli.good("fanout", "--slots", "1", "--json").json()["agents"] == 1


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--n", "0"), 2, "0 is not in the range"),
        (("--n", "3", "--t", "long"), 2, "`long` is not a duration"),
        (("--n", "3", "--spawn", "-1s"), 2, "`-1s` is not a duration"),
        (("--n", "3", "--slots", "0"), 2, "0 is not in the range"),
        (("--n", "3", "--tasks", "t1"), 2, "--n and --tasks cannot be used together"),
        (("--n", "3", "--hour-usd", "-1"), 2, "-1.0 is not in the range"),
        (("--usd", "1"), 2, "--tokens and --usd need --n"),
        (("--tasks", "t7"), 1, "there is no task `t7`"),
        (("--tasks", "seven"), 2, "`seven` is not a task id"),
    ],
)
def test_nonsense_is_refused(cli: Cli, arguments: tuple[str, ...], code: int, words: str) -> None:
    said = cli("fanout", *arguments)
    assert (said.code, words in said.err) == (code, True), said.err
