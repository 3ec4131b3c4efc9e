"""The command as shells start it: following, completion, exit codes, and how little it imports."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddock.core.merge.events import TrainLanded
from paddock.store.sqlite import SqliteStore
from paddock.store.witness import witness_path
from tests.cli.conftest import SOURCE, Cli, as_process, mask
from tests.histories.test_histories import HISTORIES, lines

PROGRAM = "import sys; from paddock.cli.main import main; sys.argv[0] = 'paddock'; main()"


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(SOURCE), **more}


@contextlib.contextmanager
def following(cli: Cli, *options: str) -> Iterator["subprocess.Popen[str]"]:
    argv = (sys.executable, "-c", PROGRAM, "log", "--follow", *options)
    child = subprocess.Popen(argv, cwd=cli.top, stdout=subprocess.PIPE, text=True, env=environment())
    try:
        yield child
    finally:
        child.terminate()
        child.communicate()


@pytest.fixture
def follower(cli: Cli) -> Iterator["subprocess.Popen[str]"]:
    with following(cli, "--json") as child:
        yield child


def test_following_shows_what_was_and_what_others_add_as_it_comes(cli: Cli, follower: "subprocess.Popen[str]") -> None:
    assert follower.stdout is not None
    assert json.loads(follower.stdout.readline())["kind"] == "log.created"
    for number in range(1, 4):
        cli.good("add", f"task {number}")
        line = json.loads(follower.stdout.readline())
        assert (line["seq"], line["task"]) == (number + 1, f"t{number}")


def test_following_misses_nothing_that_arrives_while_it_prints(cli: Cli, follower: "subprocess.Popen[str]") -> None:
    """A pipe nobody empties holds the follower in the middle of a long batch; meanwhile one more event comes."""
    assert follower.stdout is not None
    assert json.loads(follower.stdout.readline())["seq"] == 1
    long = "".join(f"- {'x' * 5000}\n" for _ in range(100))
    cli.good("add", "--file", "-", stdin=long.encode())
    assert json.loads(follower.stdout.readline())["seq"] == 2
    cli.good("add", "meanwhile")
    seen = [json.loads(follower.stdout.readline())["seq"] for _ in range(99)]
    cli.good("add", "afterwards")
    seen += [json.loads(follower.stdout.readline())["seq"] for _ in range(2)]
    assert seen == list(range(3, 104))


def test_following_names_what_has_landed_meanwhile(cli: Cli) -> None:
    rows = [line.row() for line in lines(HISTORIES[0])]
    landed = next(index for index, row in enumerate(rows) if row[4] == TrainLanded.kind)
    for file in cli.log.parent.glob("log.*"):
        file.unlink()
    witness_path(cli.log).unlink()
    store = SqliteStore(cli.log, create=True, announce=False)
    store.restore(rows[:landed])
    with following(cli) as child:
        assert child.stdout is not None
        child.stdout.readline()
        store.restore(rows[landed : landed + 1])
        said = next(line for line in child.stdout if " landed " in line)
    members = ", ".join(old.id for old in store.board().queue.decided if old.commit is not None)
    assert f" landed {members}: main is now at" in said
    store.close()


def test_following_ends_quietly_on_interrupt(follower: "subprocess.Popen[str]") -> None:
    assert follower.stdout is not None
    follower.stdout.readline()
    follower.send_signal(2)
    assert follower.wait(20) == 130
    assert follower.stdout.read() == ""


def test_exit_codes_and_streams_of_real_processes(cli: Cli) -> None:
    good = as_process("add", "x", "--json", cwd=cli.top)
    assert (good.returncode, json.loads(good.stdout)["ids"], good.stderr) == (0, ["t1"], "")
    refused = as_process("show", "t9", cwd=cli.top)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == (
        "error: there is no task `t9`: the newest task is `t1`\n\nhint: `paddock status --all` lists them\n"
    )
    assert as_process("bogus", cwd=cli.top).returncode == 2
    assert as_process("--version", cwd=cli.top).stdout.startswith("paddock ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_the_command(cli: Cli, shell: str) -> None:
    script = cli.good("completion", shell).out
    assert "_PADDOCK_COMPLETE" in script
    assert "paddock" in script


def test_bash_completes_commands_and_options(cli: Cli) -> None:
    def complete(words: str, index: int) -> list[str]:
        ended = subprocess.run(
            (sys.executable, "-c", PROGRAM),
            cwd=cli.top,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
            env=environment(_PADDOCK_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(index)),
        )
        return [line.split(",")[1] for line in ended.stdout.splitlines()]

    assert "status" in complete("paddock st", 1)
    assert set(complete("paddock status --", 2)) >= {"--json", "--convoy", "--all"}
    assert complete("paddock log ver", 2) == ["verify"]


def test_colours_are_off_unless_somebody_looks(cli: Cli) -> None:
    cli.monkeypatch.delenv("NO_COLOR")
    cli.good("add", "x")
    assert "\x1b[" not in as_process("status", cwd=cli.top).stdout


@pytest.mark.parametrize("flags", [(), ("--all",), ("--json",), ("--all", "--json")])
def test_a_plain_status_says_the_same_as_one_that_goes_the_long_way(cli: Cli, flags: tuple[str, ...]) -> None:
    """`-C` is left to click; without it `status` is answered before click is loaded."""
    cli.good("add", "first \x1b[2J ○")
    cli.good("add", "second", "--after", "t1", "--convoy", "herd")
    cli.good("cancel", "t1")
    direct, long = as_process("status", *flags, cwd=cli.top), as_process("-C", ".", "status", *flags, cwd=cli.top)
    assert (direct.returncode, direct.stderr) == (0, "")
    assert mask(direct.stdout, cli.top) == mask(long.stdout, cli.top) != ""


def test_a_plain_status_where_there_is_nothing_says_the_same_as_the_long_way(tmp_path: Path) -> None:
    direct, long = as_process("status", cwd=tmp_path), as_process("-C", ".", "status", cwd=tmp_path)
    assert direct.returncode == long.returncode == 1
    assert direct.stderr == long.stderr != ""


def test_status_and_help_import_only_what_they_need(cli: Cli) -> None:
    """What is slow to import must not creep into the commands people run all day."""
    listing = "import sys; from paddock.cli.main import run; run(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"

    def modules(*arguments: str) -> set[str]:
        ended = subprocess.run(
            (sys.executable, "-c", listing, *arguments),
            cwd=cli.top, capture_output=True, text=True, check=True, timeout=60, env=environment(),
        )  # fmt: skip
        return set(ended.stderr.split())

    heavy = {"asyncio", "yaml", "tomllib", "rich", "psutil", "subprocess", "hashlib", "socket", "tempfile", "logging"}
    heavy |= {"starlette", "uvicorn", "anyio", "h11", "textual", "paddock.web", "paddock.tui", "importlib.resources"}
    assert modules("status") & (heavy | {"click", "dataclasses", "paddock.core.review.model"}) == set()
    assert "click" in modules("status", "--convoy", "none")
    assert modules("--help") & (heavy | {"apsw", "msgspec", "pathlib", "paddock.core.board"}) == set()


def in_encoding(cli: Cli, encoding: str, *words: str) -> "subprocess.CompletedProcess[bytes]":
    argv = (sys.executable, "-c", PROGRAM, *words)
    env = environment(PYTHONIOENCODING=encoding)
    return subprocess.run(argv, cwd=cli.top, env=env, capture_output=True, timeout=60, check=False)


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "cp1252"])
def test_a_terminal_of_another_encoding_gets_what_it_can_show_and_json_stays_utf8(cli: Cli, encoding: str) -> None:
    cli.good("init", "--yes")
    cli.good("add", "Größe 🐎 … prüfen")
    for words in (("status",), ("show", "t1"), ("log",), ("show", "t9")):
        done = in_encoding(cli, encoding, *words)
        assert done.returncode == (1 if "t9" in words else 0), done.stderr
        assert b"should not" not in done.stderr
    for command in ("status", "show t1", "log"):
        told = in_encoding(cli, encoding, *command.split(), "--json")
        assert "Größe 🐎 … prüfen" in told.stdout.decode()
