"""The transcripts people are most likely to follow are played for real."""

from pathlib import Path

import pytest

from tests.docs.markdown import PAGES, ROOT, Command, blocks, commands, shown
from tests.docs.shell import Shell, as_promised

PLAYED = (ROOT / "README.md", ROOT / "docs" / "quickstart.md")
REPEATED = "repeated until it prints this"
MOST_REPEATS = 200


@pytest.mark.parametrize("page", PLAYED, ids=shown)
def test_a_transcript_prints_what_the_page_says(page: Path, tmp_path: Path) -> None:
    with Shell(tmp_path) as shell:
        for block in blocks(page):
            if block.language != "console":
                continue
            for command in commands(block):
                printed = play(shell, command, repeat=REPEATED in block.before)
                wanted = "\n".join(command.output)
                got = "\n".join(printed)
                assert as_promised(command, printed), (
                    f"{shown(page)}:{block.line}: $ {command.text}\n{got}\n--- and the page says ---\n{wanted}"
                )


def play(shell: Shell, command: Command, *, repeat: bool) -> list[str]:
    printed = shell.type(command.text)
    for _ in range(MOST_REPEATS if repeat else 0):
        if as_promised(command, printed):
            break
        printed = shell.type(command.text)
    return printed


def test_transcripts_on_the_readme_are_marked_as_played() -> None:
    assert all(page in PAGES for page in PLAYED)


@pytest.mark.parametrize(
    ("said", "printed", "same"),
    [
        ("landed at 9c61473299", "landed at 1234567abc", True),
        ("landed at 9c61473299", "landed at nothing", False),
        ("10:14:02  t1.1    started", "23:59:59  t1.1    started", True),
        ("10:14:02  t1.1    started", "23:59:59  t1.2    started", False),
        ("in /tmp/shop/.git", "in /var/x/y/shop/.git", True),
        ("in /tmp/shop.paddock/w2", "in /var/x/shop.paddock/w1", True),
        ("fails: … · 1s", "fails: r8 fail, r9 fail · 12s", True),
        ("1 commit", "2 commits", False),
    ],
)
def test_only_what_varies_may_vary(said: str, printed: str, same: bool) -> None:
    assert as_promised(Command("x", (said,)), [printed]) is same


def test_an_ellipsis_stands_for_any_lines_and_only_there() -> None:
    command = Command("x", ("…", "last"))
    assert as_promised(command, ["a", "b", "last"])
    assert not as_promised(command, ["a", "b"])
    assert not as_promised(Command("x", ("last",)), ["a", "last"])
