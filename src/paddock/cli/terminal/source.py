"""What a command reads that a person names: a file, or standard input as `-`."""

import sys
from pathlib import Path


def read_source(name: str, most_bytes: int) -> bytes:
    """At most one byte more than `most_bytes`, which shows that there is too much. Raises OSError."""
    if name == "-":
        return sys.stdin.buffer.read(most_bytes + 1)
    with Path(name).open("rb") as file:
        return file.read(most_bytes + 1)
