"""Keys: what is legal is done and recorded, what is not says why."""

import pytest

from paddock.core.tasks.task import Phase
from paddock.tui.dialogs import AskText, AskYes, ShowLines
from paddock.tui.seen_versions import SeenVersions
from tests.fleet.conftest import make_yard, yard, yard_template
from tests.fleet.yard import Yard
from tests.tui.conftest import Fleet, Top

__all__ = ["make_yard", "yard", "yard_template"]


def test_only_legal_actions_are_offered(fleet: Fleet) -> None:
    async def script(top: Top) -> None:
        await top.go_to(fleet.tasks_in(Phase.APPROVAL)[0])
        assert "a approve  r reject  m message" in top.bar("keys")
        assert "s stop" not in top.bar("keys")
        await top.go_to(fleet.tasks_in(Phase.RUNNING)[0])
        assert "s stop" in top.bar("keys")
        assert "a approve" not in top.bar("keys")
        await top.go_to(fleet.tasks_in(Phase.BLOCKED)[0])
        assert top.bar("keys").startswith("m message  t retry  a approve  d diff"), "what helps comes first"
        await top.go_to(fleet.tasks_in(Phase.WAITING)[0])
        assert "approve" not in top.bar("keys")
        assert "? help" in top.bar("keys")

    fleet.play(script, size=(160, 40))


def test_a_key_that_is_not_legal_says_why_and_records_nothing(fleet: Fleet) -> None:
    async def script(top: Top) -> None:
        before = fleet.board.seq
        await top.go_to(fleet.tasks_in(Phase.WAITING)[0])
        await top.press("a")
        await top.until(lambda: "cannot be approved" in top.toasts)
        await top.press("c")
        assert "nothing to connect" in top.toasts
        assert fleet.board.seq == before

    fleet.play(script)


def test_approving_queues_the_shown_version_and_the_next_row_comes_under_the_cursor(fleet: Fleet) -> None:
    async def script(top: Top) -> None:
        first, second = top.list.order[:2]
        head = fleet.task(first).head
        await top.press("a")
        await top.until(lambda: fleet.task(first).phase is Phase.QUEUED, "it is queued")
        assert fleet.board.queue.entries[first].change.head == head
        await top.until(lambda: top.list.current == second, "the next one that needs a person")
        assert "no daemon is running" in top.toasts

    fleet.play(script)


def test_rejecting_asks_for_a_comment_that_reaches_the_agent(fleet: Fleet) -> None:
    async def script(top: Top) -> None:
        name = top.list.order[0]
        await top.press("r")
        assert isinstance(top.app.screen, AskText)
        await top.press("escape", "s")
        await top.until(lambda: top.app._notifications, "why it cannot be stopped")
        await top.press("r")
        assert not top.app._notifications, "nothing covers what is asked"
        await top.press("ctrl+c")
        await top.until(lambda: not isinstance(top.app.screen, AskText))
        assert fleet.task(name).phase is Phase.APPROVAL
        await top.press("r", *"more", "ctrl+j", *"tests", "enter")
        await top.until(lambda: fleet.task(name).phase is not Phase.APPROVAL)
        assert fleet.records(name, "task.rejected")[-1].event.message == "more\ntests"  # type: ignore[attr-defined]

    fleet.play(script)


def test_what_is_pasted_into_a_message_is_kept_whole(fleet: Fleet) -> None:
    from textual.events import Paste

    async def script(top: Top) -> None:
        name = fleet.tasks_in(Phase.RUNNING)[0]
        await top.go_to(name)
        await top.press("m")
        top.app.post_message(Paste("first [bold]line\nsecond line"))
        await top.pilot.pause()
        await top.press("enter")
        await top.until(lambda: fleet.task(name).inbox)
        assert fleet.records(name, "message.sent")[-1].event.text == "first [bold]line\nsecond line"  # type: ignore[attr-defined]
        await top.press("m", "enter")
        assert "the message is empty" in top.toasts

    fleet.play(script)


def test_what_is_typed_at_once_after_the_key_that_opens_a_field_is_for_that_field(fleet: Fleet) -> None:
    """Over a slow line keys come together: none of them may be taken for a request."""
    from textual.events import Key

    async def script(top: Top) -> None:
        def type_at_once(*keys: str) -> None:
            for key in keys:
                top.app.post_message(Key(key, key if len(key) == 1 else "/" if key == "slash" else None))

        before, name = fleet.board.seq, fleet.tasks_in(Phase.RUNNING)[0]
        type_at_once("slash", *"tax")
        await top.until(lambda: "filter: tax" in top.bar("tabs"))
        await top.press("escape")
        await top.go_to(name)
        type_at_once("m", *"say a", "enter")
        await top.until(lambda: fleet.task(name).inbox)
        assert fleet.records(name, "message.sent")[-1].event.text == "say a"  # type: ignore[attr-defined]
        assert fleet.board.seq == before + 1

    fleet.play(script)


