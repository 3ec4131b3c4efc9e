"""Why ready tasks have not started, as the daemon last saw it: small files, because `paddock status` reads them."""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from paddock.core.admission.breaker import Breaker, how_to_restart, why_stopped

FILE = "waiting.json"
LIMITS_FILE = "limits.json"


class StoppedEngine(msgspec.Struct, frozen=True):
    """A stopped engine that needs a person; `unblock` is the command to run."""

    engine: str
    reason: str
    unblock: str


class _Breakers(msgspec.Struct):
    breakers: dict[str, Breaker] = {}


class _Limits(msgspec.Struct):
    """Only the breakers of what the gate keeps: reading all of it would slow down every `status`."""

    controls: _Breakers


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


def read_stopped(state_dir: Path) -> list[StoppedEngine]:
    """Engines whose breaker is open, as the daemon last saw it."""
    try:
        kept = msgspec.json.decode((state_dir / LIMITS_FILE).read_bytes(), type=_Limits)
    except (OSError, msgspec.DecodeError):
        return []
    reasons = {engine: why_stopped(breaker, engine) for engine, breaker in kept.controls.breakers.items()}
    return [StoppedEngine(engine, reason, how_to_restart(engine)) for engine, reason in reasons.items() if reason]
