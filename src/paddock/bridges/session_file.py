"""The CLI's own file of the conversation, found when it appears and read as it grows."""

import glob
import json
import os
from collections.abc import Iterator
from pathlib import Path

from paddock.core.trace import TraceEntry
from paddock.engines.protocol import MAX_LINE_BYTES, Parser

_CHUNK_BYTES = 1 << 20
_HEAD_BYTES = 1 << 16


class SessionFile:
    """`pattern` is an absolute glob with `{session}`. Where the id is not known, the file is one that is new since this
    was made and speaks of the folder `cwd`. What a resumed conversation held before is passed over."""

    def __init__(self, pattern: str, session: str, cwd: str, parser: Parser | None) -> None:
        self._pattern = pattern.replace("{session}", glob.escape(session.replace("/", "")) if session else "*")
        self._is_known = bool(session) or "{session}" not in pattern
        self._cwd = json.dumps(cwd)[1:-1].encode()
        self._parser = parser
        self._path: Path | None = None
        self._rest = b""
        self._old = {path: os.path.getsize(path) for path in self._matches()}
        self._offset = 0

    @property
    def path(self) -> Path | None:
        return self._path

    def read(self) -> Iterator[TraceEntry]:
        """What is new in it."""
        if self._parser is None or not self._find():
            return
        for line in self._lines():
            yield from self._parser.feed(line)

    def _find(self) -> bool:
        if self._path is None:
            found = [path for path in self._matches() if self._is_known or path not in self._old]
            named = found if self._is_known else [path for path in found if self._cwd in _head(path)]
            if named:
                newest = max(named, key=_changed)
                self._path, self._offset = Path(newest), self._old.get(newest, 0)
        return self._path is not None

    def _lines(self) -> Iterator[bytes]:
        assert self._path is not None
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                while chunk := file.read(_CHUNK_BYTES):
                    self._offset += len(chunk)
                    *whole, self._rest = (self._rest + chunk).split(b"\n")
                    if len(self._rest) > MAX_LINE_BYTES:
                        self._rest = self._rest[:1]  # no line of such length is read; this one is spoilt for good
                    yield from whole
        except OSError:
            return

    def _matches(self) -> list[str]:
        return glob.glob(self._pattern) if self._pattern else []


def _head(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_HEAD_BYTES)
    except OSError:
        return b""


def _changed(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
