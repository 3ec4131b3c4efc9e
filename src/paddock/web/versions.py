"""The newest version of a document that pages follow, and the last steps that led to it.

A mark names a version; who has one that is still known gets only what has changed since.
"""

import secrets
from collections import deque
from typing import get_args, get_origin

import msgspec

from paddock.views.difference import difference
from paddock.views.document import to_json_line

KEPT_STEPS = 64


class ViewWhole(msgspec.Struct, frozen=True):
    """`tables` are the fields whose rows change one by one."""

    of: str
    mark: str
    whole: msgspec.Struct
    tables: list[str]


class ViewStep(msgspec.Struct, frozen=True):
    """What has changed: fields with their new value, and rows of tables, null for one that is gone."""

    of: str
    mark: str
    set: dict[str, object]
    rows: dict[str, dict[str, object]]


class Versions:
    def __init__(self, name: str) -> None:
        self.name = name
        self.begin()

    def begin(self) -> None:
        """Again, with another series: no mark of before counts."""
        self._series = secrets.token_hex(4)
        self._number = 0
        self.document: msgspec.Struct | None = None
        self._steps: deque[bytes] = deque(maxlen=KEPT_STEPS)
        self._whole = b""

    @property
    def mark(self) -> str:
        return f"{self._series}.{self._number}" if self.document is not None else ""

    def take(self, document: msgspec.Struct) -> bool:
        """Whether it is another one than before."""
        known, self.document = self.document, document
        if known is None:
            return True
        change = difference(known, document)
        if change is None:
            return False
        self._number += 1
        self._whole = b""
        self._steps.append(_event(ViewStep(self.name, self.mark, change.set, change.rows)))
        return True

    def since(self, mark: str | None) -> list[bytes]:
        """What makes the newest version of the one that has this mark: nothing, steps, or the whole."""
        if mark == self.mark or self.document is None:
            return []
        series, _, number = (mark or "").partition(".")
        known = int(number) if series == self._series and number.isdecimal() and len(number) < 16 else -1
        missing = self._number - known
        if known >= 0 and 0 < missing <= len(self._steps):
            return list(self._steps)[-missing:]
        self._whole = self._whole or _event(
            ViewWhole(self.name, self.mark, self.document, tables_of(type(self.document)))
        )
        return [self._whole]


def tables_of(kind: type[msgspec.Struct]) -> list[str]:
    return [field.name for field in msgspec.structs.fields(kind) if _is_table(field.type)]


def _is_table(kind: object) -> bool:
    of = get_args(kind)
    return get_origin(kind) is dict and isinstance(of[1], type) and issubclass(of[1], msgspec.Struct)


def _event(told: msgspec.Struct) -> bytes:
    return b"event: view\ndata: %s\n\n" % to_json_line(told)
