"""What tools print for terminals becomes text for people, logs and agents."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from paddock.core.plaintext import plain_lines


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
