"""A copy of what came through a pipe, which is gone afterwards: what was imported can be read again from there."""

import os
import secrets
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

FOLDER = "imports"


def kept_folder(dataset_folder: Path) -> Path:
    return dataset_folder / FOLDER


class KeptInput:
    """Use it in a `with`: without `keep`, nothing of it is left."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / f"input-{secrets.token_hex(8)}.gz"
        self._is_wanted = False
        self._file: BinaryIO | None = None

    def keep(self) -> None:
        self._is_wanted = True

    def copying(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        packer = zlib.compressobj(1, zlib.DEFLATED, 31)
        assert self._file is not None
        for piece in pieces:
            self._file.write(packer.compress(piece))
            yield piece
        self._file.write(packer.flush())
        self._file.flush()
        os.fsync(self._file.fileno())

    def __enter__(self) -> "KeptInput":
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._file = os.fdopen(descriptor, "wb")
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
        if not self._is_wanted:
            self.path.unlink(missing_ok=True)


def remove_unwanted(folder: Path, wanted: Iterable[str]) -> None:
    """Copies that no import rests on any more."""
    names = {Path(path).name for path in wanted}
    if folder.is_dir():
        for file in folder.glob("input-*.gz"):
            if file.name not in names:
                file.unlink(missing_ok=True)
