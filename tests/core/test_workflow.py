"""Workflows become tasks: whatever the variables are, every need is met, nothing waits for itself, all is bounded."""

import itertools
import json
from contextlib import suppress

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from paddock.core.cycles import find_cycle
from paddock.core.errors import Misuse
from paddock.core.intent.tasks import Batch, Known, add_tasks
from paddock.core.workflow import (
    TASK_LIMIT,
    Variable,
    Workflow,
    WorkflowStep,
    choose_values,
    expand,
    fill,
    free_convoy,
    places_in,
    read_items,
    resolve_commits,
)
from tests.core.ledger import Ledger

words = st.text(st.characters(codec="utf-8", exclude_characters="{}\0", exclude_categories=("Cs", "Cc")), max_size=30)
items = st.lists(words.map(str.strip).filter(bool), min_size=1, max_size=6)


@st.composite
def workflows(draw: st.DrawFn) -> Workflow:
    count = draw(st.integers(1, 8))
    steps = []
    for number in range(count):
        for_each = draw(st.sampled_from([None, "things", ("a", "b", "{{ goal }}")]))
        brief = f"{draw(words)}x {{{{ goal }}}}{'{{item}}' if for_each is not None else ''}"
        needs = draw(st.lists(st.sampled_from([f"s{n}" for n in range(number)]), unique=True)) if number else []
        steps.append(WorkflowStep(f"s{number}", brief, needs=tuple(needs), for_each=for_each))
    draw(st.randoms()).shuffle(steps)
    return Workflow("flow", "flow.yaml", tuple(steps), variables=(Variable("goal"), Variable("things", "one")))


def instances(workflow: Workflow, batch: Batch) -> dict[str, set[str]]:
    keys = {str(one.key) for one in batch.tasks}
    return {step.name: {key for key in keys if key.partition(".")[0] == step.name} for step in workflow.steps}


@given(workflows(), words, items)
def test_an_expansion_folds_joins_every_instance_and_leaves_no_variable(
    workflow: Workflow, goal: str, things: list[str]
) -> None:
    assume(goal.strip())
    values = choose_values(workflow, {"goal": goal, "things": json.dumps(things)})
    batch = expand(workflow, values)
    found = instances(workflow, batch)
    by_key = {str(one.key): one for one in batch.tasks}
    for step in workflow.steps:
        count = len(set(things)) if step.for_each == "things" else 1 if step.for_each is None else 3
        assert len(found[step.name]) == count
        for key in found[step.name]:
            assert set(by_key[key].inputs) == set().union(*(found[need] for need in step.needs))
    for one in batch.tasks:
        assert not places_in(one.brief)
        assert not places_in(one.title or "")
        assert goal in one.brief
    assert len(batch.tasks) <= TASK_LIMIT
    ledger = Ledger()
    ledger.write(*add_tasks(ledger.board, batch, Known()))  # in an order in which each follows what it needs
    assert len(ledger.board.tasks) == len(batch.tasks)


@given(st.dictionaries(st.sampled_from("abcdef"), st.lists(st.sampled_from("abcdef"), max_size=4), max_size=6))
def test_a_cycle_is_found_exactly_where_names_wait_for_each_other(needs: dict[str, list[str]]) -> None:
    cycle = find_cycle(needs)
    if cycle:
        assert cycle[0] == cycle[-1]
        assert all(after in needs[name] for name, after in itertools.pairwise(cycle))
        return
    left = dict(needs)
    while free := [name for name, after in left.items() if not any(one in left for one in after)]:
        for name in free:
            del left[name]
    assert not left


def test_values_are_put_in_once_and_never_looked_into() -> None:
    assert fill("{{ a }} and {{b}}", {"a": "{{ b }}", "b": "{{ a }}"}) == "{{ b }} and {{ a }}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a, b,,a", ("a", "b")),
        ('["a, b", 3, "c"]', ("a, b", "3", "c")),
        ("[not, json", ("[not", "json")),
        (" , ", ()),
    ],
)
def test_lists_are_read_as_people_give_them(text: str, found: tuple[str, ...]) -> None:
    assert read_items(text) == found


def test_missing_and_unknown_variables_are_told_with_what_they_mean() -> None:
    variables = (Variable("goal", description="what to build"), Variable("files"), Variable("deep", "no"))
    workflow = Workflow("flow", "", (WorkflowStep("a", "x"),), variables=variables)
    with pytest.raises(Misuse) as missing:
        choose_values(workflow, {"deep": "yes"})
    assert missing.value.message == "workflow `flow` needs 2 variables: `goal`, what to build; `files`"
    assert missing.value.hint == "add `-v goal=… -v files=…`"
    with pytest.raises(Misuse, match="has no variable `gaol`") as unknown:
        choose_values(workflow, {"gaol": "x"})
    assert unknown.value.hint == "did you mean `goal`?"


def test_a_list_that_is_empty_or_too_long_is_refused() -> None:
    workflow = Workflow("flow", "", (WorkflowStep("a", "{{ item }}", for_each="of"),), variables=(Variable("of", ""),))
    with pytest.raises(Misuse, match="that list is empty"):
        expand(workflow, {"of": ""})
    with pytest.raises(Misuse, match=f"would add {TASK_LIMIT + 1} tasks; the limit is {TASK_LIMIT}"):
        expand(workflow, {"of": ",".join(map(str, range(TASK_LIMIT + 1)))})


def test_a_branch_becomes_the_commit_it_is_at_and_an_unknown_one_is_refused() -> None:
    workflow = Workflow("flow", "", (), variables=(Variable("branch", "", is_commit=True), Variable("x", "topic")))
    commits = {"topic": "f64c8f9"}
    assert resolve_commits(workflow, {"branch": "topic", "x": "topic"}, commits.get) == {
        "branch": "f64c8f9",
        "x": "topic",
    }
    assert resolve_commits(workflow, {"branch": "", "x": ""}, commits.get)["branch"] == ""
    with pytest.raises(Misuse, match="has no commit `gone`"):
        resolve_commits(workflow, {"branch": "gone", "x": ""}, commits.get)


def test_each_run_gets_a_convoy_of_its_own() -> None:
    assert free_convoy("feature", {"feature-1", "feature-3", "other-2"}) == "feature-2"


@given(st.text(max_size=60))
def test_any_text_can_be_asked_for_its_variables(text: str) -> None:
    with suppress(KeyError):
        fill(text, {})
