"""What terminals of claude 2.1.325 and codex 0.166.0 showed, and what is read off it."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.bridges.dialogs import OpenDialog
from paddock.bridges.screen import Dialog, PaneScreen, find_dialog
from paddock.engines.letters import ReceivedLetter

SCREENS = Path(__file__).with_name("screens")
RULE = "─" * 60


def shown(*lines: str) -> PaneScreen:
    return PaneScreen.of("\n".join(lines))


@pytest.mark.parametrize(
    ("name", "words", "options", "chosen"),
    [
        ("key", "Do you want to use this API key?", ("Yes", "No (recommended)"), 1),
        ("bypass", "Bypass Permissions mode", ("No, exit", "Yes, I accept"), 0),
        ("trust", "Trust this folder?", ("Trust and continue", "Quit"), 0),
        (
            "permission",
            "Do you want to proceed?",
            (
                "Yes",
                "Yes, and always allow access to /place/wt from this project",
                "Yes, and switch to auto mode · auto mode handles these prompts for you",
                "No",
            ),
            0,
        ),
    ],
)
def test_a_dialog_is_read_with_its_options(name: str, words: str, options: tuple[str, ...], chosen: int) -> None:
    dialog = find_dialog(PaneScreen.of((SCREENS / f"{name}.txt").read_text()))
    assert dialog is not None
    assert words in dialog.text
    assert (dialog.options, dialog.chosen) == (options, chosen)


def test_a_list_that_somebody_typed_is_no_dialog() -> None:
    screen = shown("● I see:", "❯ 1. first", "  2. second", "  Enter to confirm · Esc to cancel", RULE, "❯ ", RULE)
    assert find_dialog(screen) is None
    assert screen.has_prompt


def test_a_question_without_a_list_has_the_keys_it_names() -> None:
    dialog = find_dialog(shown("A new version is out", "Press Enter to continue"))
    assert dialog is not None
    assert dialog.keys == ("Enter", "Escape")
    dialog = find_dialog(shown("Overwrite the file? [y/N]"))
    assert dialog is not None
    assert (dialog.options, dialog.keys) == (("yes", "no"), ("y", "n"))


def test_work_is_no_dialog() -> None:
    screen = shown("✻ Thinking… (3s)", RULE, "❯ ", RULE, "  ⏵⏵ bypass permissions on · esc to interrupt")
    assert screen.is_busy
    assert find_dialog(screen) is None


def test_a_refusal_that_is_retried_is_read_off_the_screen() -> None:
    screen = shown(
        "• Reconnecting... 1/1 (6s • esc to interrupt)", "  └ Exceeded retry limit, last status: 429 Too Many"
    )
    assert screen.trouble is not None
    assert screen.trouble.status == 429


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paddock.bridges.dialogs._KEY_SECONDS", 0.0)


@pytest.mark.usefixtures("at_once")
def test_enter_is_only_pressed_when_the_mark_is_on_the_answer() -> None:
    seen = find_dialog(PaneScreen.of((SCREENS / "key.txt").read_text()))
    assert seen is not None
    dialog = OpenDialog.of(seen)
    assert dialog.next_keys() == ()
    dialog.choose(ReceivedLetter(7, "Yes", request=dialog.request))
    assert (dialog.next_keys(), dialog.answered_by) == (("Up",), None)
    moved = find_dialog(
        shown(RULE, " Do you want to use this API key?", "  ❯ Yes", "    No (recommended)", "Enter to confirm")
    )
    assert moved is not None
    assert dialog.is_same(moved)
    dialog.seen = replace(moved, text=seen.text)
    assert (dialog.next_keys(), dialog.answered_by) == (("Enter",), 7)


def permission(command: str, marked: int = 0, *options: str) -> Dialog:
    return Dialog(f"Do you want to proceed?\n{command}", options or ("Yes", "No"), marked)


@pytest.mark.usefixtures("at_once")
def test_the_answer_to_one_dialog_is_never_given_to_the_next_with_the_same_options() -> None:
    dialog = OpenDialog.of(permission("ls"))
    dialog.choose(ReceivedLetter(7, "Yes"))
    assert dialog.next_keys() == ("Enter",)
    dialog.seen = permission("rm -rf ~")
    assert dialog.next_keys() == ()
    assert not dialog.reads_as_asked(dialog.seen)
    late = OpenDialog.of(permission("ls"))
    late.seen = permission("rm -rf ~")
    late.choose(ReceivedLetter(8, "Yes"))
    assert (late.next_keys(), late.answered_by) == ((), None)


@pytest.mark.usefixtures("at_once")
def test_enter_is_pressed_once_for_an_answer_and_what_asks_the_same_again_is_another_dialog() -> None:
    dialog = OpenDialog.of(permission("ls"))
    dialog.choose(ReceivedLetter(7, "Yes"))
    assert dialog.next_keys() == ("Enter",)
    assert dialog.next_keys() == ()
    assert not dialog.was_in_vain
    assert OpenDialog.of(permission("ls"), 2).request != OpenDialog.of(permission("ls"), 3).request


@pytest.mark.usefixtures("at_once")
def test_a_clock_in_a_dialog_keeps_nobody_from_answering_it() -> None:
    dialog = OpenDialog.of(permission("ls (waited 9s, 00:09)"))
    dialog.seen = permission("ls (waited 12s, 00:12)")
    dialog.choose(ReceivedLetter(7, "Yes"))
    assert dialog.next_keys() == ("Enter",)


@pytest.mark.usefixtures("at_once")
def test_an_answer_from_the_log_is_an_options_name_before_it_is_a_number() -> None:
    dialog = OpenDialog.of(permission("ls", 0, "2", "1"))
    dialog.choose(ReceivedLetter(7, "2"))
    assert dialog.next_keys() == ("Enter",), "the first option, which is named 2"


def test_options_with_one_name_are_told_apart() -> None:
    seen = find_dialog(shown(RULE, " Do you want to proceed?", "  ❯ Yes", "    Yes", "    No", "Enter to confirm"))
    assert seen is not None
    assert seen.options == ("Yes", "Yes (2)", "No")


@given(st.text(alphabet="❯›>1.2) abEnter to confirm·Esc\n─│", max_size=300))
def test_any_screen_can_be_read(text: str) -> None:
    screen = PaneScreen.of(text)
    dialog = find_dialog(screen)
    assert dialog is None or len(dialog.options) >= 2
    assert screen.is_busy in (True, False)
