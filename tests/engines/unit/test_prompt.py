"""The words an agent gets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.summary import find_noop
from paddock.engines.prompt import CONTINUE, Assignment, EarlierWork, first_prompt, next_prompt
from paddock.engines.reading_prompt import next_reading_prompt

TASK = Assignment(
    task="t41",
    title="Speed up parsing",
    text="Make `parse` twice as fast.",
    branch="paddock/t41-speed-up",
    brief="You tune performance. You measure before and after.",
    paths=("src/parse/**", "tests/parse/**"),
)


def test_the_first_prompt_holds_brief_task_paths_and_ending_and_nothing_else() -> None:
    assert (
        first_prompt(TASK)
        == """\
You tune performance. You measure before and after.

# Task t41: Speed up parsing
Make `parse` twice as fast.

# Your paths
Change nothing outside:
- src/parse/**
- tests/parse/**

# How to finish
You are alone in this git worktree, on branch `paddock/t41-speed-up`. Commit your work here: what is not committed \
does not count. Do not push, and do not switch, merge or rebase branches.
If only a person can decide something, run `paddock ask "..."` and end your turn: the answer is your next message.
If nothing needs to change, commit nothing and end with this line:
PADDOCK-NOOP: <reason>"""
    )


def test_what_there_is_not_is_not_mentioned() -> None:
    prompt = first_prompt(Assignment(task="t1", text="Do it.", branch="b"))
    assert prompt.startswith("# Task t1\nDo it.")
    assert "paths" not in prompt


def test_an_engine_that_remembers_gets_the_message_alone() -> None:
    assert next_prompt(TASK, " Fix the test. \n", None) == "Fix the test."
    assert next_prompt(TASK, "", None) == CONTINUE


def test_an_engine_that_forgets_is_told_what_was_done() -> None:
    so_far = EarlierWork(("1a2b Add cache",), ("src/parse/a.py",), "I was about to run the tests.")
    prompt = next_prompt(TASK, "Fix the test.", so_far)
    order = ["You tune", "# Task t41", "# Your paths", "1a2b Add cache", "src/parse/a.py", "about to run", "# Now"]
    places = [prompt.index(words) for words in (*order, "Fix the test.", "# How to finish")]
    assert places == sorted(places)


def test_an_engine_that_forgets_is_told_when_nothing_was_done() -> None:
    assert "earlier turns\nNothing." in next_prompt(TASK, "Go.", EarlierWork())


def test_long_histories_are_cut_and_say_so() -> None:
    so_far = EarlierWork(
        tuple(f"commit {n}" for n in range(500)), tuple(f"file {n}" for n in range(500)), "w " * 50_000
    )
    prompt = next_prompt(TASK, "Go.", so_far)
    assert "- and 480 more" in prompt
    assert len(prompt) < 5_000


@given(st.text(max_size=200))
def test_the_prompt_itself_declares_no_noop(text: str) -> None:
    assignment = Assignment(task="t1", text=text.replace("PADDOCK", ""), branch="b")
    assert find_noop(first_prompt(assignment)) is None


def test_a_title_that_is_only_the_first_line_of_the_brief_is_not_said_twice() -> None:
    for title in ("Do it.", "Do…", ""):
        prompt = first_prompt(Assignment("t1", "Do it.\nAll of it.", "b", title=title))
        assert prompt.startswith("# Task t1\nDo it.\nAll of it.")
    assert first_prompt(Assignment("t1", "# Do it\nNow.", "b", title="Do it")).startswith("# Task t1\n# Do it\nNow.")


@pytest.mark.parametrize("message", ["", "Smaller, please."])
def test_a_reader_that_remembers_is_never_told_nothing_and_hears_where_to_answer(message: str) -> None:
    prompt = next_reading_prompt(message, "/answers/turn-2")
    assert prompt.startswith(message or "Your last turn was interrupted.")
    assert "`/answers/turn-2`" in prompt
