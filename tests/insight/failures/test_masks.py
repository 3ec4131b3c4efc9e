"""What differs between two failures that are alike is masked, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.insight.failures.masks import mask

MESSY = st.text(st.sampled_from("ab0f9./:-_'\"`<>[]()#~\\ \tZ…é"), max_size=80)


@pytest.mark.parametrize(
    ("line", "masked"),
    [
        ("GET https://pypi.org/simple/x?y=1 failed", "get <url> failed"),
        ("run 3f2504e0-4f89-11d3-9a0c-0305e82c3301 ended", "run <id> ended"),
        ("commit 9ab07cdef1234567890", "commit <id>"),
        ("request req_011CSAeBzVu26tAyEMdGoEbH", "request <id>"),
        ("2026-11-19T04:10:00.123Z error", "<time> error"),
        ("dial 10.0.0.7:5432 refused", "dial <ip> refused"),
        ("cannot open /home/me/x.txt", "cannot open <path>"),
        ("no module named 'yaml'", "no module named <q>"),
        ("exit code 137 after 12.5s", "exit code <n> after <n>s"),
        ("can't start, won't stop", "can't start, won't stop"),
    ],
)
def test_each_kind_has_its_mask(line: str, masked: str) -> None:
    assert mask(line) == masked


def test_the_task_is_masked_however_it_is_spelt() -> None:
    assert mask("build of Fix-Login.v2 failed", "fix-login.v2") == "build of <task> failed"
    assert mask("project fix_login_v2 failed", "fix-login.v2") == "project <task> failed"


def test_what_is_quoted_stays_where_it_names_the_cause() -> None:
    assert mask("No module named 'yaml'", keeps_quoted=True) == "no module named 'yaml'"


@given(MESSY | st.text(max_size=120), st.sampled_from(["", "job-1", "a/b.c", "<q>"]))
def test_a_mask_of_a_mask_is_itself(line: str, task: str) -> None:
    once = mask(line, task)
    assert mask(once, task) == once
