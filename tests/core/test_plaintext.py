"""What tools print for terminals becomes text for people, logs and agents."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from paddock.core.plaintext import defuse, plain_lines


@pytest.mark.parametrize(
    ("printed", "lines"),
    [
        ("one\ntwo\n", ["one", "two"]),
        ("\x1b[31mFAILED\x1b[0m test_a", ["FAILED test_a"]),
        ("\x1b]0;a title\x07text \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", ["text link"]),
        (" 10%\r 50%\r100% done\r\nnext\r\n", ["100% done", "next"]),
        ("a\tb\x00\x08\x07\x9bc", ["a\tbc"]),
        ("\x1b(Bplain\x1b=", ["plain"]),
        ("naïve 検査 ✓", ["naïve 検査 ✓"]),
        ("\u202eevil\u2066", ["evil"]),
        ("", [""]),
    ],
)
def test_escapes_and_overwritten_text_are_gone(printed: str, lines: list[str]) -> None:
    assert plain_lines(printed) == lines


@given(st.text(alphabet=st.characters(max_codepoint=0x2070)))
def test_no_control_character_is_ever_left(printed: str) -> None:
    left = "".join(plain_lines(printed))
    assert not {c for c in left if c != "\t" and (ord(c) < 0x20 or 0x7F <= ord(c) <= 0x9F)}


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (b"plain\ttext\n", b"plain\ttext\n"),
        (b"\x1b[2Jgone\x07", "\ufffd[2Jgone\ufffd".encode()),
        (b"windows\r\nlines\r\n", b"windows\r\nlines\r\n"),
        (b"hidden\rshown\n", "hidden\ufffdshown\n".encode()),
        (
            "gr\u00f6\u00dfer \U0001f469\u200d\U0001f4bb".encode(),
            "gr\u00f6\u00dfer \U0001f469\u200d\U0001f4bb".encode(),
        ),
        ("\x9b2J".encode(), "\ufffd2J".encode()),
        (b"\x9b2J \xfcber", "\ufffd2J ".encode() + b"\xfcber"),
        ("access \u202e// nimda".encode(), "access \ufffd// nimda".encode()),
    ],
    ids=["plain", "an escape", "CRLF", "a lone return", "letters", "C1", "C1 in bytes", "another direction"],
)
def test_nothing_is_left_that_a_terminal_would_obey_and_all_else_stays(said: bytes, shown: bytes) -> None:
    assert defuse(said) == shown


@given(st.binary(max_size=200))
def test_defused_bytes_are_safe_and_stay_so(data: bytes) -> None:
    shown = defuse(data)
    assert defuse(shown) == shown
    assert not {0x1B, 0x07, 0x08, 0x7F} & set(shown)
    assert shown.count(b"\n") == data.count(b"\n")