def test_a_version_that_has_just_replaced_another_is_not_what_was_seen() -> None:
    now = [0.0]
    versions = SeenVersions(lambda: now[0])
    assert versions.of("t1") is None
    versions.show("t1", "one")
    assert versions.of("t1") == "one", "nothing else was there before"
    now[0] = 60.0
    versions.show("t1", "two")
    versions.show("t1", "two")
    now[0] = 60.4
    assert versions.of("t1") == "one"
    versions.show("t1", "three")
    assert versions.of("t1") == "one", "nor was what was there for less than that"
    now[0] = 62.0
    assert versions.of("t1") == "three"


def test_stopping_asks_first(fleet: Fleet) -> None:
    async def script(top: Top) -> None:
        name = fleet.tasks_in(Phase.RUNNING)[0]
        await top.go_to(name)
        await top.press("s")
        assert isinstance(top.app.screen, AskYes)
        await top.press("n")
        assert not fleet.records(name, "attempt.stop_requested")
        await top.press("s", "y")
        await top.until(lambda: fleet.records(name, "attempt.stop_requested"))

    fleet.play(script)


@pytest.mark.parametrize("phase", [Phase.FAILED, Phase.BLOCKED])
def test_what_failed_is_retried_with_one_key(fleet: Fleet, phase: Phase) -> None:
    async def script(top: Top) -> None:
        name = fleet.tasks_in(phase)[0]
        await top.go_to(name)
        await top.press("t")
        await top.until(lambda: fleet.task(name).phase is not phase)
        assert fleet.records(name, "task.retried")

    fleet.play(script)


def test_a_request_for_several_names_those_it_is_not_for(fleet: Fleet) -> None:
    async def script(top: Top) -> None:
        approvals = fleet.tasks_in(Phase.APPROVAL)
        blocked = next(name for name in top.list.order if name not in approvals)
        await top.go_to(top.list.order[0])
        await top.press(*"xxxx")
        assert top.list.chosen == {*approvals, blocked}
        assert "4 selected:" in top.bar("keys")
        await top.press("r")
        assert f"not possible for 1 of those selected: {blocked}" in top.text
        await top.press("escape", "a")
        assert isinstance(top.app.screen, AskYes)
        await top.press("y")
        await top.until(lambda: len(fleet.tasks_in(Phase.APPROVAL)) == 0, "all are queued")
        assert not top.list.chosen

    fleet.play(script)


def test_an_outdated_approval_is_refused_with_the_difference_and_can_be_given_to_the_newer(fleet: Fleet) -> None:
    async def script(top: Top) -> None:
        name = top.list.order[0]
        await top.press("d")
        await top.until(lambda: top.app.fleet.pages.versions.of(name), "the patch is read")
        # What the screen shows is older than what the log has by now.
        seen = fleet.git("rev-parse", f"{fleet.task(name).head}~1")
        top.app.fleet.pages.versions = SeenVersions()
        top.app.fleet.pages.versions.show(name, seen)
        before = fleet.board.seq
        await top.press("a")
        await top.until(lambda: isinstance(top.app.screen, ShowLines), "the difference is shown")
        await top.until(lambda: "+" in top.text)
        assert f"you saw {seen[:10]}" in top.text.replace("\n", " ")
        assert fleet.board.seq == before
        await top.press("a")
        await top.until(lambda: fleet.task(name).phase is Phase.QUEUED)

    fleet.play(script)


def test_a_refusal_shows_its_message_and_its_hint(fleet: Fleet) -> None:
    """Two people approve at once: the second is told."""

    async def script(top: Top) -> None:
        from paddock.tui.requests import Request, perform

        name = fleet.tasks_in(Phase.QUEUED)[0]
        answer = perform(fleet.workspace, Request("approve", (fleet.task(name).id,)))
        top.app.requests.take(answer)
        await top.until(lambda: "already in the merge queue" in top.toasts)
        assert "paddock queue" in top.toasts

    fleet.play(script)


def test_an_engine_with_an_interface_is_connected_to_by_a_command_to_copy(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (yard.top / "paddock.toml").open("a") as file:
        file.write('[engines.sh]\ncommand = ["bash", "-c", "{task}"]\ninteractive = ["mytool", "--go-on", "it\'s"]\n')
    for name, value in yard.env.items():
        monkeypatch.setenv(name, value)
    yard.paddock("add", "--engine", "sh", "--title", "One", "echo one > one; git add one; git commit -qm One")
    yard.paddock("add", "--engine", "scripted", "--title", "Two", "Two")
    yard.run("--until-idle")
    fleet = Fleet(yard.top)
    copied: list[str] = []

    async def script(top: Top) -> None:
        monkeypatch.setattr(top.app, "copy_to_clipboard", copied.append)
        await top.go_to("t2")
        assert "c connect" not in top.bar("keys")
        await top.press("c")
        assert "t2 cannot be connected to: scripted has no interface for people" in top.toasts
        await top.go_to("t1")
        assert "c connect" in top.bar("keys")
        await top.press("c")
        await top.until(lambda: isinstance(top.app.screen, ShowLines) and "mytool" in top.text)
        await top.press("y")
        folder = fleet.task("t1").attempts[-1].worktree
        assert copied[0].startswith(f"cd {folder} && ")
        assert copied[0].endswith("mytool --go-on 'it'\"'\"'s'")

    fleet.play(script, size=(160, 40))
