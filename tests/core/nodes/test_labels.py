"""What work needs of its machine, as people write it and as it is met."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.board import Board
from paddock.core.errors import Misuse
from paddock.core.events import TaskAdded, TaskEdited
from paddock.core.ids import TaskId
from paddock.core.intent.tasks import Batch, Known, TaskSpec, add_tasks, edit_task
from paddock.core.nodes.labels import MOST_NEEDS, labels_needed, need_of, needs_words, read_needs, unmet
from tests.core.ledger import Ledger

KNOWN = Known(frozenset(), frozenset({"claude"}))
keys = st.from_regex(re.compile(r"([a-z][a-z0-9]{0,8}\.io/)?[a-z][a-z0-9_.-]{0,8}[a-z0-9]"), fullmatch=True)
values = st.from_regex(re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,8}[A-Za-z0-9])?"), fullmatch=True)
labels = st.dictionaries(keys, values, max_size=5)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (("gpu",), ("gpu",)),
        (("gpu=true",), ("gpu",)),
        (("gpu: true",), ("gpu",)),
        (("os: linux", "os=linux"), ("os=linux",)),
        ((" os = linux ", "gpu"), ("os=linux", "gpu")),
        (("ray.io/accelerator-type=A100",), ("ray.io/accelerator-type=A100",)),
        ((), ()),
    ],
)
def test_needs_are_recorded_in_one_form_however_they_are_written(
    written: tuple[str, ...], read: tuple[str, ...]
) -> None:
    assert read_needs(written) == read


@pytest.mark.parametrize(
    "word",
    ["", "=", "os=", "=linux", "a b", "os=a b", "-gpu", "gpu-", "os=in(a,b)", "!gpu", "x" * 64, "é", "a=b=c", "g\x1b"],
)
def test_what_no_node_can_have_as_a_label_is_misuse(word: str) -> None:
    with pytest.raises(Misuse, match="is not a label that a node can have") as refusal:
        read_needs([word])
    assert refusal.value.message.isprintable()


def test_two_values_of_one_label_are_refused() -> None:
    with pytest.raises(Misuse, match="it needs `os=linux` and `os=darwin` at the same time"):
        read_needs(["os=linux", "os=darwin"])


def test_more_needs_than_anybody_reads_are_refused() -> None:
    with pytest.raises(Misuse, match="21 needs are more than 20"):
        read_needs([f"k{number}" for number in range(MOST_NEEDS + 1)])


@given(labels)
def test_needs_that_were_read_name_the_same_labels_and_read_the_same_again(wanted: dict[str, str]) -> None:
    needs = read_needs([f"{key}={value}" for key, value in wanted.items()])
    assert labels_needed(needs) == wanted
    assert read_needs(needs) == needs
    assert needs_words(wanted) == ", ".join(needs)


@given(labels, labels)
def test_a_machine_meets_what_it_has_and_nothing_else(wanted: dict[str, str], having: dict[str, str]) -> None:
    missing = unmet(wanted, having)
    assert unmet(wanted, {**having, **wanted}) == {}
    assert missing.items() <= wanted.items()
    assert (missing == {}) == (wanted.items() <= having.items())
    assert unmet(wanted, {}) == wanted


def test_a_tasks_own_need_wins_over_its_agents() -> None:
    assert labels_needed(("os=linux", "gpu"), ("os=darwin",)) == {"os": "darwin", "gpu": "true"}


def test_a_task_keeps_its_needs_and_an_edit_replaces_them() -> None:
    ledger = Ledger()
    drafts = add_tasks(ledger.board, Batch((TaskSpec("train", needs=("gpu=true", "os: linux")),)), KNOWN)
    assert isinstance(drafts[0].event, TaskAdded)
    ledger.write(*drafts)
    assert ledger.task("t1").needs == ("gpu", "os=linux")
    ledger.write(*edit_task(ledger.board, TaskId("t1"), TaskEdited(title="Train"), KNOWN))
    assert ledger.task("t1").needs == ("gpu", "os=linux")
    ledger.write(*edit_task(ledger.board, TaskId("t1"), TaskEdited(needs=("tpu=true",)), KNOWN))
    assert ledger.task("t1").needs == ("tpu",)
    ledger.write(*edit_task(ledger.board, TaskId("t1"), TaskEdited(needs=()), KNOWN))
    assert ledger.task("t1").needs == ()


def test_bad_needs_are_refused_with_where_they_stand() -> None:
    spec = TaskSpec("train", needs=("a b",), where="plan.yaml: task 2")
    with pytest.raises(Misuse, match=r"plan.yaml: task 2: `a b` is not a label"):
        add_tasks(Board(), Batch((spec,)), KNOWN)


def test_a_bare_word_is_the_label_with_the_value_true() -> None:
    assert need_of("gpu", "true") == "gpu"
    assert need_of("gpu", "false") == "gpu=false"
