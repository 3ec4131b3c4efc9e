"""What the live view shows on a terminal of any size: never more than fits, and how much does not."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.cli.pages.live import NOTHING_YET, lay_out
from paddock.cli.pages.scene import AgentRow, NeedRow, Scene
from paddock.cli.terminal.screen import StyledLine, style_line
from paddock.core.columns import columns
from paddock.core.tasks.task import Phase

TITLE = "Rewrite the parser so that every error names its place and nothing is lost on the way"
STEP = "Bash python3 -m pytest tests/parser -q"


def agent(number: int, **fields: str) -> AgentRow:
    return replace(AgentRow(f"t{number}.1", TITLE, "12m", "$1.25", "+120 −31", STEP, ""), **fields)


def need(number: int, what: str = "approve", **fields: str) -> NeedRow:
    command = f"paddock diff t{number}, then paddock land t{number}"
    return replace(NeedRow("◆", "yellow", f"t{number}", what, TITLE, "1 commit", "3m", command), **fields)


def scene(agents: int = 0, needs: int = 0, lines: int = 20) -> Scene:
    """Agents from t1 on, needs from t2001 on."""
    return Scene(
        name="shop",
        counts=((Phase.READY, 9), (Phase.RUNNING, agents), (Phase.APPROVAL, needs), (Phase.LANDED, 1200)),
        done=1200,
        total=1209 + agents + needs,
        standing=(("daemon running for 3h", ""), (f"{agents}/25 agents", ""), ("$3.21 of $20.00 today", "")),
        limit="9 tasks waiting: agent cap reached (25/25)",
        queue=(
            ("merge queue open, 4 queued", ""),
            ("next: t3, t4 in about 2m", ""),
            ("r12 train t3, t4 for 20s, 40s left", "dim"),
            ("r13 screen t9 for 3s, 57s left", "dim"),
        ),
        needs=tuple(need(number) for number in range(2001, 2001 + needs)),
        agents=tuple(agent(number) for number in range(1, agents + 1)),
        history=tuple(f"12:00:{number:02}  t{number:<6} started with claude" for number in range(lines)),
    )


def test_the_address_of_the_page_is_whole_or_it_says_where_to_get_it() -> None:
    address = f"http://127.0.0.1:6174/?token={'a' * 32}"
    for width, height in ((80, 24), (200, 50), (80, 8)):
        assert address in draw(replace(scene(25, 3), page=address), width, height)
    assert address in draw(replace(scene(), page=address, counts=()), 80, 24)
    narrow = draw(replace(scene(25, 3), page=address), 50, 24)
    assert "token" not in "\n".join(narrow)
    assert "`paddock web` prints the address of the page" in narrow


def text(lines: list[StyledLine]) -> list[str]:
    return [style_line(line, colourful=False) for line in lines]


def draw(drawn: Scene, width: int, height: int) -> list[str]:
    lines = text(lay_out(drawn, width, height, "q leaves"))
    assert len(lines) <= height
    assert all(columns(line) <= width for line in lines), lines
    return lines


def shown(lines: list[str], pattern: str) -> int:
    return sum(re.search(pattern, line) is not None for line in lines)


def assert_hidden_rows_are_told(drawn: Scene, lines: list[str]) -> None:
    """Each row is on the screen, or counted in a heading or in one line for all of them."""
    for heading, rows, pattern in (
        ("needs you", drawn.needs, r"^  \S (approve|answer|blocked|failed) +t\d+ "),
        ("agents", drawn.agents, r"^  t\d+\.\d+ "),
    ):
        there = shown(lines, pattern)
        if there == len(rows):
            continue
        told = f"{there:,} of {len(rows):,} shown, {len(rows) - there:,} more"
        none_at_all = there == 0 and any(f"{heading} {len(rows):,}" in line and "not shown" in line for line in lines)
        assert none_at_all or f"{heading}  {told}" in lines, (heading, lines)


def test_a_fleet_that_fits_is_shown_whole_and_in_order() -> None:
    assert draw(scene(agents=2, needs=1, lines=2), 100, 30) == [
        "shop  ○ 9 ready  ● 2 running  ◆ 1 approval  ✓ 1,200 landed  1,200/1,212 done",
        "daemon running for 3h · 2/25 agents · $3.21 of $20.00 today",
        "9 tasks waiting: agent cap reached (25/25)",
        "merge queue open, 4 queued · next: t3, t4 in about 2m · r12 train t3, t4 for 20s, 40s left",
        "r13 screen t9 for 3s, 57s left",
        "",
        "needs you  1",
        "  ◆ approve t2001 Rewrite the parser so that every error names its place and nothin… · 1 commit · 3m",
        "  run: paddock diff t2001, then paddock land t2001",
        "",
        "agents  2",
        "  t1.1  Rewrite the parser so that eve… 12m $1.25 +120 −31  Bash python3 -m pytest tests/parser -q",
        "  t2.1  Rewrite the parser so that eve… 12m $1.25 +120 −31  Bash python3 -m pytest tests/parser -q",
        "",
        "12:00:00  t0      started with claude",
        "12:00:01  t1      started with claude",
        "",
        "q leaves",
    ]


def test_25_agents_on_80_by_24_are_cropped_and_that_is_told() -> None:
    lines = draw(scene(agents=25), 80, 24)
    assert "agents  18 of 25 shown, 7 more" in lines
    assert len(lines) == 24


def test_those_who_need_a_person_and_the_agents_share_a_small_screen() -> None:
    lines = draw(scene(agents=25, needs=30), 80, 24)
    assert shown(lines, r"approve t\d+") == 4
    assert shown(lines, r"^  t\d+\.1 ") == 9, "what is left of a row of two lines is not lost"
    assert len(lines) == 24
    assert_hidden_rows_are_told(scene(agents=25, needs=30), lines)


def test_a_wide_terminal_shows_titles_whole_and_commands_beside_them() -> None:
    lines = draw(scene(agents=3, needs=2), 200, 60)
    assert shown(lines, re.escape(TITLE)) == 5
    assert shown(lines, r"1 commit · 3m +paddock diff t2001, then paddock land t2001$") == 1
    assert shown(lines, re.escape(STEP)) == 3


def test_on_40_by_10_the_counts_become_symbols_and_something_of_everything_is_left() -> None:
    lines = draw(scene(agents=25, needs=3), 40, 10)
    assert lines[0] == "○ 9  ● 25  ◆ 3  ✓ 1,200  1,200/1,237 do…"
    assert_hidden_rows_are_told(scene(agents=25, needs=3), lines)
    assert shown(lines, r"^  t\d+\.1 ") >= 1
    assert shown(lines, r"approve t2001") == 1


def test_a_thousand_agents_cost_no_more_lines_than_there_are() -> None:
    lines = draw(scene(agents=1000, needs=400), 80, 24)
    assert_hidden_rows_are_told(scene(agents=1000, needs=400), lines)


def test_an_empty_fleet_says_what_to_run() -> None:
    standing = (("no daemon is running", "yellow"),)
    empty = replace(scene(lines=0), counts=(), limit="", queue=(), standing=standing)
    assert draw(empty, 80, 24) == [f"shop  {NOTHING_YET}", "no daemon is running", "", "q leaves"]


def test_an_agent_that_looks_stuck_says_so_before_its_step() -> None:
    assert shown(draw(scene(agents=1), 100, 24), "quiet") == 0
    stuck = replace(scene(), agents=(agent(1, stuck="quiet for 6m"),))
    assert shown(draw(stuck, 100, 24), r"quiet for 6m Bash python3") == 1
    assert shown(draw(stuck, 60, 24), r"quiet for 6m") == 1


@pytest.mark.parametrize(
    "hostile", ["\x1b[2J\x1b]0;x\x07", "a\nb\rc\td", "\u202egnp.exe", "\x00" * 9, "宽" * 300, "e\u0301" * 500]
)
def test_what_agents_and_people_write_steers_no_terminal(hostile: str) -> None:
    drawn = replace(
        scene(1, 1),
        name=hostile,
        limit=hostile,
        needs=(need(1, title=hostile, reason=hostile, command=hostile),),
        agents=(agent(1, title=hostile, step=hostile, stuck=hostile),),
        history=(hostile,),
        queue=((hostile, ""),),
        standing=((hostile, ""),),
    )
    for width, height in ((80, 24), (200, 60), (40, 10)):
        for line in draw(drawn, width, height):
            assert line.isprintable(), repr(line)


scenes = st.builds(scene, st.integers(0, 60) | st.just(1000), st.integers(0, 30) | st.just(500), st.integers(0, 40))


@given(scenes, st.integers(0, 250), st.integers(0, 80))
def test_there_are_never_more_lines_or_columns_than_the_terminal_has(drawn: Scene, width: int, height: int) -> None:
    lines = draw(drawn, width, height)
    if width >= 40 and height >= 1:
        assert_hidden_rows_are_told(drawn, lines)


words = st.text(max_size=60)


@given(
    st.lists(st.builds(AgentRow, st.from_regex(r"\At[1-9]\d{0,8}\.[1-9]\d?\Z"), *[words] * 6), max_size=6),
    st.lists(st.builds(NeedRow, words, st.just("red"), *[words] * 6), max_size=6),
    st.lists(words, max_size=6),
    st.integers(1, 130),
    st.integers(1, 40),
)
def test_whatever_is_in_it_the_view_stays_within_the_terminal_and_is_safe(
    agents: list[AgentRow], needs: list[NeedRow], told: list[str], width: int, height: int
) -> None:
    spans = tuple((word, "") for word in told)
    drawn = replace(scene(), agents=tuple(agents), needs=tuple(needs), history=tuple(told), queue=spans, standing=spans)
    for line in draw(drawn, width, height):
        assert line.isprintable(), repr(line)
