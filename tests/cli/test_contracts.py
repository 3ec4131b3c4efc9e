"""The JSON other tools rely on, field by field: schema 1 is only ever extended."""

from pathlib import Path

import pytest

from paddock.core import events as ev
from paddock.core.ids import AttemptId, TaskId
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Outcome, Step
from paddock.store.protocol import Author
from paddock.store.sqlite import SqliteStore
from tests.cli.conftest import Cli

HEAD = "c" * 40


def deliver(log: Path) -> None:
    task, attempt = TaskId("t1"), AttemptId("t1.1")
    drafts = [
        ev.Draft(ev.AttemptStarted("claude", "b" * 40, "paddock/t1-rewrite"), task=task, attempt=attempt),
        ev.Draft(ev.TurnStarted(1, session="s-1"), task=task, attempt=attempt),
        ev.Draft(ev.TurnEnded(1, exit=0, input_tokens=7, output_tokens=3, cost_usd=0.5), task=task, attempt=attempt),
        ev.Draft(
            ev.AttemptEnded(Outcome.DELIVERED, Step.APPROVAL, True, head=HEAD, commits=2), task=task, attempt=attempt
        ),
    ]
    store = SqliteStore(log)
    store.append(lambda _: drafts, Author("daemon", 4))
    store.close()


@pytest.fixture
def delivered(cli: Cli) -> Cli:
    cli.good("add", "Rewrite the lexer", "--convoy", "parser", "--engine", "claude", "--paths", "src/**")
    cli.good("add", "Use it", "--after", "t1", "--priority", "-2")
    deliver(cli.log)
    return cli


def test_status_json_has_every_phase_and_the_documented_fields(delivered: Cli) -> None:
    found = delivered.good("status", "--json").json()
    assert list(found)[:5] == ["schema", "seq", "counts", "convoys", "tasks"]
    assert (found["schema"], found["seq"]) == (1, 8)
    counts = found["counts"]
    assert isinstance(counts, dict)
    assert list(counts) == [phase.value for phase in Phase]
    assert {phase: count for phase, count in counts.items() if count} == {"approval": 1, "waiting": 1}
    (convoy,) = found["convoys"]
    assert {**convoy, "created": ""} == {
        "name": "parser",
        "title": "",
        "created": "",
        "total": 1,
        "done": 0,
        "counts": {"approval": 1},
        "tasks": ["t1"],
    }


def test_a_task_and_its_attempts(delivered: Cli) -> None:
    first, second = delivered.good("status", "--json").json()["tasks"]
    wanted = (
        "id", "title", "phase", "reason", "since", "agent", "engine", "convoy", "after", "priority", "branch", "head",
        "attempts",
    )  # fmt: skip
    assert tuple(first)[: len(wanted)] == wanted
    plain = {key: first[key] for key in wanted if key not in ("since", "attempts")}
    assert plain == {
        "id": "t1",
        "title": "Rewrite the lexer",
        "phase": "approval",
        "reason": "",
        "agent": None,
        "engine": "claude",
        "convoy": "parser",
        "after": [],
        "priority": 0,
        "branch": "paddock/t1-rewrite",
        "head": HEAD,
    }
    (attempt,) = first["attempts"]
    assert tuple(attempt)[:7] == ("id", "outcome", "engine", "started", "ended", "head", "exit")
    facts = (attempt["id"], attempt["outcome"], attempt["engine"], attempt["head"], attempt["exit"])
    assert facts == ("t1.1", "delivered", "claude", HEAD, 0)
    assert (attempt["files"], attempt["insertions"], attempt["deletions"]) == (0, 0, 0)
    assert first["since"] == attempt["ended"] >= attempt["started"]
    assert attempt["started"].endswith("Z")
    assert (second["phase"], second["reason"], second["after"], second["priority"]) == (
        "waiting",
        "after t1",
        ["t1"],
        -2,
    )
    assert (second["branch"], second["head"], second["attempts"]) == (None, None, [])


