"""A message as it is put into a terminal, and as it is found in a conversation again.

A terminal's program takes some beginnings for commands (`/help`, `!ls`, the word `exit`) and some ends for more than
they are (a backslash continues the line, `@file` opens a list). Neither a blank nor an invisible character in front
helps against that, since they are taken off first; a line in front does. Control characters could end the paste and
type something, so they are shown instead of sent.
"""

import unicodedata

OPENING = "Message:"
EMPTY = "(an empty message)"
_ENDS = ("@", "/", "$", "#", "~", "!")
_INVISIBLE = ("Cc", "Cf", "Zs", "Zl", "Zp", "Cs")


def pasteable(text: str) -> str:
    """`text` so that a terminal's program takes all of it as words to its agent."""
    plain = _without_controls(text.replace("\r\n", "\n").replace("\r", "\n"))
    if not core_of(plain):
        return EMPTY
    body = plain.strip("\n").rstrip(" \t\n")
    opened = f"{OPENING}\n{body}" if _reads_as_command(body) else body
    return f"{opened} " if _continues(opened) else opened


def promptable(text: str) -> str:
    """`text` so that an agent without a terminal takes it as words: a slash at its beginning would be a command, and a
    NUL cannot be passed on to the programs behind it."""
    text = text.replace("\0", "")
    return f"{OPENING}\n{text}" if text.lstrip().startswith("/") else text


def core_of(text: str) -> str:
    """What of a text is sure to be the same wherever it turns up: no blanks, no controls, nothing invisible."""
    normal = unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode("utf-8"))
    if normal.isascii():
        return "".join(part for part in normal.split() if part).translate(_NO_CONTROLS)
    return "".join(char for char in normal if unicodedata.category(char) not in _INVISIBLE and not _is_selector(char))


_NO_CONTROLS = dict.fromkeys((*range(32), 127))


def _without_controls(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    clean = text.encode("utf-8", "replace").decode("utf-8")
    return "".join(
        _shown(char) if unicodedata.category(char) == "Cc" and char not in "\n\t" else char for char in clean
    )


def _shown(control: str) -> str:
    code = ord(control)
    return chr(0x2400 + code) if code < 32 else "\u2421" if code == 127 else "\ufffd"


def _reads_as_command(body: str) -> bool:
    visible = body.lstrip()
    while visible and unicodedata.category(visible[0]) in _INVISIBLE:
        visible = visible[1:].lstrip()
    first = visible[:1]
    is_punctuation = first.isascii() and not first.isalnum()
    return is_punctuation or len(body.split()) == 1 or visible != body


def _continues(body: str) -> bool:
    last = body.rsplit(maxsplit=1)[-1]
    return last.startswith(_ENDS) or last.endswith("\\")


def _is_selector(char: str) -> bool:
    return "\ufe00" <= char <= "\ufe0f"
