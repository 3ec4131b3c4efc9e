"""What has changed between two versions of a live view, so that a page gets that and not the whole again.

A field that is a table (rows by id, each a Struct) differs row by row; any other field is replaced whole. Builders keep
the same object for a row that is as it was, so a thousand rows are compared by identity.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

Live = TypeVar("Live", bound=msgspec.Struct)


class Difference(msgspec.Struct, frozen=True):
    """`set` are the fields with a new value. `rows` are, by table, the rows that are new or have changed; None for one
    that is gone. The order of a table's rows means nothing."""

    set: dict[str, Any]
    rows: dict[str, dict[str, Any]]


def difference(old: Live, new: Live) -> Difference | None:
    """What makes `new` of `old`, both of one kind; None if they are equal."""
    fields: dict[str, Any] = {}
    tables: dict[str, dict[str, Any]] = {}
    for name in new.__struct_fields__:
        before, after = getattr(old, name), getattr(new, name)
        if before is after:
            continue
        if is_table(before) and is_table(after):
            if changed := changed_rows(before, after):
                tables[name] = changed
        elif before != after:
            fields[name] = after
    return Difference(fields, tables) if fields or tables else None


def is_table(value: object) -> bool:
    """Also one without rows: what is in it next decides."""
    return isinstance(value, dict) and all(isinstance(row, msgspec.Struct) for row in _first(value))


def _first(table: Mapping[str, Any]) -> list[Any]:
    """All rows of a table are of one kind."""
    return [next(iter(table.values()))] if table else []


def changed_rows(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    gone = dict.fromkeys(before.keys() - after.keys())
    changed = {key: row for key, row in after.items() if (known := before.get(key)) is not row and known != row}
    return {**gone, **changed}