def test_show_is_the_same_task_with_its_brief(delivered: Cli) -> None:
    shown = delivered.good("show", "t1", "--json").json()
    first, _ = delivered.good("status", "--json").json()["tasks"]
    work = shown.pop("work")
    more = {
        "brief": "Rewrite the lexer",
        "dependents": ["t2"],
        "failed_ci": None,
        "approval": None,
        "accept": None,
        "answer": "",
        "question": "",
        "findings": [],
        "verdicts": [],
        "checks": [],
        "round": 1,
    }
    assert shown.pop("settings_changed") == {}
    assert (shown.pop("reverted"), shown.pop("comments")) == (None, 0)
    assert shown == {"schema": 1, **first, **more}
    assert set(work["t1.1"]) == {"worktree", "files", "tool_calls", "last_error", "stderr", "stopped"}


def test_status_of_one_convoy_holds_its_tasks_only(delivered: Cli) -> None:
    found = delivered.good("status", "--json", "--convoy", "parser").json()
    assert [task["id"] for task in found["tasks"]] == ["t1"]


def test_log_has_one_event_a_line(delivered: Cli) -> None:
    lines = delivered.good("log", "--json").lines
    assert [line["seq"] for line in lines] == list(range(1, 9))
    assert {tuple(line) for line in lines} == {
        ("seq", "at", "actor", "generation", "kind", "task", "attempt", "body", "hash", "schema")
    }
    last = lines[-1]
    assert (last["actor"], last["generation"], last["kind"]) == ("daemon", 4, "attempt.ended")
    assert (last["task"], last["attempt"]) == ("t1", "t1.1")
    assert last["body"] == {
        "outcome": "delivered",
        "next": "approval",
        "counted": True,
        "head": HEAD,
        "commits": 2,
    }
    assert len(str(last["hash"])) == 40
    assert lines[0]["task"] is None


def test_add_prints_the_ids(cli: Cli) -> None:
    said = cli.good("add", "--file", "-", "--json", stdin=b"convoy: c\ntasks: [a, b]\n")
    assert said.json() == {"schema": 1, "ids": ["t1", "t2"], "convoy": "c", "seq": 4}


def test_every_reader_and_writer_says_its_schema(delivered: Cli) -> None:
    for arguments in (
        ("init",), ("status",), ("show", "t1"), ("convoy", "list"), ("convoy", "show", "parser"), ("log", "verify"),
        ("log", "rebuild"), ("log", "push"), ("log", "fetch"), ("config", "check"), ("config", "show"), ("doctor",),
        ("add", "x"), ("edit", "t2", "--priority", "1"), ("cancel", "t2"), ("retry", "t2"),
    ):  # fmt: skip
        said = delivered(*arguments, "--json")
        assert said.json()["schema"] == 1, arguments
        assert said.err == "", arguments


def test_config_show_gives_values_as_they_are(cli: Cli) -> None:
    found = cli.good("config", "show", "timeouts.turn", "--json").json()
    assert found["settings"] == [{"key": "timeouts.turn", "value": 3600.0, "source": "paddock.toml"}]


def test_verify_in_json_names_the_bad_record_and_exits_1(delivered: Cli) -> None:
    import apsw

    connection = apsw.Connection(str(delivered.log))
    connection.execute("UPDATE events SET actor = 'eve' WHERE seq = 3").fetchall()
    connection.close()
    said = delivered("log", "verify", "--json")
    assert said.code == 1
    assert said.json() == {
        "schema": 1,
        "records": 2,
        "bad": {"seq": 3, "problem": "its hash does not match its content"},
        "unseen": [],
    }
    told = delivered("log", "verify")
    assert (told.code, told.out) == (1, "")
    assert told.err.startswith(
        "error: record 3 is bad: its hash does not match its content; the 2 before it are intact"
    )
