"""What the ground-floor commands print, whole. Times, hashes, ages and paths are masked."""

import os
import re
from pathlib import Path
from textwrap import dedent

import pytest

from paddock.core import events as ev
from paddock.core.ids import AttemptId, TaskId
from paddock.store.protocol import Author
from paddock.store.sqlite import SqliteStore
from tests.cli.conftest import Cli, git


@pytest.fixture
def busy(cli: Cli) -> Cli:
    """Two tasks of a convoy, one of which waits, and one that was given up."""
    cli.good("add", "Rewrite the lexer", "--convoy", "parser", "--priority", "5", "--paths", "src/lex/**")
    cli.good("add", "Use it", "--after", "t1", "--convoy", "parser", "--engine", "claude", "--title", "Use the lexer")
    cli.good("add", "Something else")
    cli.good("cancel", "t3", "-m", "not needed")
    return cli


def expect(text: str) -> str:
    return dedent(text).lstrip("\n")


def test_init_says_what_it_made_and_the_second_time_that_it_changed_nothing(
    fresh: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/usr/bin:/bin")
    (fresh.top / "Makefile").write_text("test:\n\ttrue\n")
    assert fresh.shown("init", "--yes") == expect("""
        wrote paddock.toml (main: main, CI: make test, not tried yet; up to $20 per attempt)
        created the log in TOP/.git/paddock/log.db

        next: paddock add "what to do", then paddock run
    """)
    made = (fresh.top / "paddock.toml").read_bytes()
    assert fresh.shown("init") == "already set up in TOP: nothing changed\n"
    assert (fresh.top / "paddock.toml").read_bytes() == made
    assert git(fresh.top, "status", "--porcelain") == "?? Makefile\n?? paddock.toml"


def test_init_keeps_a_configuration_that_is_there(fresh: Cli) -> None:
    (fresh.top / "paddock.toml").write_text('main = "main"\n')
    assert fresh.shown("init").startswith("created the log in TOP/.git/paddock/log.db\n")
    assert (fresh.top / "paddock.toml").read_text() == 'main = "main"\n'


def test_status_of_an_empty_log(cli: Cli) -> None:
    assert cli.shown("status") == 'no tasks yet\n\nadd one: paddock add "what to do"\n'


def test_status_lists_open_work_and_counts_the_finished(busy: Cli) -> None:
    assert busy.shown("status") == expect("""
        3 tasks: 1 waiting, 1 ready, 1 cancelled
        no daemon is running (`paddock up` starts one)

        convoy parser  0/2 done
          ○ ready     t1    Rewrite the lexer  AGE
          · waiting     t2    Use the lexer  claude · after t1 · AGE

        1 finished task not shown; `paddock status --all` shows it
    """)
    assert busy.shown("status", "--all") == expect("""
        3 tasks: 1 waiting, 1 ready, 1 cancelled
        no daemon is running (`paddock up` starts one)

        convoy parser  0/2 done
          ○ ready     t1    Rewrite the lexer  AGE
          · waiting     t2    Use the lexer  claude · after t1 · AGE

        tasks
          - cancelled t3    Something else  not needed · AGE
    """)
    assert busy.shown("status", "--convoy", "parser").startswith("2 tasks: 1 waiting, 1 ready\n")


def test_a_blocked_task_names_the_one_it_depends_on_and_cancel_says_what_that_blocks(busy: Cli) -> None:
    assert busy.shown("cancel", "t1") == "cancelled t1\nnow blocked: t2\n"
    assert busy.shown("status") == expect("""
        3 tasks: 1 blocked, 2 cancelled
        no daemon is running (`paddock up` starts one)

        convoy parser  0/2 done
          ! blocked   t2    Use the lexer  claude · depends on t1, which was cancelled · AGE

        2 finished tasks not shown; `paddock status --all` shows them
    """)


def test_show_tells_where_a_task_stands_and_why(busy: Cli) -> None:
    assert busy.shown("show", "t2") == expect("""
        t2  Use the lexer
          · waiting   for AGE
          because   after t1
          engine    claude
          convoy    parser
          after     t1
          attempts  0 of 3
          added     TIME

        brief
          Use it
    """)


def test_the_log_can_be_narrowed_by_task_kind_number_and_time(busy: Cli) -> None:
    assert busy.shown("log", "--task", "t3") == expect("""
        TIME  t3      added: Something else
        TIME  t3      cancelled
    """)
    created = busy.shown("log", "-n", "1", "--kind", "log.*")
    assert created.startswith('TIME          log.created {"version":"0.1.0","identity":"')
    assert len(busy.shown("log", "--kind", "task.*").splitlines()) == 4
    assert len(busy.shown("log", "-n", "2").splitlines()) == 2
    assert busy.shown("log", "--since", "2030-01-01").splitlines() == []
    assert len(busy.shown("log", "--since", "1h").splitlines()) == 4


def test_the_log_is_verified_rebuilt_and_mirrored(busy: Cli) -> None:
    assert busy.shown("log", "verify") == "6 records, all hashes match\n"
    rebuilt = busy.shown("log", "rebuild")
    assert re.fullmatch(r"folded 6 records in \d+\.\d s: the snapshot was correct\n", rebuilt)
    assert busy.shown("log", "push") == (
        "6 new records, up to record 6, kept in `refs/paddock/log`: this repository has no remote\n"
    )
    assert busy.shown("log", "fetch") == "0 new records from `refs/paddock/log`; the log is at record 6\n"


def test_the_log_travels_through_a_remote(busy: Cli, tmp_path: Path) -> None:
    remote = tmp_path / "remote.git"
    git(tmp_path, "init", "--quiet", "--bare", str(remote))
    git(busy.top, "remote", "add", "origin", str(remote))
    assert busy.shown("log", "push") == "6 new records, up to record 6, pushed to `origin`\n"
    other = tmp_path / "other"
    git(tmp_path, "init", "--quiet", str(other))
    git(other, "remote", "add", "origin", str(remote))
    clone = Cli(other, busy.capture, busy.monkeypatch)
    assert clone.shown("log", "fetch") == "6 new records from `origin`; the log is at record 6\n"
    assert clone.shown("status").startswith("3 tasks: 1 waiting, 1 ready, 1 cancelled\n")


def test_a_convoy_is_listed_and_shown_as_a_tree(busy: Cli) -> None:
    assert busy.shown("convoy", "list") == "parser                   0/2 done  1 waiting, 1 ready\n"
    assert busy.shown("convoy", "show", "parser") == expect("""
        2 tasks: 1 waiting, 1 ready

        convoy parser  0/2 done
          ○ ready     t1    Rewrite the lexer  AGE
          · waiting     t2    Use the lexer  claude · after t1 · AGE
    """)


def test_without_convoys_it_is_told_how_to_add_one(cli: Cli) -> None:
    assert cli.shown("convoy", "list") == "no convoys yet; `paddock add --file tasks.yaml` adds one\n"


def test_edit_retry_and_cancel(busy: Cli) -> None:
    assert busy.shown("edit", "t2", "--title", "Use the new lexer", "--after", "", "--engine", "") == "edited t2\n"
    assert "  ○ ready     t2    Use the new lexer" in busy.shown("status")
    assert busy.shown("retry", "t3") == "will retry t3\n"
    assert busy.shown("cancel", "t1,t2", "t3") == "cancelled t1, t2, t3\n"


def test_config_tells_the_source_of_every_value(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDOCK_TIMEOUTS_TURN", "6s")
    assert cli.shown("config", "show", "timeouts").splitlines()[:5] == [
        "timeouts.start    2m                        paddock.toml",
        "timeouts.silence  10m                       paddock.toml",
        "timeouts.tool     30m                       paddock.toml",
        "timeouts.turn     6s                        PADDOCK_TIMEOUTS_TURN",
        "timeouts.grace    10s                       paddock.toml",
    ]
    assert cli.shown("config", "show", "limits.attempts") == "limits.attempts  3                         paddock.toml\n"
    assert cli.shown("config", "check") == expect("""
        paddock.toml: 1 warning
        --- stderr
        warning: [land] ci is empty: nothing can land
    """)
    (cli.top / "paddock.toml").unlink()
    assert cli.shown("config", "show", "main") == expect("""
        main  main                      default
        --- stderr

        no paddock.toml in TOP: `paddock init` writes one
    """)


def test_doctor_names_every_check_and_how_to_fix_it(busy: Cli) -> None:
    said = busy.shown("doctor").splitlines()
    found = {line[9:21].strip(): line[:8].strip() for line in said if not line.startswith(" ")}
    assert {"python", "git", "branch", "file system", "disk", "clock", "config", "engines", "tmux", "log"} <= set(found)
    assert (found["git"], found["branch"], found["log"], found["engines"]) == ("ok", "ok", "ok", "warning")
    fixes = [line.strip() for line in said if line.startswith(" ")]
    assert "fix: edit TOP/paddock.toml" in fixes


def test_doctor_fails_where_something_must_be_fixed(cli: Cli) -> None:
    (cli.top / "paddock.toml").write_text('main = "trunk"\n')
    said = cli.shown("doctor")
    assert "problem  branch       there is no branch `trunk`" in said
    assert "fix: git branch trunk, or set `main` in paddock.toml" in said
    assert said.endswith("[exit 1]\n")


def test_a_convoy_is_added_from_a_file_and_from_standard_input(cli: Cli) -> None:
    text = "convoy: c\ntasks: [{key: b, brief: second, after: a}, {key: a, brief: first}]\n"
    (cli.top / "tasks.yaml").write_text(text)
    assert cli.shown("add", "--file", "tasks.yaml") == "added t1  first\nadded t2  second  after t1\n"
    assert cli.shown("add", "--file", "-", stdin=text.encode()) == "added t3  first\nadded t4  second  after t3\n"
    many = "".join(f"- task {number}\n" for number in range(20))
    assert cli.shown("add", "--file", "-", stdin=many.encode()) == "added 20 tasks: t5 to t24\n"
    assert cli.shown("add", "-", stdin=b"from a pipe\n") == "added t25  from a pipe\n"


def test_a_tab_in_yaml_and_a_key_in_the_wrong_place_are_named(cli: Cli) -> None:
    (cli.top / "tasks.yaml").write_text("tasks:\n\t- brief: x\n")
    assert cli("add", "--file", "tasks.yaml").err.startswith("error: tasks.yaml:2:1: the line is indented with a tab\n")
    (cli.top / "paddock.toml").write_text("max_agents = 3\n")
    assert cli("config", "check").err.endswith("hint: did you mean `limits.max_agents`?\n")


def test_a_message_is_queued_until_an_agent_gets_it(cli: Cli) -> None:
    cli.good("add", "Rewrite the lexer")
    started = ev.AttemptStarted(engine="claude", base="a" * 40, branch="b", host="h", worktree="/w")
    store = SqliteStore(cli.log)
    store.append(lambda _: [ev.Draft(started, task=TaskId("t1"), attempt=AttemptId("t1.1"))], Author("daemon"))
    store.close()
    assert cli.shown("message", "t1", "Use tabs") == expect("""
        queued as m4 for t1
        --- stderr
        no daemon is running: `paddock up` or `paddock run` delivers it
    """)
    assert "message queued: Use tabs" in cli.shown("log")
    assert "1 message queued" in cli.shown("status")


def test_a_group_too_long_for_a_screen_is_cut_and_says_so(cli: Cli) -> None:
    cli.good("add", "--file", "-", stdin="".join(f"- task {number}\n" for number in range(100)).encode())
    lines = cli.shown("status").splitlines()
    assert len(lines) == 45
    assert lines[-1] == "  … and 60 more; `paddock status --all` shows them"
    assert len(cli.shown("status", "--all").splitlines()) == 104


def test_text_from_people_cannot_move_the_terminal(cli: Cli) -> None:
    cli.good("add", "evil \x1b[2J\x07 brief\nsecond \x1b]0;title\x07 line")
    for command in (["status"], ["show", "t1"], ["log"], ["convoy", "list"]):
        assert not set(cli.good(*command).out) & {"\x1b", "\x07", "\r"}


@pytest.mark.parametrize(
    ("arguments", "code", "error", "hint"),
    [
        ((), 2, "Usage: paddock [OPTIONS] COMMAND [ARGS]...", ""),
        (("statsu",), 2, "error: there is no command `statsu`", "hint: did you mean `paddock status`?"),
        (("add",), 2, "error: no brief was given", "hint: say what to do"),
        (("add", ""), 2, "error: the brief is empty", "hint: say in a sentence"),
        (("add", "x", "--bogus"), 2, "error: No such option '--bogus'.", "hint: see `paddock add --help`"),
        (("add", "x", "--priority", "high"), 2, "error: Invalid value for '--priority'", "hint: see"),
        (("add", "x", "--file", "y"), 2, "error: a brief and --file cannot be used together", "hint: use one"),
        (("add", "x", "--after", "t9"), 2, "error: it depends on `t9`", "hint:"),
        (("add", "x", "--agent", "nobody"), 2, "error: there is no agent `nobody`", "hint: define it: `[agents.NAME]`"),
        (("add", "x", "--engine", "claud"), 2, "error: there is no engine `claud`", "hint: did you mean `claude`?"),
        (("add", "x", "--title", "a\x1b[1mb"), 2, "error: the title contains the control character U+001B", "hint:"),
        (("add", "y" * 1_000_000), 2, "error: the brief has 1,000,000 bytes; the limit is 262,144", "hint: put long"),
        (("--set", "limits.max_agents=many", "status"), 2, "error: --set: `limits.max_agents`: `many` is not", "hint:"),
        (("--set", "max_agents=3", "status"), 2, "error: --set: unknown key `max_agents`", "`limits.max_agents`"),
        (("--set", "worktrees.root=/proc/x", "run"), 1, "error: cannot create worktrees in `/proc/x`", "hint: set"),
        (("--set", "worktrees.root=/proc/x", "up"), 1, "error: cannot create worktrees in `/proc/x`", "hint: set"),
        (("add", "--file", "absent.yaml"), 2, "error: `absent.yaml` cannot be read: No such file", "hint: name a"),
        (("add", "--file", "."), 2, "error: `.` cannot be read: Is a directory", "hint: name a file"),
        (("add", "--file", "/dev/zero"), 2, "error: `/dev/zero` is larger than 16,777,216 bytes", "hint: split"),
        (("show", "t9"), 1, "error: there is no task `t9`: there are none", "hint: `paddock status --all`"),
        (("show", "nine"), 2, "error: `nine` is not a task id", "hint: task ids look like `t41`"),
        (("cancel", ","), 2, "error: no task was named", "`paddock status`"),
        (("cancel", "t1"), 1, "error: there is no task `t1`", "hint:"),
        (("retry", "t1", "--attempts", "0"), 2, "error: 0 attempts is not between 1 and 100", "hint: 3"),
        (("edit", "t1"), 1, "error: there is no task `t1`", "hint:"),
        (("status", "--convoy", "x"), 1, "error: there is no convoy `x`", "hint: `paddock convoy list`"),
        (("convoy", "show", "x"), 1, "error: there is no convoy `x`", "hint: `paddock convoy list`"),
        (("log", "--task", "t9"), 1, "error: there is no task `t9`: there are none", "hint: `paddock status --all`"),
        (("log", "--since", "soon"), 2, "error: `soon` is neither a time nor an age", "hint: write `2h`"),
        (("log", "push", "nowhere"), 1, "error: there is no remote `nowhere`", "hint: known: none"),
        (("log", "fetch"), 1, "error: there is no mirror in this repository", "hint: name a remote"),
        (("log", "-n", "0"), 2, "error: Invalid value for '-n'", "hint: see"),
        (("completion", "tcsh"), 2, "error: Invalid value for '{bash|zsh|fish}'", "hint: see"),
        (("-C", "/nonexistent", "status"), 2, "error: -C: `/nonexistent` is not a directory", "hint: name one"),
    ],
)
def test_a_refusal_has_an_error_a_hint_and_its_exit_code(
    cli: Cli, arguments: tuple[str, ...], code: int, error: str, hint: str
) -> None:
    said = cli(*arguments)
    assert (said.code, said.out) == (code, "")
    assert said.err.startswith(error)
    assert hint in said.err
