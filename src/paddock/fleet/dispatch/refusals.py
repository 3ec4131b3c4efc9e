"""Why ready tasks have not started, as the daemon last saw it: small files, because `paddock status` reads them."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from paddock.core.admission.breaker import Breaker, how_to_restart, why_stopped
from paddock.sessions.hints import read_hint, write_hint

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
    write_hint(state_dir / FILE, reasons)


def read_waiting(state_dir: Path) -> dict[str, str]:
    return read_hint(state_dir / FILE, dict[str, str]) or {}


def read_stopped(state_dir: Path) -> list[StoppedEngine]:
    """Engines whose breaker is open, as the daemon last saw it."""
    kept = read_hint(state_dir / LIMITS_FILE, _Limits)
    if kept is None:
        return []
    breakers = kept.controls.breakers
    reasons = {engine: why_stopped(breaker, engine) for engine, breaker in breakers.items()}
    return [
        StoppedEngine(engine, reason, how_to_restart(engine, breakers[engine].cause))
        for engine, reason in reasons.items()
        if reason
    ]
