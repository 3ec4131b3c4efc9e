"""Where an export goes: a file that is there once all of it is written, or standard output."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from paddock.core.errors import PaddockError
from paddock.core.ids import printable


@contextmanager
def export_file(path: Path | None) -> Iterator[BinaryIO]:
    """None is standard output. A file that was there is replaced at the end, and stays where something is raised.

    Raises PaddockError where it cannot be written.
    """
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with draft.open("xb") as file:
            yield file
        draft.replace(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise PaddockError(f"cannot write `{printable(str(path))}`: {reason}", "name another place with -o") from None
    finally:
        draft.unlink(missing_ok=True)
