"""The list: who needs a person first, and only what changed is drawn."""

from bench.seeded_fleet import THOUSAND
from msgspec.structs import replace

from paddock.core.events import Draft, TaskEdited, TaskRejected
from paddock.core.ids import TaskId
from paddock.core.tasks.task import Phase
from paddock.tui.order import rank_of
from paddock.tui.task_list import TaskList
from tests.tui.conftest import Fleet, SeedFleet, Top

GROUPS = ("approval", "blocked", "failed", "running", "queued", "ready", "waiting", "landed")


def test_rows_stand_in_the_order_of_who_needs_a_person(fleet: Fleet) -> None:
    async def script(top: Top) -> None:
        board = fleet.board
        phases = [board.tasks[TaskId(name)].phase.value for name in top.list.order]
        shown = [phase for phase in dict.fromkeys(phases) if phase in GROUPS]
        assert shown == list(GROUPS)
        over = {"landed", "cancelled", "noop"}
        assert set(phases[-len([phase for phase in phases if phase in over]) :]) <= over
        waiting = [name for name in top.list.order if board.tasks[TaskId(name)].phase is Phase.APPROVAL]
        assert waiting == sorted(waiting, key=lambda name: board.tasks[TaskId(name)].since)
        assert top.list.current == top.list.order[0]

    fleet.play(script)


def test_a_stuck_agent_stands_before_those_that_move(fleet: Fleet) -> None:
    async def script(top: Top) -> None:
        view = top.app.fleet.seen.view
        assert view is not None
        row = next(row for row in view.tasks.values() if row.phase == "running")
        assert rank_of(replace(row, stuck="silent for 9m")) < rank_of(row)

    fleet.play(script)


def test_the_cursor_stays_on_its_task_when_rows_move_above_it(fleet: Fleet) -> None:
    async def script(top: Top) -> None:
        running = fleet.tasks_in(Phase.RUNNING)[0]
        await top.go_to(running)
        place = top.list.place
        first = top.list.order[0]
        await top.until(lambda: top.list.order[0] == first)
        head = fleet.task(first).head
        assert head is not None
        fleet.record(Draft(TaskRejected(head, "no"), task=TaskId(first)))
        await top.until(lambda: top.list.order[0] != first, "the rejected task leaves its place")
        assert top.list.current == running
        assert top.list.place == place - 1

    fleet.play(script)


def test_of_a_thousand_rows_only_those_on_the_screen_are_drawn_and_then_only_the_changed_one(seed: SeedFleet) -> None:
    fleet = seed(THOUSAND)
    drawn: list[int] = []

    async def script(top: Top) -> None:
        assert len(top.list.order) >= 800
        await top.until(lambda: "delivered" in top.page.plain, "the page of the first row")
        await top.pilot.pause()
        height = top.list.size.height
        own = TaskList.render_line

        def counted(self: TaskList, y: int) -> object:
            drawn.append(y)
            return own(self, y)

        TaskList.render_line = counted  # type: ignore[assignment,method-assign]
        try:
            visible = top.list.order[3]
            fleet.record(Draft(TaskEdited(title="Another title"), task=TaskId(visible)))
            view = top.app.fleet.seen.view
            await top.until(lambda: top.app.fleet.seen.view is not view and drawn, "the title is shown")
            assert len(drawn) <= height // 2, "that row, and those whose age has changed meanwhile"
            drawn.clear()
            await top.press("end")
            assert top.list.place == len(top.list.order) - 1
            assert len(drawn) <= 3 * height, "a jump draws a screen, not a thousand rows"
        finally:
            TaskList.render_line = own  # type: ignore[method-assign]

    fleet.play(script)


def test_a_filter_shows_only_rows_with_all_of_its_words(seed: SeedFleet) -> None:
    fleet = seed(titles=("Fix the zebra crossing", "Paint the zebra", "Feed the giraffe"))

    async def script(top: Top) -> None:
        everything = len(top.list.order)
        await top.press("slash", *"zebra")
        assert len(top.list.order) == 2
        await top.press("space", *"fix", "enter")
        assert [fleet.task(name).title for name in top.list.order] == ["Fix the zebra crossing"]
        assert "filter: zebra fix" in top.bar("tabs")
        await top.press("escape")
        assert len(top.list.order) == everything
        await top.press("slash", *"phase:running,queued -zebra", "enter")
        assert {fleet.task(name).phase for name in top.list.order} == {Phase.RUNNING, Phase.QUEUED}
        await top.press("escape", "slash", *"phase=running (a", "enter")
        assert top.bar("mistake") == "              ^ this `(` is not closed"
        assert {fleet.task(name).phase for name in top.list.order} == {Phase.RUNNING}
        await top.press("escape", "slash", *"no such word")
        assert top.bar("mistake") == ""
        assert top.list.order == ()
        assert top.list.current is None
        await top.press("a", "escape")
        assert len(top.list.order) == everything

    fleet.play(script)


def test_titles_that_look_like_markup_or_steer_a_terminal_are_drawn_as_text(seed: SeedFleet) -> None:
    titles = ("[red]alarm[/red] [/nonsense]", "\x1b[31mred\x1b[0m \u202egnp.exe", "x" * 190, "修复中文标题的宽度问题")
    fleet = seed(titles=titles)

    async def script(top: Top) -> None:
        await top.press("slash", *"alarm", "enter")
        assert "[red]alarm[/red]" in top.text
        await top.press("escape", "slash", *"gnp", "enter")
        assert "�[31mred�[0m �gnp.exe" in top.text
        await top.press("escape", "slash", *"修复", "enter")
        lines = top.text.splitlines()
        assert any("修复中文标题" in line for line in lines)
        assert "\x1b" not in top.text

    fleet.play(script, size=(120, 24))
