"""The file of a group: what is in it, and how it is refused."""

from pathlib import Path

import pytest

from paddock.config.group import AccountTable, GroupFile, group_file_of, read_group_file
from paddock.config.user_folder import user_folder
from paddock.core.errors import Misuse
from paddock.core.group.limits import AccountLimits, GroupLimits

BAD = {
    'agents = "many"': ("Expected `int | null`, got `str` - at `$.agents`", "paddock group show"),
    "agents = -1": ("Expected `int` >= 0 - at `$.agents`", "paddock group show"),
    "agent = 3": ("unknown key `agent`", "did you mean `agents`?"),
    "zzz = 3": ("unknown key `zzz`", "known: agents, day_usd, day_tokens, accounts, url"),
    "[accounts.claude]\nday_us = 3": (
        "unknown key `accounts.claude.day_us`",
        "did you mean `accounts.claude.day_usd`?",
    ),
    "accounts = 3": ("Expected `object`, got `int` - at `$.accounts`", "paddock group show"),
    "[accounts]\nclaude = 3": ("Expected `object`, got `int` - at `$.accounts[...]`", "paddock group show"),
    "agents = ": ("Invalid value", "paddock group show"),
    'url = "mysql://x/y"': ("`url` is no address of a PostgreSQL database", "postgresql://USER@HOST/DATABASE"),
    "agents = 3\n\xff": ("byte 11 is not UTF-8", "paddock group show"),
}


@pytest.mark.parametrize("text", BAD)
def test_a_wrong_file_is_refused_by_its_name_with_what_to_do(tmp_path: Path, text: str) -> None:
    path = tmp_path / "team.toml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(Misuse) as refused:
        read_group_file(path)
    words, hint = BAD[text]
    assert str(path) in refused.value.message
    assert words in refused.value.message
    assert hint in (refused.value.hint or "")


def test_a_group_without_a_file_has_no_limits(tmp_path: Path) -> None:
    assert read_group_file(tmp_path / "team.toml") == GroupFile()
    assert GroupFile().limits == GroupLimits()


def test_limits_are_of_the_group_of_this_machine_and_of_each_account(tmp_path: Path) -> None:
    path = tmp_path / "team.toml"
    path.write_text('agents = 9\nday_usd = 40\nurl = "${DATABASE}"\n[accounts.claude]\nagents = 5\nday_tokens = 1e7\n')
    file = read_group_file(path)
    assert file == GroupFile(9, 40.0, None, {"claude": AccountTable(5, None, 1e7)}, "${DATABASE}")
    assert file.limits == GroupLimits(9, 40.0, None, {"claude": AccountLimits(5, None, 1e7)})
    assert file.limits.of("codex") == AccountLimits()


def test_it_is_in_the_users_own_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ana")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert group_file_of("team") == Path("/home/ana/.config/paddock/groups/team.toml")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/srv/conf")
    assert group_file_of("team") == Path("/srv/conf/paddock/groups/team.toml")
    monkeypatch.setenv("XDG_CONFIG_HOME", "conf")
    assert user_folder("XDG_CONFIG_HOME", ".config") == Path("/home/ana/.config/paddock")
