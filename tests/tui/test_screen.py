"""The screen as a whole: every size, its tabs, and a fleet and a log that come and go under it."""

import os
import signal
import time
from functools import partial

import pytest
from bench.seeded_fleet import Herd
from msgspec.structs import replace
from rich.cells import cell_len

from paddock.core.board import DAEMON_LEASE
from paddock.core.events import Draft
from paddock.core.ids import TaskId
from paddock.core.review.events import Claim, FindingReported, Severity
from paddock.core.tasks.task import Phase
from paddock.fleet.workspace import Workspace
from paddock.git.repo import discover
from paddock.tui.feed import QuotaUse
from paddock.tui.header import header_lines
from paddock.views.notices import Notice
from tests.fleet.conftest import make_yard, yard, yard_template
from tests.fleet.yard import Yard, commit, write
from tests.tui.conftest import Fleet, SeedFleet, Top

__all__ = ["make_yard", "yard", "yard_template"]

MANY = Herd(landed=30, running=20, approval=8, queued=6, ready=10, waiting=12, blocked=3, failed=2, hours=6.0)


SIZES = ((80, 24), (40, 12), (200, 60), (30, 8), (120, 15))


@pytest.mark.parametrize("first", [(80, 24), (30, 8)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_every_size_shows_whole_rows_and_tells_how_many_are_out_of_sight(
    seed: SeedFleet, first: tuple[int, int]
) -> None:
    """Whether it is opened in a terminal of that size or the terminal changes."""
    fleet = seed(MANY)

    async def script(top: Top) -> None:
        await top.until(lambda: "preview" in top.bar("tabs"))
        await top.pilot.pause()
        assert_filled(top, *first)
        for size in SIZES if first == SIZES[0] else ():
            await top.pilot.resize_terminal(*size)
            await top.pilot.pause()
            await top.until(partial(_fills, top, size[0]), f"{size[0]} columns")
            await top.until(partial(_tells_hidden, top), "how many are out of sight")
            assert_filled(top, *size)

    fleet.play(script, size=first)


def assert_filled(top: Top, width: int, height: int) -> None:
    lines = top.text.splitlines()
    assert len(lines) == height
    assert {cell_len(line) for line in lines} == {width}
    assert _tells_hidden(top)
    assert "? help" in lines[-1]
    shown = top.list.size.height
    for name in top.list.order[:shown]:
        assert any(f" {name} " in line for line in lines), f"{name} has a row"
    assert top.page.display == (height >= 16)
    parts = [top.list.region, top.page.region if top.page.display else None]
    regions = [part for part in parts if part is not None]
    assert all(not a.overlaps(b) for a in regions for b in regions if a is not b)
    place = top.list.place - top.list.scroll_offset.y
    assert 0 <= place < shown, "the cursor is in sight"


def _tells_hidden(top: Top) -> bool:
    return f"{len(top.list.order) - top.list.size.height} below" in top.bar("tabs")


def _fills(top: Top, width: int) -> bool:
    return {cell_len(line) for line in top.text.splitlines()} == {width}


def test_the_head_tells_counts_money_quotas_and_what_lands_next(fleet: Fleet) -> None:
    async def script(top: Top) -> None:
        view = top.app.fleet.seen.view
        assert view is not None
        quotas = (QuotaUse("claude", "5 hours", 0.43), QuotaUse("codex", "week", 0.97))
        lines = [line.plain for line in header_lines(view, quotas, 200, 4, time.time())]
        assert "5 need you" in lines[0]
        assert "no daemon: paddock up" in lines[0]
        assert any("codex week 97% [███████░] · claude 5 hours 43% [███░░░░░]" in line for line in lines)
        assert any(line.startswith("queue open · 2 queued") and "● r" in line for line in lines)
        narrow = [line.plain for line in header_lines(view, quotas, 80, 4, time.time())]
        assert narrow[0].startswith("app  5 need you  ● 3  » 2  ◆ 3  ! 1  ✗ 1  ○ 2  · 2  ✓ 4"), (
            "all of them, as symbols"
        )
        told = replace(view, notices=(Notice("halted", "main is red " * 20, "paddock queue why r1"),))
        notice = header_lines(told, quotas, 80, 4, time.time())[1]
        assert notice.plain.endswith("… · run: paddock queue why r1")
        assert notice.cell_len <= 80

    fleet.play(script)


def test_each_tab_shows_its_page_of_the_row(fleet: Fleet) -> None:
    async def script(top: Top) -> None:
        name = fleet.tasks_in(Phase.APPROVAL)[0]
        await top.go_to(name)
        await top.until(lambda: fleet.task(name).title in top.bar("facts"))
        assert "is waiting for approval, since" in top.bar("facts")
        await top.press("2")
        await top.until(lambda: "@@" in top.page.plain, "the patch")
        await top.until(lambda: {"green", "red"} <= top.colours("+", "-"), "in the colours of a patch")
        await top.press("4")
        await top.until(lambda: "added:" in top.page.plain, "what happened")
        claim = Claim("it loses data", "a.py", 3, Severity.ERROR, "ran it\nwithout a disk")
        fleet.record(Draft(FindingReported("f1", "a" * 40, "ann", claim, blocking=True), TaskId(name)))
        await top.press("5")
        await top.until(lambda: "f1 error blocks a.py:3" in top.page.plain, "its findings")
        assert "without a disk" in top.page.plain
        await top.until(lambda: "1 blocking finding" in top.text, "how many are open")
        await top.press("3")
        await top.until(lambda: "no CI run" in top.page.plain, "its CI runs")
        await top.go_to(fleet.tasks_in(Phase.LANDED)[0])
        await top.until(lambda: "pass" in top.page.plain)
        blocked = fleet.task(fleet.tasks_in(Phase.BLOCKED)[0])
        await top.go_to(blocked.id)
        await top.press("1")
        await top.until(lambda: f"run: {blocked.unblock}" in top.bar("facts").splitlines()[1], "what to run")
        await top.press("enter")
        assert not top.list.display
        await top.press("escape")
        assert top.list.display

    fleet.play(script)


def test_help_lists_every_key(fleet: Fleet) -> None:
    async def script(top: Top) -> None:
        await top.press("question_mark")
        await top.until(lambda: "approve the version shown" in top.text)
        for words in ("reject it", "try it again", "stop its agent", "leave; the fleet goes on", "others say why not"):
            assert words in top.text
        await top.press("escape", "q")
        await top.until(lambda: not top.app.is_running)

    fleet.play(script)


def test_a_log_that_is_gone_is_said_and_nothing_crashes(fleet: Fleet) -> None:
    async def script(top: Top) -> None:
        shown = list(top.list.order)
        state = fleet.workspace.state_dir
        state.rename(state.with_name("elsewhere"))
        await top.until(lambda: top.bar("top").startswith("! "), "the trouble is said")
        assert list(top.list.order) == shown, "what was known stays in sight"
        assert "paddock log fetch" in top.bar("top"), "with what to do"
        await top.press("a", "2", "j", "k")
        await top.until(lambda: top.toasts, "a request is refused")
        await top.until(lambda: "log fetch" in top.page.plain)
        state.with_name("elsewhere").rename(state)
        await top.until(lambda: not top.bar("top").startswith("! "), "it is read again")
        await top.until(lambda: "@@" in top.page.plain, "so is the page")
        away = fleet.top.rename(fleet.top.with_name("moved"))
        await top.until(lambda: f"`{fleet.top}` is gone" in top.bar("top"))
        away.rename(fleet.top)
        await top.until(lambda: "need you" in top.bar("top").splitlines()[0])

    fleet.play(script)


def test_a_fleet_is_followed_from_its_daemon_s_start_to_its_end(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    yard.env["PADDOCK_LAND_CI"] = "true"
    for name, value in yard.env.items():
        monkeypatch.setenv(name, value)
    yard.add(
        write("a.py", "print(1)\n"), {"say": "Halfway [red]there[/red]"}, {"think": 1.0}, commit(), title="Print it"
    )
    fleet = Fleet(yard.top)

    async def script(top: Top) -> None:
        assert "no daemon: paddock up" in top.bar("top")
        daemon = yard.start("run")
        await top.until(lambda: "daemon up" in top.bar("top"))
        await top.until(lambda: "Halfway [red]there[/red]" in top.text, "its last words")
        await top.until(lambda: "a approve" in top.bar("keys"), "it waits for approval")
        await top.press("a")
        await top.until(lambda: fleet.task("t1").phase is Phase.LANDED, "it lands")
        await top.until(lambda: "✓ landed" in top.text)
        os.kill(daemon.pid, signal.SIGTERM)
        await top.until(lambda: "no daemon" in top.bar("top"), "the daemon has ended")

    fleet.play(script)


def test_an_empty_log_says_what_to_run(yard: Yard) -> None:
    async def script(top: Top) -> None:
        assert "paddock add" in top.text
        await top.press("a", "j", "enter", "d", "x")
        assert DAEMON_LEASE not in Workspace(discover(yard.top)).board().leases.held

    Fleet(yard.top).play(script)
