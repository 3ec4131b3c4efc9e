"""`paddock comment`: lines are checked and quoted, and what is collected survives."""

import pytest

from tests.cli.conftest import Cli, git
from tests.cli.test_heads import deliver
from tests.cli.test_land import CONFIGURATION


@pytest.fixture
def cli(fresh: Cli) -> Cli:
    (fresh.top / "paddock.toml").write_text(CONFIGURATION)
    fresh.good("init", "--yes")
    fresh.good("add", "--file", "-", stdin=b"- one\n- two\n")
    return fresh


def test_comments_are_collected_listed_dropped_and_sent(cli: Cli) -> None:
    head = deliver(cli, "t1", 1, "first\nsecond \x1b[8mline\n")
    said = cli.good("comment", "t1", "./t1.txt:2", "why\nso?")
    assert said.out == "comment 1 on t1 at t1.txt:2\n  > second �[8mline\n"
    assert said.err == "send it with `paddock comment t1 --send`\n"
    cli.good("comment", "t1", "t1.txt:1", "and this")
    rows = cli.good("comment", "t1", "--json").json()
    assert [(row["number"], row["line"], row["outdated"]) for row in rows["comments"]] == [(1, 2, False), (2, 1, False)]
    assert cli.good("show", "t1", "--json").json()["comments"] == 2
    assert cli.good("comment", "t1", "--drop", "2").out.startswith("1. t1.txt:2  (")

    cli.good("reject", "t1", "-m", "no")
    newer = deliver(cli, "t1", 2, "first\n")
    assert f"1. t1.txt:2 in {head[:10]}, an earlier version" in cli.good("comment", "t1").out
    refused = cli("comment", "t1", "--send", "--reject", "--head", head[:10])
    assert (refused.code, f"task `t1` is at `{newer[:10]}` now" in refused.err) == (1, True)
    sent = cli.good("comment", "t1", "--send", "--reject", "-m", "Please", "--head", newer[:10])
    assert sent.out == "rejected t1 with 1 comment; it will be tried again\n"
    assert cli.good("comment", "t1").err == "no comment on t1 is waiting to be sent\n"
    told = cli.good("log", "--kind", "task.rejected", "--json").lines[-1]["body"]["message"]
    assert told.startswith("Please\n\nOne comment on your change")
    assert "   > second �[8mline\n   why\n   so?" in told


@pytest.mark.parametrize(
    ("words", "error", "hint"),
    [
        (("t1", "t1.txt", "x"), "`t1.txt` is no line of a file", "`src/x.py:41`"),
        (("t1", "t1.txt:x", "x"), "`t1.txt:x` is no line of a file", "`src/x.py:41`"),
        (("t1", "t1.txt:3", "x"), "`t1.txt` has 2 lines at `", "lines are counted from 1"),
        (("t1", "t1.txt:0", "x"), "there is no line 0", "lines are counted from 1"),
        (("t1", "t1.tx:1", "x"), "there is no file `t1.tx` in `t1` at `", "did you mean `t1.txt`?"),
        (("t1", "t1.txt:1", "x", "--old"), "there is no file `t1.txt` in `t1` at `", "it is new: leave out --old"),
        (("t1", "/etc/passwd:1", "x"), "there is no file `/etc/passwd`", "it changes t1.txt"),
        (("t1", "t1.txt:1"), "no comment was given", "say it"),
        (("t1", "t1.txt:1", " "), "the comment on `t1.txt:1` is empty", "say what should change"),
        (("t1", "t1.txt:1", "x", "--send"), "cannot be used together", "use one after the other"),
        (("t1", "--reject"), "are for comments that are sent", "add --send"),
        (("t1", "--send"), "there is no comment on `t1` to send", "write one"),
        (("t1", "--drop", "1"), "there is no comment 1 on `t1`: there is none", "lists them"),
    ],
)
def test_a_wrong_word_is_misuse_and_changes_nothing(cli: Cli, words: tuple[str, ...], error: str, hint: str) -> None:
    deliver(cli, "t1", 1, "one\ntwo\n")
    before = cli.log.read_bytes()
    said = cli("comment", *words)
    assert said.code == 2
    assert error in said.err
    assert hint in said.err
    assert cli.log.read_bytes() == before


def test_a_line_of_before_the_change_is_quoted_as_it_was(cli: Cli) -> None:
    (cli.top / "t1.txt").write_text("as it was\n")
    git(cli.top, "add", "t1.txt")
    git(cli.top, "commit", "-qm", "Before")
    deliver(cli, "t1", 1, "as it is\n")
    assert "  > as it was\n" in cli.good("comment", "t1", "t1.txt:1", "x", "--old").out
    assert "  > as it is\n" in cli.good("comment", "t1", "t1.txt:1", "x").out
    refused = cli("comment", "t2", "a:1", "x")
    assert (refused.code, "it has delivered nothing yet" in refused.err) == (1, True)
