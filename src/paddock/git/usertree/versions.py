"""Versions of paths (`MODE SHA`, None for nothing there) as git lists them."""

DIFFERENCES = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev")
Change = tuple[str | None, str | None]
_NOTHING = b"0 " + b"0" * 40


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


def index_row(path: bytes, version: str | None) -> bytes:
    """A line for `update-index -z --index-info`; None takes the path out."""
    return (version.encode() if version else _NOTHING) + b"\t" + path + b"\0"
