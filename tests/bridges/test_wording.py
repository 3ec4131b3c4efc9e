"""Messages as they are put into terminals, and found in conversations again."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from paddock.bridges.pastes import Paste, Pastes
from paddock.bridges.wording import EMPTY, OPENING, core_of, pasteable
from tests.bridges.shapes import SHAPES

texts = st.text(max_size=60) | st.sampled_from(SHAPES[:-1])


@given(texts)
def test_nothing_that_is_pasted_can_end_the_paste_or_be_a_command(text: str) -> None:
    words = pasteable(text)
    assert all(char in "\n\t" or unicodedata.category(char) != "Cc" for char in words)
    first = next(char for char in words if unicodedata.category(char) not in ("Cc", "Cf", "Zs"))
    assert first.isalnum() or not first.isascii() or words == EMPTY
    assert not words.endswith("\\")


@given(texts)
def test_every_visible_character_of_a_message_is_in_what_is_pasted(text: str) -> None:
    printable = "".join(char for char in text if unicodedata.category(char) != "Cc")
    assert core_of(printable) in core_of(pasteable(printable)) or not core_of(printable)


def test_commands_stand_behind_a_line_and_words_stand_alone() -> None:
    assert pasteable("/help") == f"{OPENING}\n/help "
    assert pasteable("exit") == f"{OPENING}\nexit"
    assert pasteable("go on with it") == "go on with it"
    assert pasteable("see @README.md") == "see @README.md "
    assert pasteable("\n\r\n") == EMPTY


@given(st.lists(st.sampled_from(["go on", "go on with it", "stop", "a", "a a"]), min_size=1, max_size=6))
def test_each_message_is_confirmed_once_whatever_the_others_say(words: list[str]) -> None:
    pastes = Pastes(is_exact=True)
    for number, text in enumerate(words):
        pastes.add(Paste.of(text, (number,)))
    confirmed = [one.numbers[0] for text in words for one in pastes.found(pasteable(text))]
    assert sorted(confirmed) == list(range(len(words)))
    assert not pastes.pasted


def test_several_sent_as_one_are_all_confirmed_and_others_are_not() -> None:
    pastes = Pastes(is_exact=True)
    for number, text in enumerate(("first words", "second words", "third words")):
        pastes.add(Paste.of(text, (number,)))
    assert [one.numbers for one in pastes.found("first words\nsecond words")] == [(0,), (1,)]
    assert pastes.found("third words and more of somebody else's") == []
    assert [one.numbers for one in pastes.found("third  words")] == [(2,)]


def test_in_a_file_of_unknown_format_the_words_are_searched() -> None:
    pastes = Pastes(is_exact=False)
    pastes.add(Paste.of("two\nlines of it", (4,)))
    assert pastes.found("user> two") == []
    assert [one.numbers for one in pastes.found("lines of it\n")] == [(4,)]
