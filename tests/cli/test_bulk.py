"""Commands about many tasks: ranges, convoys, all; what cannot be done is told task by task."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.errors import Misuse
from paddock.core.ids import parse_task_range, task_id
from tests.cli.conftest import Cli
from tests.cli.test_overview import deliver


@pytest.fixture
def many(cli: Cli) -> Cli:
    """t1 to t3 in a convoy, t4 and t5 in none."""
    cli.good("add", "--file", "-", "--convoy", "parser", stdin=b"- one\n- two\n- three\n")
    cli.good("add", "--file", "-", stdin=b"- four\n- five\n")
    return cli


@given(st.integers(1, 500), st.integers(0, 50), st.sampled_from(["t{}-t{}", "t{}..t{}", "T{}-{}", " t{}..{} "]))
def test_a_range_holds_every_id_from_its_first_to_its_last(first: int, more: int, shape: str) -> None:
    names = parse_task_range(shape.format(first, first + more))
    assert names == [task_id(number) for number in range(first, first + more + 1)]


@pytest.mark.parametrize("text", ["t7-t3", "t1-t99999", "t0-t3", "t3-", "t3...t5", "3-5"])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(Misuse):
        parse_task_range(text)


def test_ranges_and_lists_name_tasks(many: Cli) -> None:
    assert many.shown("cancel", "t1-t2,t4", "t5") == "cancelled t1, t2, t4, t5\n"


def test_a_convoy_is_cancelled_after_a_yes_and_without_one_nothing_happens(many: Cli) -> None:
    assert many.shown("cancel", "--convoy", "parser", stdin=b"") == (
        "--- stderr\nerror: this would cancel 3 tasks\n\n"
        "hint: add --yes to confirm, or preview it with --dry-run\n[exit 2]\n"
    )
    assert many.shown("cancel", "--convoy", "parser", "--dry-run") == (
        "would cancel 3 tasks:\n  t1    ready     one\n  t2    ready     two\n  t3    ready     three\n"
    )
    assert many.shown("cancel", "--convoy", "parser", "--yes") == "cancelled t1, t2, t3\n"
    assert many.shown("cancel", "--convoy", "parser", "--yes") == "no task to cancel\n"
    assert many.good("status", "--json").json()["counts"]["ready"] == 2


def test_all_means_those_it_can_apply_to(many: Cli) -> None:
    many.good("cancel", "t1")
    assert many.shown("retry", "--all") == "no task to retry\n"
    assert many.shown("stop", "--all", "--yes") == "no task to stop\n"
    assert many.shown("cancel", "--all", "--yes") == "cancelled t2, t3, t4, t5\n"


def test_what_cannot_be_done_is_told_task_by_task_and_the_rest_is_done(many: Cli) -> None:
    many.good("cancel", "t2")
    said = many("cancel", "t1-t3,t9")
    assert (said.code, said.out) == (1, "cancelled t1, t3\n")
    assert said.err == (
        "error: task `t2` cannot be cancelled: it was cancelled\n\nhint: see `paddock show t2`\n"
        "error: there is no task `t9`: the newest task is `t5`\n\nhint: `paddock status --all` lists them\n"
    )
    said = many("cancel", "t3,t4", "--json")
    assert said.code == 1
    assert said.json()["ids"] == ["t4"]
    assert said.json()["refused"] == [
        {"id": "t3", "error": "task `t3` cannot be cancelled: it was cancelled", "hint": "see `paddock show t3`"}
    ]


@pytest.mark.parametrize("command", ["land", "approve"])
def test_all_that_waits_for_approval_is_shown_before_it_lands(many: Cli, command: str) -> None:
    deliver(many, "t1")
    deliver(many, "t4")
    assert many.shown(command, "--all", "--dry-run") == (
        f"would {command} 2 tasks:\n  t1    approval  one\n  t4    approval  four\n"
    )
    assert many.good(command, "--convoy", "parser", "--dry-run", "--json").json() == {
        "schema": 1, "ids": ["t1"], "refused": [], "dry_run": True,
    }  # fmt: skip


def test_what_a_person_decides_is_in_the_log(many: Cli) -> None:
    deliver(many, "t1")
    many.good("reject", "t1", "-m", "Not like this")
    many.good("queue", "freeze", "-m", "holidays")
    many.good("queue", "unfreeze")
    rejected, frozen, unfrozen = many.good("log").out.splitlines()[-3:]
    assert "t1      rejected by ana@" in rejected
    assert rejected.endswith(": Not like this")
    assert frozen.endswith("merge queue frozen: nothing lands: holidays")
    assert unfrozen.endswith("merge queue unfrozen")


def test_misuse_is_told(many: Cli) -> None:
    for words, error in (
        (("cancel", "t1", "--all"), "error: task names cannot be combined with --all, --convoy or --where"),
        (("land",), "error: no task was named"),
        (("stop",), "error: no task was named"),
        (("stop", "t7-t2"), "error: `t7-t2` is not a range: t7 comes after t2"),
    ):
        said = many(*words)
        assert (said.code, said.out) == (2, "")
        assert said.err.startswith(error)
    assert many("retry", "--convoy", "nope").err.startswith("error: there is no convoy `nope`")
