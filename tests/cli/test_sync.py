"""What `paddock sync` prints, whole, and how it ends; what status and doctor say about a checkout."""

import os
import re
import subprocess
from textwrap import dedent

import pytest

from paddock.git.repo import discover
from paddock.git.usertree.notes import CheckoutNotes, StaleTree, read_notes, write_notes
from tests.cli.conftest import Cli, git, mask


def expect(text: str) -> str:
    return dedent(text).lstrip("\n")


def move_main(cli: Cli, name: str = "poem", text: str = "landed\n") -> None:
    """Main gets a commit under the checkout, and that is noted, as landing does."""
    old = git(cli.top, "rev-parse", "main")
    blob = cli.top.parent / "blob"
    blob.write_text(text)
    sha = git(cli.top, "hash-object", "-w", str(blob))
    listed = git(cli.top, "ls-tree", old).splitlines()
    rows = [row for row in listed if not row.endswith(f"\t{name}")] + [f"100644 blob {sha}\t{name}"]
    (cli.top.parent / "rows").write_text("\n".join(rows) + "\n")
    with open(cli.top.parent / "rows", encoding="utf-8") as read:
        made = subprocess.run(("git", "mktree"), cwd=cli.top, stdin=read, capture_output=True, text=True, check=True)
    new = git(cli.top, "commit-tree", made.stdout.strip(), "-p", old, "-m", "landed")
    git(cli.top, "update-ref", "refs/heads/main", new)
    write_notes(discover(cli.top), CheckoutNotes((StaleTree(os.fsencode(cli.top), old, new),)))


def shown(cli: Cli, *words: str) -> str:
    return re.sub(r"\b[0-9a-f]{10}\b", "ABBREVIATED", mask(cli.shown(*words), cli.top))


@pytest.fixture
def cli(cli: Cli) -> Cli:
    (cli.top / "poem").write_text("".join(f"{number}\n" for number in range(1, 21)))
    git(cli.top, "add", "poem")
    git(cli.top, "commit", "--quiet", "-m", "A poem")
    return cli


def poem(**lines: str) -> str:
    return "".join(f"{lines.get(f'_{number}', str(number))}\n" for number in range(1, 21))


def test_a_checkout_that_shows_main_is_said_to(cli: Cli) -> None:
    assert shown(cli, "sync") == "TOP shows main (ABBREVIATED)\n"
    assert cli.good("sync", "--json").json()["checkouts"][0]["current"] is True


def test_an_older_one_is_brought_up_to_date(cli: Cli) -> None:
    move_main(cli)
    assert "shows an older main" in cli.good("status").out
    assert shown(cli, "sync") == "TOP shows main (ABBREVIATED); wrote 1 file\n"
    assert (cli.top / "poem").read_text() == "landed\n"
    assert "older main" not in cli.good("status").out


def test_edits_in_the_way_are_named_with_what_to_do(cli: Cli) -> None:
    (cli.top / "poem").write_text(poem(_18="mine"))
    move_main(cli, text=poem(_3="landed"))
    assert shown(cli, "sync") == expect("""
        --- stderr
        TOP still shows an older main (ABBREVIATED): your uncommitted work is in the way
          poem

        hint: `paddock sync --stash` stashes these edits and reapplies them
        [exit 1]
    """)
    said = cli("sync", "--json")
    (told,) = said.json()["checkouts"]
    assert said.code == 1
    assert (told["current"], told["files"], told["reason"]) == (False, ["poem"], "your uncommitted work is in the way")
    (finding,) = [one for one in cli("doctor", "--json").json()["findings"] if one["what"] == "checkout"]
    assert finding["verdict"] == "warning"
    assert finding["fix"] == "paddock sync --stash"
    assert "poem" in finding["detail"]
    (notice,) = cli.good("status", "--json").json()["needs_you"]["notices"]
    assert (notice["kind"], notice["run"]) == ("checkout-behind", "paddock sync --stash")


def test_stashed_edits_come_back_or_stay_in_the_stash(cli: Cli) -> None:
    (cli.top / "poem").write_text(poem(_18="mine"))
    move_main(cli, text=poem(_3="landed"))
    assert shown(cli, "sync", "--stash") == expect("""
        TOP shows main (ABBREVIATED); wrote 1 file
        your edits were stashed and reapplied
    """)
    assert (cli.top / "poem").read_text() == poem(_3="landed", _18="mine")
    move_main(cli, text=poem(_3="landed", _18="landed, too"))
    assert shown(cli, "sync", "--stash") == expect("""
        TOP shows main (ABBREVIATED); wrote 1 file
        your edits do not merge with what has landed: they are in the stash; `git stash pop` merges them
    """)
    assert (cli.top / "poem").read_text() == poem(_3="landed", _18="landed, too")
    assert git(cli.top, "stash", "list").count("\n") == 0


def test_a_main_that_is_checked_out_nowhere_has_nothing_to_bring_up_to_date(cli: Cli) -> None:
    git(cli.top, "switch", "--quiet", "--detach")
    assert shown(cli, "sync") == "main is not checked out anywhere: nothing to bring up to date\n"


def test_with_a_remote_the_checkout_is_its_users_to_move(cli: Cli) -> None:
    said = cli.good("--set", "land.remote=origin", "sync")
    assert said.out == "main is origin/main; update your own main with `git pull`\n"


def test_a_branch_that_is_not_there_is_refused(cli: Cli) -> None:
    said = cli("--set", "main=trunk", "sync")
    assert (said.code, "there is no branch `trunk`" in said.err) == (1, True)


@pytest.mark.parametrize("word", ["abc", "main", "0123456789"])
def test_restoring_what_nobody_took_back_is_refused(cli: Cli, word: str) -> None:
    said = cli("queue", "restore", word)
    assert said.code == 1
    assert f"`{word}` is not a commit known to have undone landed work" in said.err


def test_restoring_needs_main_to_lack_something(cli: Cli) -> None:
    (cli.top / "poem").write_text(poem(_18="mine"))
    move_main(cli, text=poem(_3="landed"))
    git(cli.top, "commit", "--quiet", "-am", "from an older checkout")
    (undone,) = cli.good("status", "--json").json()["undone"]
    assert undone["files"] == ["poem"]
    git(cli.top, "revert", "--no-edit", "HEAD")
    assert cli.good("status", "--json").json()["undone"] == []
    assert read_notes(discover(cli.top)) == CheckoutNotes()


def test_a_reader_that_may_not_write_tells_what_is_known(cli: Cli) -> None:
    move_main(cli)
    cli.good("status")
    lock = cli.log.parent / "checkouts.lock"
    lock.unlink()
    lock.mkdir()
    git(cli.top, "update-index", "--force-write-index")
    assert "shows an older main" in cli.good("status").out
