"""What a command printed, as it is apart from what could do harm, in parts of whole lines."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from paddock.core.plaintext import defuse
from paddock.sessions.protocol import Line, OutputReader
from paddock.sessions.regular import open_regular

PART_BYTES = 256 * 1024
LINE_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class RawPart:
    """Long lines are cut. `start` and `end` are offsets in the output as it is, which has `size` bytes by now."""

    text: str
    start: int
    end: int
    size: int


def harmless_line(text: str) -> str:
    """As it was printed: what a terminal would obey becomes `\ufffd`."""
    return defuse(text.encode("utf-8", "replace")).decode("utf-8", "replace")


def read_part(
    reader_at: Callable[[int], OutputReader],
    start: int | None,
    *,
    is_over: bool,
    before: int | None = None,
    clean: Callable[[str], str] = harmless_line,
) -> RawPart:
    """From the offset that another part ended at; without one, the end of the output, or of what is `before` the start
    of another part. Where it `is_over`, the last line needs no end. What was given back to the disk from the middle of
    a long output is passed over."""
    size = reader_at(0).size()
    until = size if before is None else min(before, size)
    begin = max(0, until - PART_BYTES) if start is None else max(0, min(start, size))
    reader = reader_at(begin)
    lines: list[Line] = []
    while (more := reader.read()) or not reader.at_end:
        lines += more
        if reader.offset - begin > PART_BYTES:
            break
    if is_over and reader.at_end:
        lines += reader.finish()
    kept = [line for line in lines if line.offset - begin <= PART_BYTES] or lines[:1]
    end = reader.offset if len(kept) == len(lines) else lines[len(kept)].offset
    if before is not None:
        kept, end = [line for line in kept if line.offset < until], until
    if start is None and begin > 0 and len(kept) > 1:
        kept = kept[1:]  # most likely not from its beginning on
    text = "".join(f"{clean(_cut(line.text))}\n" for line in kept)
    return RawPart(text, kept[0].offset if kept else begin, end, size)


def read_file_end(path: Path) -> RawPart:
    """The end of what a command printed that was no turn; empty if there is no such file."""
    try:
        with open(path, "rb", opener=open_regular) as file:
            size = file.seek(0, os.SEEK_END)
            start = file.seek(max(0, size - PART_BYTES))
            data = file.read(PART_BYTES)
    except FileNotFoundError:
        return RawPart("", 0, 0, 0)
    lines = data.decode("utf-8", "replace").splitlines()
    return RawPart("".join(f"{harmless_line(_cut(line))}\n" for line in lines), start, size, size)


def _cut(text: str) -> str:
    return text if len(text) <= LINE_CHARS else f"{text[: LINE_CHARS - 1]}…"
