"""A yard whose engine is a shell script with a terminal of its own, and a person who sits down at it."""

from collections.abc import Iterator

import pytest

from paddock.core.tasks.task import Attempt
from tests.fleet.conftest import MakeYard
from tests.fleet.tmux_screen import Person, people
from tests.fleet.yard import Yard

TERMINAL = """\
echo "terminal of $1 in $PWD"
while read -r line; do
    case $line in
        quit) exit 0 ;;
        fail) exit 7 ;;
        size) stty size ;;
        commit) echo x >by-hand.txt; git add -A; git commit -qm "By hand" ; echo committed ;;
        stay) sleep 1000 & echo stays ;;
        *) echo "you said <$line>" ;;
    esac
done
echo "no more input"
"""
CONFIG = """\
engine = "mine"
[land]
approval = "human"
[engines.mine]
command = ["sh", "-c", "echo session: $0; {task}", "{session}"]
resume = ["sh", "-c", "echo session: $0; {prompt}", "{session}"]
session_id_regex = "session: (\\\\S+)"
interactive = ["sh", "terminal.sh", "{session}"]
"""
WORK = "echo work >a; git add a; git commit -qm Work"


def begin_endless(yard: Yard) -> None:
    """Until its agent has committed something, and goes on."""
    begun = yard.folder / "begun"
    add(yard, f"{WORK}; touch {begun}; while :; do sleep 1; done")
    yard.start("run")
    yard.await_that(begun.exists, "its commit")


@pytest.fixture
def field(make_yard: MakeYard) -> Yard:
    """A yard whose engine is a shell script, with a terminal that repeats what it hears."""
    yard = make_yard()
    (yard.top / "terminal.sh").write_text(TERMINAL)
    (yard.top / "paddock.toml").write_text(CONFIG)
    yard.git("add", "-A")
    yard.git("commit", "-qm", "Configure")
    return yard


@pytest.fixture
def person(field: Yard) -> Iterator[Person]:
    with people(field) as [one]:
        yield one


def add(yard: Yard, brief: str) -> None:
    yard.paddock("add", "--title", "Work", brief)


def work_done(yard: Yard) -> Attempt:
    add(yard, WORK)
    yard.run()
    assert yard.task().phase == "approval"
    return yard.attempt()


def subjects(yard: Yard) -> list[str]:
    return yard.git("log", "--format=%s", f"main..{yard.attempt().branch}").splitlines()
