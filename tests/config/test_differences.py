"""Two configurations compared, in words and without secrets."""

from pathlib import Path

import pytest

from paddock.config.differences import SHOWN_CHANGES, describe_changes, digest_of, remembered
from paddock.config.load import load_config
from paddock.config.schema import Config


def config_of(folder: Path, text: str) -> Config:
    (folder / "paddock.toml").write_text(text)
    return load_config(folder, {}).config


def changes(folder: Path, before: str, after: str) -> tuple[str, ...]:
    return describe_changes(*(remembered(config_of(folder, text)) for text in (before, after)))


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("", "", ()),
        ("[land]\nci = 'make test'", "[land]\nci = 'true'", ("land.ci is `true`, it was `make test`",)),
        ("", "[limits]\nmax_agents = 9", ("limits.max_agents is `9`, it was `4`",)),
        ("", "[agents]\nmay_add = true", ("agents.may_add is `true`, it was `false`",)),
        ("[land]\nenv = {A = 'hunter2'}", "[land]\nenv = {A = 'hunter3'}", ("land.env was changed",)),
        ("[engines.x]\nset = {K = 'hunter2'}", "[engines.x]\nset = {K = 'b'}", ("engines.x.set was changed",)),
        ("[land]\nci = \"a\\u001b[2J\"", "", ("land.ci is ``, it was `a\ufffd[2J`",)),
    ],
)  # fmt: skip
def test_every_change_is_told_and_no_secret(tmp_path: Path, before: str, after: str, words: tuple[str, ...]) -> None:
    assert changes(tmp_path, before, after) == words
    same = digest_of(config_of(tmp_path, before)) == digest_of(config_of(tmp_path, after))
    assert same is (not words)


def test_what_came_and_went_is_told_key_by_key_and_not_without_end(tmp_path: Path) -> None:
    told = changes(tmp_path, "", "[prices.m]\ninput = 1\noutput = 2\n")
    assert "prices.m.input is `1.0`" in told
    assert "prices.m.input was removed, it was `1.0`" in changes(tmp_path, "[prices.m]\ninput = 1\noutput = 2\n", "")
    many = "".join(f"[prices.m{number}]\ninput = 1\noutput = 2\n" for number in range(SHOWN_CHANGES))
    told = changes(tmp_path, "", many)
    assert len(told) == SHOWN_CHANGES + 1
    assert told[-1].endswith("more keys")


def test_a_comment_and_the_order_of_keys_change_nothing(tmp_path: Path) -> None:
    one = config_of(tmp_path, "[land]\nenv = {A = '1', B = '2'}\nslots = 3\n")
    other = config_of(tmp_path, "# why\n[land]\nslots = 3\nenv = {B = '2', A = '1'}\n")
    assert digest_of(one) == digest_of(other)
