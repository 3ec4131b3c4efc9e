"""Why ready tasks have not started, as the daemon last saw it: a small file, because `paddock status` reads it."""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

FILE = "waiting.json"


def write_waiting(state_dir: Path, reasons: Mapping[str, str]) -> None:
    path = state_dir / FILE
    draft = path.with_suffix(".new")
    draft.write_bytes(msgspec.json.encode(reasons))
    os.replace(draft, path)


def read_waiting(state_dir: Path) -> dict[str, str]:
    try:
        return msgspec.json.decode((state_dir / FILE).read_bytes(), type=dict[str, str])
    except (OSError, msgspec.DecodeError):
        return {}
