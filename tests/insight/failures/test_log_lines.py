"""What runners, loggers and log drivers put around a line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.insight.failures.log_lines import is_harmless, plain_line, without_level

SAID = "disk is full"


@pytest.mark.parametrize(
    "line",
    [
        SAID,
        f"2026-11-18T03:11:02.123Z {SAID}",
        f"2026-11-18 03:11:02,123 +01:00 ERROR {SAID}",
        f"2026/11/18 03:11:02 [error] {SAID}",
        f"[03:11:02] fatal: {SAID}",
        f"Nov 18 03:11:02 build-1 agent[33161]: {SAID}",
        f"Tue Nov  8 03:11:02 2026 {SAID}",
        f"E1118 03:11:02.123456   77 runner.go:123] {SAID}",
        f"2026-11-18T03:11:02Z stderr F ##[error]{SAID}",
        f"web-1  | {SAID}",
        f'{{"ts": 1.5, "lvl": "error", "msg": "{SAID}"}}',
        f'time="2026-11-18T03:11:02Z" level=error msg="{SAID}" pid=7',
    ],
)
def test_all_loggers_say_the_same(line: str) -> None:
    assert plain_line(line) == SAID


@pytest.mark.parametrize(
    ("line", "said", "harmless"),
    [
        (f"2026-11-18T03:11:02Z INFO {SAID}", f"info: {SAID}", True),
        (f"[03:11:02] debug: {SAID}", f"debug: {SAID}", True),
        (f"[03:11:02] warn: {SAID}", f"warning: {SAID}", False),
        (f'{{"level": "WARNING", "message": "{SAID}"}}', f"warning: {SAID}", False),
        (f'level=info msg="{SAID}"', f"info: {SAID}", True),
    ],
)
def test_a_level_at_which_nothing_is_wrong_yet_stays_and_is_not_compared(line: str, said: str, harmless: bool) -> None:
    assert (plain_line(line), is_harmless(plain_line(line)), without_level(said)) == (said, harmless, SAID)


@pytest.mark.parametrize(
    "line",
    [
        "error: externally-managed-environment",
        "ERROR: No matching distribution found for x",
        "INFO",
        "03:11:02",
        "2026-11-18T03:11:02Z",
        '{"level": "error"}',
        '{"msg": 5, "err": {"code": 1}}',
        "[1, 2]",
        "{not json}",
        "the log level=error and msg= are words here",
    ],
)
def test_what_programs_print_themselves_stays_as_it_is(line: str) -> None:
    assert plain_line(line) == line


@given(st.text(max_size=200))
def test_of_any_line_something_is_left(line: str) -> None:
    flat = " ".join(line.split())
    assert bool(plain_line(flat)) == bool(flat)
