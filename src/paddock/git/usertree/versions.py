"""Versions of paths (`MODE SHA`, None for nothing there) as git lists them."""

import os
from collections.abc import Mapping

from paddock.git.repo import ABSENT

ENTER_VERSIONS = ("update-index", "-z", "--add", "--replace", "--index-info")
DIFFERENCES = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev")
Change = tuple[str | None, str | None]
_NOTHING = f"0 {ABSENT}"


def parse_differences(records: list[str]) -> dict[str, Change]:
    """Path to its version in the one and in the other commit, from what `DIFFERENCES` prints."""
    pairs = zip(records[::2], records[1::2], strict=True)
    return {path: _parse_row(row) for row, path in pairs}


def _parse_row(row: str) -> Change:
    old_mode, new_mode, old_sha, new_sha = row.lstrip(":").split(" ")[:4]
    return (
        None if not old_mode.strip("0") else f"{old_mode} {old_sha}",
        None if not new_mode.strip("0") else f"{new_mode} {new_sha}",
    )


def index_rows(versions: Mapping[str, str | None]) -> bytes:
    """What `ENTER_VERSIONS` reads; None takes the path out."""
    return b"".join(os.fsencode(f"{version or _NOTHING}\t{path}\0") for path, version in versions.items())
